"""A report says what the runtime allocates, by every way to have images in an arena."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyopencl
import pytest

import clopt
from clopt.backends.pyopencl_runtime import Executable
from clopt.backends.pyopencl_runtime.image_views import ImageViews
from clopt.errors import CloptError

DIGITS = Path(__file__).parents[3] / "examples" / "digits" / "digits.onnx"


@pytest.fixture
def allocated(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Bytes, by OpenCL's own account, of all objects made since that still exist.

    Objects over other objects, or over memory of the host that a buffer uses, do not count.
    """
    made: list[weakref.ref[pyopencl.MemoryObject]] = []

    def watch(name: str) -> None:
        make = getattr(pyopencl, name)

        class Watched(make):
            def __init__(self, *args, **kwargs) -> None:
                super().__init__(*args, **kwargs)
                made.append(weakref.ref(self))

        monkeypatch.setattr(pyopencl, name, Watched)

    def count() -> int:
        objects = [found for found in (ref() for ref in made) if found is not None]
        return sum(
            found.size
            for found in objects
            if found.associated_memobject is None
            and not (isinstance(found, pyopencl.Image) and found.flags & HOST)
        )

    watch("Buffer")
    watch("Image")
    return count


HOST = pyopencl.mem_flags.USE_HOST_PTR


@pytest.mark.parametrize("way", list(ImageViews))
def test_total_is_what_is_allocated(
    way: ImageViews, device: str, allocated: Callable[[], int]
) -> None:
    model = clopt.compile(DIGITS, "adreno-740 texture=prefer", {"batch": 1})
    report = model.memory
    assert any(row.kind == "image" for row in report.rows)
    try:
        executable = Executable(model.module, model.weights, device, image_views=way)
    except CloptError:
        pytest.skip(f"{device} has no images {way.value}")
    executable.run([np.zeros((1, 1, 8, 8), np.float32)])
    told = report.total
    if way is ImageViews.Object:
        told += report.without_views - report.arena_bytes - report.separate_bytes
    assert executable.device_bytes == told - report.inputs - report.outputs
    # OpenCL has no empty buffers: an arena that all images left still has one texel.
    assert allocated() - told in {0, 16 if way is ImageViews.Object else 0}
