"""Lets the tests of this folder import those of C packages, and has the runtime compiled once."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "backends" / "host_c"))
sys.path.insert(0, str(Path(__file__).parents[1] / "backends" / "clml"))
sys.path.insert(0, str(Path(__file__).parents[1] / "clml"))
sys.path.insert(0, str(Path(__file__).parents[1] / "runtime"))
sys.path.insert(0, str(Path(__file__).parent))

from c_compilers import CLML, compilers, objects
from c_compilers import runtime as runtime


@pytest.fixture(scope="session")
def clml_runtime(runtime: list[Path], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The same, for models with operations of CLML."""
    (compiler, *_) = compilers()
    made = objects(compiler, sorted(CLML.glob("*.c")), tmp_path_factory.mktemp("clml"))
    return [*runtime, *made]
