"""torch is imported by the first test that needs it, not by the tests of other folders."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from types import ModuleType

import pytest

# torch sets this variable when it first compiles; a test must leave the environment unchanged.
os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(Path(tempfile.gettempdir()) / "clopt-torch"))


@pytest.fixture(scope="session")
def torch() -> ModuleType:
    """Return the package torch with a fixed seed."""
    module = pytest.importorskip("torch", reason="needs PyTorch: install clopt[torch]")
    module.manual_seed(0)
    return module
