"""Stages that work ahead compute what they did, for any tiles, chunks and numbers of copies."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from clopt.dialects.tir import BarrierOp, ForOp, FuncOp, LoopKind, enclosing_loops
from clopt.passes.tir.lower_blocks import lower_blocks
from clopt.passes.tir.schedule import Schedule
from clopt.passes.tir.schedule.steps import apply_step
from support import effort
from support.tir import interpreter, kernels


def product(shape: tuple[int, int, int], tile: tuple[int, int, int], copies: int) -> FuncOp:
    """A product in tiles of 4 x 2 work-items, whose panels are prefetched."""
    func = kernels.parse(kernels.matmul(*shape))
    rows, cols, depth = tile
    schedule = Schedule(func)
    steps = [
        f"split_overlap out.i {4 * rows} -> io ii",
        f"split_overlap out.j {2 * cols} -> jo ji",
        "reorder out.io out.jo out.ii out.ji",
        "compute_at mm out.jo -> i j k",
        f"split mm.k {depth} -> ko ki",
        f"split mm.i {rows} -> it i",
        f"split mm.j {cols} -> jt j",
        "reorder mm.ko mm.it mm.jt mm.ki mm.i mm.j",
        f"split out.ii {rows} -> it i",
        f"split out.ji {cols} -> jt j",
        "reorder out.it out.jt out.i out.j",
        "bind out.io group_y",
        "bind out.jo group_x",
        *(
            f"bind {block}.{loop}"
            for block in ("mm", "out")
            for loop in ("it local_y", "jt local_x")
        ),
        "set_scope t private",
        "cache_gather mm a local d2 d0 -> a",
        "cache_gather mm b local d2 d1 -> b",
    ]
    for label in ("a", "b"):
        steps += [
            f"compute_at {label} mm.ko -> k x",
            f"fuse {label}.k {label}.x -> c",
            f"split {label}.c 4 2 -> c it jt",
            f"reorder {label}.it {label}.jt {label}.c",
            f"bind {label}.it local_y",
            f"bind {label}.jt local_x",
            f"unroll {label}.c",
            f"prefetch {label}.ko {copies}",
        ]
    for step in steps:
        apply_step(schedule, step)
        schedule.func.verify()
    assert schedule.steps[-1] == f"prefetch b.ko {copies}"
    schedule.commit()
    return func


def same(func: FuncOp, expected: list[np.ndarray]) -> None:
    func.verify()
    for ours, theirs in zip(interpreter.results(func), expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@settings(max_examples=effort.examples(12))
@given(
    shape=st.tuples(st.integers(8, 20), st.integers(4, 20), st.integers(3, 17)),
    tile=st.sampled_from([(1, 1, 4), (2, 1, 4), (1, 2, 2), (2, 2, 2), (2, 2, 6)]),
    copies=st.integers(1, 4),
)
def test_product(shape: tuple[int, int, int], tile: tuple[int, int, int], copies: int) -> None:
    assume(-(-shape[2] // tile[2]) > max(1, copies - 1))
    expected = interpreter.results(kernels.parse(kernels.matmul(*shape)))
    func = product(shape, tile, copies)
    same(func, expected)
    lower_blocks(func)
    same(func, expected)


def test_one_barrier_for_each_step() -> None:
    """With two copies a group waits once: a chunk is written while another one is read."""
    func = product((16, 16, 32), (2, 2, 4), 2)
    lower_blocks(func)
    steps = [op for op in func.walk() if isinstance(op, ForOp) and op.var.name_hint == "ko"]
    assert [loop.size for loop in steps] == [7]
    assert steps[0].kind.data is LoopKind.Serial
    barriers = [op for op in func.walk() if isinstance(op, BarrierOp)]
    assert sum(steps[0] in enclosing_loops(barrier) for barrier in barriers) == 1
