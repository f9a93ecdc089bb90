"""Copies between arrays and the beginnings of larger ones, against numpy."""

from __future__ import annotations

from math import prod

import numpy as np
import pyopencl as cl
import pytest

from clopt.backends.pyopencl_runtime import find_device
from clopt.backends.pyopencl_runtime.boxes import LeadingBox

SHAPES = [
    ((), (), 1),
    ((3, 4), (3, 4), 1),
    ((3, 4), (8, 4), 1),
    ((1, 3, 4), (2, 8, 4), 1),
    ((3, 2), (3, 5), 1),
    ((3, 2, 4), (4, 3, 4), 1),
    ((2, 3, 5, 2), (4, 3, 8, 2), 1),
    ((2, 3, 2, 2), (3, 4, 3, 4), 2),
    ((3, 1, 2), (5, 4, 8), 1),
    ((2, 3, 2, 2, 3), (3, 4, 3, 4, 4), 6),
    ((0, 3), (2, 3), 0),
    ((2, 0), (2, 4), 0),
]
"""Shapes of the smaller and of the larger array, and the number of copies."""


@pytest.mark.by_default(cases=3)
@pytest.mark.parametrize(("small", "large", "copies"), SHAPES)
@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.int64])
def test_transfers(
    small: tuple[int, ...], large: tuple[int, ...], copies: int, dtype: type, device: str
):
    context = cl.Context([find_device(device).handle])
    queue = cl.CommandQueue(context)
    box = LeadingBox(small, large, np.dtype(dtype).itemsize)
    before = np.arange(prod(large)).reshape(large).astype(dtype)
    given = (100 + np.arange(prod(small))).reshape(small).astype(dtype)
    buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, max(before.nbytes, 16))
    cl.enqueue_copy(queue, buffer, before)
    events = box.upload(queue, buffer, given)
    whole, back = np.empty_like(before), np.empty_like(given)
    cl.enqueue_copy(queue, whole, buffer)
    queue.finish()
    wanted = before.copy()
    wanted[tuple(map(slice, small))] = given
    np.testing.assert_array_equal(whole, wanted)
    events += box.download(queue, back, buffer)
    queue.finish()
    np.testing.assert_array_equal(back, given)
    assert len(events) == 2 * copies
    compact, copy = (cl.Buffer(context, 0, each.size) for each in (buffer, buffer))
    cl.enqueue_copy(queue, copy, before)
    box.extract(queue, compact, buffer)
    box.fill(queue, copy, compact)
    cl.enqueue_copy(queue, whole, copy)
    queue.finish()
    np.testing.assert_array_equal(whole, wanted)
