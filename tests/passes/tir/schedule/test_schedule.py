"""A kernel computes the same after the schedules that rules are made of, in any sizes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from xdsl.dialects import memref

from clopt.dialects.tir import FuncOp
from clopt.passes.tir import schedule as tir
from clopt.passes.tir.lower_blocks import lower_blocks
from clopt.passes.tir.schedule.steps import apply_step
from support import effort
from support.tir import interpreter, kernels


def same(func: FuncOp, expected: list[np.ndarray]) -> None:
    func.verify()
    for ours, theirs in zip(interpreter.results(func), expected, strict=True):
        np.testing.assert_array_equal(ours, theirs, err_msg=str(func))


def steps(func: FuncOp, *texts: str) -> None:
    schedule = tir.Schedule(func)
    for text in texts:
        apply_step(schedule, text)
    schedule.commit()


TILE = st.integers(1, 4)


@settings(max_examples=effort.examples(8, long=400))
@given(
    shape=st.tuples(st.integers(1, 20), st.integers(1, 20), st.integers(1, 9)),
    tile=st.tuples(TILE, TILE, TILE, TILE, TILE),
)
def test_matmul_in_local_memory(
    shape: tuple[int, int, int], tile: tuple[int, int, int, int, int]
) -> None:
    """Tiles of any size on any extent, copied by all work-items of the group together."""
    ty, tx, ii, jj, kk = tile
    func = kernels.parse(kernels.matmul(*shape))
    expected = interpreter.results(func)
    steps(
        func,
        "cache_read mm a local -> al",
        "cache_read mm b local -> bl",
        f"split out.i {ty} {ii} -> by ty ii",
        f"split out.j {tx} {jj} -> bx tx jj",
        "reorder out.by out.bx out.ty out.tx out.ii out.jj",
        "bind out.by group_y",
        "bind out.bx group_x",
        "bind out.ty local_y",
        "bind out.tx local_x",
        "compute_at mm out.bx",
        f"split mm.i {ii} -> ty ii",
        f"split mm.j {jj} -> tx jj",
        f"split mm.k {kk}",
        "reorder mm.ko mm.ty mm.tx mm.ki mm.ii mm.jj",
        "bind mm.ty local_y",
        "bind mm.tx local_x",
        "unroll mm.ii",
        "unroll mm.jj",
        "set_scope t private",
    )
    for copy in ("al", "bl"):
        steps(
            func,
            f"compute_at {copy} mm.ko",
            f"fuse {copy}.ax0 {copy}.ax1 -> f",
            f"split {copy}.f {ty} {tx} -> f y x",
            f"bind {copy}.y local_y",
            f"bind {copy}.x local_x",
        )
    same(func, expected)
    lower_blocks(func)
    same(func, expected)
    assert sum(isinstance(op, memref.AllocaOp) for op in func.walk()) <= 4


@settings(max_examples=effort.examples(8, long=400))
@given(
    c=st.integers(1, 3),
    o=st.integers(1, 11),
    size=st.integers(2, 12),
    lanes=st.sampled_from([2, 3, 4, 8]),
    rows=st.integers(1, 5),
)
@pytest.mark.by_default(cases=1)
def test_register_tile(c: int, o: int, size: int, lanes: int, rows: int) -> None:
    """A tile of accumulators; full tiles keep their vectors, and no code is written too often."""
    assume(lanes <= o)
    func = kernels.parse(kernels.conv_pool(c, o, size, 1))
    expected = interpreter.results(func)
    steps(
        func,
        f"split out.o {lanes} -> oo ov",
        f"split out.i {rows} -> io ii",
        "reorder out.oo out.io out.ii out.ov",
        "bind out.oo global_x",
        "compute_at pool out.io",
        "compute_at conv out.io",
        "reorder conv.c conv.k conv.i conv.o",
        "reorder pool.k pool.i pool.o",
        *(f"vectorize {loop}" for loop in ("out.ov", "conv.o", "pool.o")),
        *(f"unroll {loop}" for loop in ("out.ii", "conv.i", "pool.i")),
        "set_scope t private",
        "set_scope u private",
    )
    same(func, expected)
    lower_blocks(func)
    same(func, expected)
    stores = [op for op in func.walk() if isinstance(op, memref.StoreOp)]
    assert len([op for op in stores if op.memref in func.params]) <= 4


@settings(max_examples=effort.examples(15, long=300))
@given(
    rows=st.integers(1, 4),
    columns=st.integers(1, 40),
    lanes=st.sampled_from([2, 4, 8]),
    group=st.booleans(),
)
def test_partial_sums(rows: int, columns: int, lanes: int, group: bool) -> None:
    """Partial results per lane of a vector, or per work-item of a group."""
    func = kernels.parse(kernels.total(rows, columns))
    expected = interpreter.results(func)
    steps(
        func,
        f"split sum.k {lanes}",
        "rfactor sum.ki",
        "cache_write sum private -> out",
        "bind out.i group_x",
        "compute_at sum out.i",
        "compute_at sum_rf out.i",
        "reorder sum_rf.ko sum_rf.ki",
        *(("bind sum_rf.ki local_x",) if group else ("vectorize sum_rf.ki",)),
        f"set_scope y_rf {'local' if group else 'private'}",
    )
    same(func, expected)
    lower_blocks(func)
    same(func, expected)
