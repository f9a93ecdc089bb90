"""Traffic from footprints of loops, beside a simulated cache."""

from __future__ import annotations

from collections import OrderedDict
from itertools import product
from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clopt.passes.estimate.reuse import footprint, traffic
from clopt.passes.estimate.work import BufferStream, LoopLevel, StreamAxis
from support import effort

LINE = 64
BYTES = 4


def stream(buffer: int, sizes: list[int], steps: list[int]) -> BufferStream:
    """Return a stream whose loops have these sizes and move its address by these steps."""
    axes = tuple(
        StreamAxis(size, step, LoopLevel.INNER) for size, step in zip(sizes, steps, strict=True)
    )
    elements = 1 + sum((size - 1) * step for size, step in zip(sizes, steps, strict=True))
    return BufferStream(buffer, elements * BYTES, BYTES, axes, tuple(range(len(axes))), False)


def fetched(streams: list[BufferStream], capacity: int) -> int:
    """Return the bytes that a fully associative cache with LRU replacement fetches."""
    cache: OrderedDict[tuple[int, int], None] = OrderedDict()
    misses = 0
    for at in product(*(range(axis.size) for axis in streams[0].axes)):
        for each in streams:
            steps = [axis.step or 0 for axis in each.axes]
            address = sum(i * step for i, step in zip(at, steps, strict=True)) * BYTES
            line = (each.buffer, address // LINE)
            if line in cache:
                cache.move_to_end(line)
                continue
            misses += 1
            cache[line] = None
            if len(cache) > capacity // LINE:
                cache.popitem(last=False)
    return misses * LINE


def product_streams(m: int, n: int, k: int) -> list[BufferStream]:
    """Return the reads of both matrices of a product, rows outermost and the sum innermost."""
    return [stream(0, [m, n, k], [k, 0, 1]), stream(1, [m, n, k], [0, 1, n])]


@pytest.mark.parametrize("capacity", [1024, 4096, 16384, 1 << 20])
@pytest.mark.parametrize("shape", [(16, 32, 64), (32, 32, 32), (8, 64, 48)])
def test_a_product_fetches_as_much_as_a_simulated_cache(shape, capacity):
    streams = product_streams(*shape)
    simulated = fetched(streams, capacity)
    assert 0.5 * simulated <= traffic(streams, capacity, LINE) <= 2 * simulated


def test_a_matrix_that_does_not_fit_is_fetched_for_each_row():
    m, n, k = 16, 64, 64
    streams = product_streams(m, n, k)
    column_lines = k * LINE  # a column touches a line in each row
    small = traffic(streams, column_lines // 2, LINE)
    large = traffic(streams, 1 << 20, LINE)
    assert large == (m * k + k * n) * BYTES
    assert small >= m * k * n * LINE // (LINE // BYTES)


@st.composite
def nests(draw: st.DrawFn) -> tuple[list[BufferStream], int]:
    """Draw two buffers that three loops walk densely in some order, and the bytes of a cache."""
    sizes = draw(st.lists(st.integers(2, 12), min_size=3, max_size=3))
    streams: list[BufferStream] = []
    for buffer in range(2):
        order = draw(st.permutations(range(3)))
        steps, step = [0, 0, 0], 1
        for axis in order[: draw(st.integers(1, 3))]:
            steps[axis] = step
            step *= sizes[axis]
        streams.append(stream(buffer, sizes, steps))
    return streams, draw(st.sampled_from([512, 1024, 4096]))


@settings(max_examples=effort.examples(60))
@given(nests())
def test_any_dense_nest_fetches_about_as_much_as_a_simulated_cache(nest):
    streams, capacity = nest
    simulated = fetched(streams, capacity)
    assert simulated / 4 <= traffic(streams, capacity, LINE) <= 6 * simulated


@settings(max_examples=effort.examples(60))
@given(nests())
def test_a_footprint_is_at_least_the_lines_that_are_touched(nest):
    for each in nest[0]:
        steps = [axis.step or 0 for axis in each.axes]
        touched = {
            sum(i * step for i, step in zip(at, steps, strict=True)) * BYTES // LINE
            for at in product(*(range(axis.size) for axis in each.axes))
        }
        assert len(touched) * LINE <= footprint(each, each.axes, LINE) + LINE
        assert footprint(each, each.axes, LINE) <= prod(a.size for a in each.axes) * LINE
