"""Compiles C packages and runs the programs."""

from __future__ import annotations

import os
import platform
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import clopt.backends.clml
import clopt.backends.host_c
from clopt.backends.pyopencl_runtime import find_device
from support import processes

RUNTIME = Path(clopt.backends.host_c.__file__).parent / "runtime"
CLML = Path(clopt.backends.clml.__file__).parent / "runtime"
CLML_HEADERS = CLML.parent / "reference" / "include"
INCLUDE = [f"-I{folder}" for folder in (RUNTIME, CLML, CLML_HEADERS)]
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wshadow", "-O1"]


def compilers() -> list[str]:
    """The C compilers of this machine."""
    found = [name for name in ("gcc", "clang") if shutil.which(name)]
    if not found:
        pytest.skip("there is no C compiler: install gcc or clang")
    return found


def objects(compiler: str, sources: Sequence[Path], folder: Path, *include: Path) -> list[Path]:
    """The object of each source, compiled without a warning."""
    made: list[Path] = []
    for source in sources:
        made.append(folder / f"{source.stem}.o")
        folders = [*INCLUDE, *(f"-I{path}" for path in (source.parent, *include))]
        command = [compiler, *STRICT, *folders, "-c", str(source), "-o", str(made[-1])]
        done = processes.run(command, capture_output=True, text=True)
        assert not done.returncode, done.stderr
        assert not done.stderr
    return made


@pytest.fixture(scope="session")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The objects of the runtime, which are the same for every model."""
    (compiler, *_) = compilers()
    return objects(compiler, sorted(RUNTIME.glob("*.c")), tmp_path_factory.mktemp("runtime"))


def link(folder: Path, runtime: Sequence[Path], main: Path | None = None) -> Path:
    """The program of the package in `folder`: its own example, or with the function `main`."""
    (compiler, *_) = compilers()
    sources = [path for path in sorted(folder.glob("*.c")) if path.name != "main.c"]
    made = objects(compiler, sources, folder)
    if main is None:
        main = folder / "main.c"
    made += objects(compiler, [main], folder, folder)
    return link_objects([*made, *runtime], folder / main.stem)


def link_objects(files: Sequence[Path], program: Path, *libraries: Path) -> Path:
    """The program of some objects; the functions of `libraries` are found by name."""
    found = [f"-Wl,-rpath,{path.parent}" for path in libraries]
    words = [compilers()[0], *files, "-Wl,--no-as-needed", *libraries, *found, "-lOpenCL", "-ldl"]
    done = processes.run([*words, "-o", program], capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return program


def run(program: Path, *words: str | Path) -> str:
    """The output of a program that succeeds; OpenCL's loader finds the runtimes of clopt."""
    done = processes.run([program, *words], capture_output=True, text=True)
    assert not done.returncode, done.stdout + done.stderr
    return done.stdout


def for_valgrind(folder: Path) -> dict[str, str]:
    """Variables with which PoCL compiles for a processor that valgrind has, and keeps it.

    A run with them fills PoCL's cache in `folder`. Then valgrind, which is 60 times as slow, does
    not watch PoCL's compiler, only the program and its kernels. The loader finds no other runtime:
    to load Intel's takes valgrind longer than all else.
    """
    vendors = folder / "vendors"
    vendors.mkdir()
    for path in Path(os.environ.get("OCL_ICD_VENDORS", "/etc/OpenCL/vendors")).glob("*pocl*.icd"):
        shutil.copy(path, vendors)
    variables = {"POCL_CACHE_DIR": str(folder / "pocl"), "OCL_ICD_VENDORS": str(vendors)}
    if platform.machine() == "x86_64":
        variables |= {"POCL_LLVM_CPU_NAME": "x86-64", "POCL_KERNELLIB_NAME": "sse2"}
    return variables


def faults(log: Path, ours: str) -> list[str]:
    """The faults in valgrind's log of code whose frames match `ours`, and of kernels on PoCL.

    Such a frame is at the top, or right below a function of glibc: the faults of drivers, of the
    loader and of glibc itself are not ours.
    """
    blocks = re.split(r"\n==\d+== \n", log.read_text())
    assert "ERROR SUMMARY" in blocks[-1]
    frame = re.compile(rf"_pocl_kernel_|{ours}")
    return [block for block in blocks if any(map(frame.search, block.splitlines()[1:4]))]


def infer(
    folder: Path,
    program: Path,
    device: str,
    model: clopt.CompiledModel,
    arrays: Sequence[object],
    *options: str,
) -> tuple[list[np.ndarray], str]:
    """The outputs of a package's example on the device, and what it printed."""
    inputs: list[Path] = []
    for i, array in enumerate(arrays):
        inputs.append(folder / f"input{i}.bin")
        inputs[-1].write_bytes(np.asarray(array, order="C").tobytes())
    weights = ["--weights", folder / "weights.bin", "--output", folder / "output"]
    name = find_device(device).platform
    printed = run(program, "--device", name, "--repeat", "2", *options, *weights, *inputs)
    outputs = [
        np.fromfile(folder / f"output{i}.bin", info.dtype).reshape(info.shape)
        for i, info in enumerate(model.outputs)
    ]
    return outputs, printed
