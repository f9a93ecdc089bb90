"""The reference library, compiled once for all tests of it."""

import os
from pathlib import Path

import pytest

from support import processes
from support.c.compilers import STRICT, compilers
from support.clml.reference.sources import INCLUDE, REFERENCE


@pytest.fixture(scope="session")
def reference_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """libclml_reference.so, compiled without a warning."""
    (compiler, *_) = compilers()
    library = tmp_path_factory.mktemp("reference") / "libclml_reference.so"
    sources = sorted(REFERENCE.glob("*.c"))
    flags = [*STRICT, "-g", "-fPIC", "-shared", INCLUDE, f"-I{REFERENCE}"]
    command = [compiler, *flags, *sources, "-o", library, "-lOpenCL", "-pthread"]
    done = processes.run(command, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return library


@pytest.fixture(scope="session")
def core_program(reference_library: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program built from core_main.c and the files of each subject."""
    (compiler, *_) = compilers()
    program = tmp_path_factory.mktemp("core") / "core"
    sources = sorted(Path(__file__).parent.glob("core_*.c"))
    where = [f"-L{reference_library.parent}", f"-Wl,-rpath,{reference_library.parent}"]
    libraries = ["-lclml_reference", "-lOpenCL", "-pthread"]
    command = [compiler, *STRICT, "-g", INCLUDE, *sources, "-o", program, *where, *libraries]
    done = processes.run(command, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return program


@pytest.fixture(autouse=True)
def no_knobs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The caller's environment must not change how the reference behaves."""
    for name in list(os.environ):
        if name.startswith("CLML_REFERENCE_"):
            monkeypatch.delenv(name)
