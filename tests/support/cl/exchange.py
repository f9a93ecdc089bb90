"""Programs, arrays and counted copies for tests of what `run` exchanges with its caller."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyopencl as cl
import pytest

from clopt.backends.pyopencl_runtime import Executable, find_device
from clopt.weights import Weights
from support.cl.programs import parse, twice

LARGE = 1 << 17
"""Floats of an array that CPUs use in place."""
SMALL = 1 << 10


def program(count: int, device: str = "", queue: cl.CommandQueue | None = None) -> Executable:
    """The program y = 2 * x, z = 2 * y of arrays with `count` floats."""
    text = f"""{twice(count)}
cl.program @main(%x: memref<{count}xf32> {{cl.name = "x"}},
                 %y: memref<{count}xf32> {{cl.name = "y"}},
                 %z: memref<{count}xf32> {{cl.name = "z"}}) inputs 1 {{
  cl.enqueue_kernel @twice(%x, %y) : memref<{count}xf32>, memref<{count}xf32>
  cl.enqueue_kernel @twice(%y, %z) : memref<{count}xf32>, memref<{count}xf32>
  cl.return
}}"""
    place = find_device(device) if device else None
    return Executable(parse(text), Weights(), place, queue=queue, use_cache=False)


def aligned(count: int, shift: int = 0) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Zeros that start `shift` bytes after a multiple of 4096."""
    raw = np.zeros(4 * count + 8192, np.uint8)
    start = -raw.ctypes.data % 4096 + shift
    return raw[start : start + 4 * count].view(np.float32)


def counted_copies(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The bytes of each copy between the host and the device from now on."""
    made: list[int] = []
    copy = cl.enqueue_copy

    def counted(queue: Any, target: Any, source: Any, **options: Any) -> Any:
        made.extend(each.nbytes for each in (target, source) if isinstance(each, np.ndarray))
        return copy(queue, target, source, **options)

    monkeypatch.setattr(cl, "enqueue_copy", counted)
    return made
