"""The reads that a lowering tells: indices by those of the result, times, guards."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import TensorType, f32, i64
from xdsl.ir import Operation, SSAValue
from xdsl.utils.test_value import create_ssa_value

from clopt.dialects import nn
from clopt.passes.nn.lowering.reads import reads_of
from clopt.passes.nn.lowering.tails import links_of


def tensor(*shape: int) -> SSAValue:
    return create_ssa_value(TensorType(f32, shape))


def shown(op: Operation) -> list[tuple[int, str, int, bool]]:
    """Operand, index, times and guard of each read."""
    return [
        (read.operand, ", ".join(map(str, read.index)), read.times, read.guarded)
        for read in reads_of(op)
    ]


def links(op: Operation) -> set[tuple[int, int, int]]:
    number = {value: i for i, value in enumerate(op.operands)}
    return {(number[value], axis, at) for value, axis, at in links_of(op)}


def test_conv() -> None:
    """Values after the axes of the result are the loops over channels and taps."""
    op = nn.ConvOp(tensor(1, 6, 8, 9), tensor(4, 6, 3, 3), tensor(4), pads=(1, 1, 1, 1))
    terms = 4 * 8 * 9 * 6 * 9
    assert shown(op) == [
        (0, "d0, d4, ((d2 + d5) + -1), ((d3 + d6) + -1)", terms, True),
        (1, "d1, d4, d5, d6", terms, False),
        (2, "d1", 4 * 8 * 9, False),
    ]
    assert reads_of(op)[0].extents == (None, None, None, None, 6, 3, 3)
    assert links(op) == {(0, 0, 0), (1, 0, 1), (2, 0, 1)}


def test_depthwise_conv_shares_channels() -> None:
    op = nn.ConvOp(tensor(1, 6, 8, 8), tensor(6, 1, 3, 3), groups=6)
    assert links(op) == {(0, 0, 0), (0, 1, 1), (1, 0, 1)}


def test_stages_are_read_through() -> None:
    """The maximum and the sum run over the axis; the result reads its own element."""
    op = nn.SoftmaxOp(tensor(3, 5), 1)
    assert shown(op) == [
        (0, "d0, d3", 15, False),
        (0, "d0, d2", 15, False),
        (0, "d0, d1", 15, False),
    ]
    assert links(op) == {(0, 0, 0)}


def test_pieces() -> None:
    op = nn.ConcatOp([tensor(2, 3), tensor(2, 4)], 1)
    assert shown(op) == [(0, "d0, d1", 6, False), (1, "d0, (d1 + -3)", 8, False)]
    assert links(op) == {(0, 0, 0), (1, 0, 0)}


def test_tiles_hold_no_zeros_beyond_the_extent() -> None:
    """An index modulo an extent equals the index within it, and not in a tail."""
    op = nn.TileOp(tensor(3, 5), [2, 1])
    assert links(op) == set()


def test_loaded_index() -> None:
    indices = create_ssa_value(TensorType(i64, (4,)))
    op = nn.GatherOp(tensor(6, 7), indices, 0)
    (first, second) = sorted(reads_of(op), key=lambda read: read.operand)
    (loaded,) = first.depends
    assert str(first.index[0]) == f"d{loaded}"
    assert first.depends[loaded] == {0}
    assert list(map(str, second.index)) == ["d0"]
    assert links(op) == {(0, 1, 1), (1, 0, 0)}


def test_operations_without_a_lowering_have_no_reads() -> None:
    constant = nn.ConstantOp.from_array(np.zeros(3, np.float32))
    assert not reads_of(nn.RelayoutOp(constant.result, None))


def test_equal_operations_are_lowered_once() -> None:
    made = [nn.UnaryOp(tensor(2, 3), "relu") for _ in range(2)]
    assert reads_of(made[0]) is reads_of(made[1])
    assert reads_of(made[0]) is not reads_of(nn.UnaryOp(tensor(2, 3), "exp"))
