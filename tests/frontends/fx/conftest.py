"""torchvision, for the networks that tests compile from torch."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

# torch sets this variable when it first compiles; a test must leave the environment unchanged.
os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(Path(tempfile.gettempdir()) / "clopt-torch"))


@pytest.fixture(scope="session")
def torchvision(torch: ModuleType) -> Iterator[ModuleType]:
    """Return the package torchvision, also beside a torch of another build than its own.

    Its compiled operators do not load then, and its modules only ask for their names.
    """
    found = find_spec("torchvision")
    if found is None or found.origin is None:
        pytest.skip("needs torchvision")
    library = torch.library.Library("torchvision", "FRAGMENT")
    try:
        torch.ops.load_library(Path(found.origin).with_name("_C.so"))
    except (OSError, RuntimeError):
        for name in ("nms", "qnms"):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    import torchvision

    yield torchvision
    del library  # whose end takes the definitions back
