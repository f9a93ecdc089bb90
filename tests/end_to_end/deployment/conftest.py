"""The C runtime, compiled once, with CLML and without."""

from pathlib import Path

import pytest

from support.c.compilers import CLML, compilers, objects
from support.c.compilers import runtime as runtime


@pytest.fixture(scope="session")
def clml_runtime(runtime: list[Path], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The same, for models with operations of CLML."""
    (compiler, *_) = compilers()
    made = objects(compiler, sorted(CLML.glob("*.c")), tmp_path_factory.mktemp("clml"))
    return [*runtime, *made]
