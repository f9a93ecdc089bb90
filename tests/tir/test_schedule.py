"""Whatever a schedule does that the primitives allow, the kernel computes the same."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st
from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType

from clopt.dialects.tir import BlockOp, ForOp, FuncOp, LoopKind, Scope, ScopeAttr, enclosing_loops
from clopt.passes.tir import schedule as tir
from clopt.passes.tir.lower_blocks import lower_blocks
from clopt.passes.tir.schedule.errors import ScheduleError

from . import interpreter, kernels

KERNELS = st.one_of(
    st.builds(kernels.matmul, st.integers(1, 9), st.integers(1, 9), st.integers(1, 5)),
    st.builds(
        kernels.conv_pool,
        st.integers(1, 2),
        st.integers(1, 5),
        st.integers(2, 9),
        st.integers(1, 3),
    ),
    st.builds(kernels.normalise, st.integers(1, 5), st.integers(1, 9)),
    st.builds(kernels.total, st.integers(1, 5), st.integers(1, 12)),
    st.builds(kernels.transpose, st.integers(1, 5), st.integers(1, 5)),
)


def results(func: FuncOp) -> list[np.ndarray]:
    """All arguments after a run on small integers, whose sums are exact."""
    random = np.random.default_rng(1)
    arrays: list[np.ndarray] = []
    for param in func.params:
        assert isinstance(param.type, MemRefType)
        arrays.append(random.integers(-4, 5, param.type.get_shape()).astype(np.float32))
    interpreter.run(func, arrays)
    return arrays


def same(func: FuncOp, expected: list[np.ndarray]) -> None:
    func.verify()
    for ours, theirs in zip(results(func), expected, strict=True):
        np.testing.assert_array_equal(ours, theirs, err_msg=str(func))


def blocks_of(func: FuncOp) -> list[BlockOp]:
    return [op for op in func.walk() if isinstance(op, BlockOp)]


def random_step(func: FuncOp, data: st.DataObject) -> None:
    """One primitive with arguments at random."""
    block = data.draw(st.sampled_from(blocks_of(func)))
    loops = enclosing_loops(block)
    bound = [kind for kind in LoopKind if kind.is_bound and kind.axis < 2]
    name = data.draw(st.sampled_from(STEPS))
    if name == "cache_read":
        buffers = [load.memref for load in block.loads()]
        if buffers:
            tir.cache_read(block, data.draw(st.sampled_from(buffers)), data.draw(SCOPES))
        return
    if name == "cache_write":
        tir.cache_write(block, data.draw(SCOPES))
        return
    if name == "compute_at":
        everything = [op for op in func.walk() if isinstance(op, ForOp)]
        if everything:
            tir.compute_at(block, data.draw(st.sampled_from(everything)))
        return
    if not loops:
        return
    loop = data.draw(st.sampled_from(loops))
    match name:
        case "split":
            tir.split(loop, data.draw(st.integers(1, 5)))
        case "reorder":
            tir.reorder(*data.draw(st.permutations(loops))[: data.draw(st.integers(2, 4))])
        case "fuse":
            inner = [op for op in loop.body.block.ops if isinstance(op, ForOp)]
            if inner:
                tir.fuse(loop, inner[0])
        case "bind":
            tir.bind(loop, data.draw(st.sampled_from(bound)))
        case "rfactor":
            tir.rfactor(loop)
        case "vectorize":
            tir.vectorize(loop)
        case "unroll":
            tir.unroll(loop)
        case _:
            tir.parallel(loop)


SCOPES = st.sampled_from([Scope.Private, Scope.Private, Scope.Local])
STEPS = [
    *("split", "split", "split", "reorder", "fuse", "bind", "bind", "compute_at", "compute_at"),
    *("compute_at", "rfactor", "cache_read", "cache_write", "vectorize", "unroll", "parallel"),
]


@settings(deadline=None, max_examples=100)
@given(text=KERNELS, data=st.data())
def test_random_schedules(text: str, data: st.DataObject) -> None:
    func = kernels.parse(text)
    expected = results(func)
    for _ in range(data.draw(st.integers(1, 12))):
        try:
            random_step(func, data)
        except ScheduleError:
            event("refused")
    same(func, expected)
    for alloca in [op for op in func.walk() if isinstance(op, memref.AllocaOp)]:
        if not isinstance(alloca.memref.type.memory_space, ScopeAttr):
            tir.set_scope(alloca, data.draw(SCOPES))
    try:
        lower_blocks(func)
    except ScheduleError:
        assume(False)
    same(func, expected)
