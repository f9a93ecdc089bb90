"""Lets the tests of this folder import its modules, those of `networks` and of `runtime`."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "runtime"))
sys.path.insert(0, str(Path(__file__).parents[2] / "networks"))
sys.path.insert(0, str(Path(__file__).parent))

from c_compilers import RUNTIME, compilers, objects


@pytest.fixture(scope="session")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The objects of the runtime, which are the same for every model."""
    (compiler, *_) = compilers()
    return objects(compiler, sorted(RUNTIME.glob("*.c")), tmp_path_factory.mktemp("runtime"))
