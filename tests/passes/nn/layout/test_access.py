"""The accesses of a kernel with four lanes, as its operations' lowerings tell them."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import TensorType, f32
from xdsl.ir import SSAValue
from xdsl.utils.test_value import create_ssa_value

from clopt.dialects import nn
from clopt.passes.nn.layout.access import (
    SCATTERED,
    TILE,
    OperandAccess,
    operand_accesses,
    shared_terms,
)


def tensor(*shape: int) -> SSAValue:
    return create_ssa_value(TensorType(f32, shape))


def accesses(op: nn.NNOp, lane: int) -> list[OperandAccess]:
    found = operand_accesses([op], op.results[0], lane, LANES)
    return [found[value] for value in op.operands]


LANES = 4
TERMS = 8 * 25 * 6 * 9


def test_conv_along_channels() -> None:
    op = nn.ConvOp(tensor(1, 6, 5, 5), tensor(8, 6, 3, 3), tensor(8), pads=(1, 1, 1, 1))
    assert accesses(op, 1) == [
        OperandAccess(TERMS / TILE, same=True, walked=frozenset({1}), guarded=True),
        OperandAccess(TERMS / TILE, axis=0, walked=frozenset({1})),
        OperandAccess(8 * 25, axis=0),
    ]
    (term,) = shared_terms(op, LANES)
    assert (term.axes, term.extent, term.is_whole) == ((1, 1), 6, True)


def test_tiles_along_channels() -> None:
    """Each element of a tile of x is read once for each channel of the result, as weights are."""
    op = nn.WinogradConvOp(tensor(1, 6, 8, 8), tensor(8, 36, 6), None, 4, (1, 1, 1, 1))
    x, w = accesses(op, 1)
    assert (x.same, x.walked, x.guarded) == (True, frozenset({1}), True)
    assert w == OperandAccess(36 * 4 * 8 * 6 / TILE, axis=0, walked=frozenset({2}))
    (term,) = shared_terms(op, LANES)
    assert (term.axes, term.extent, term.is_whole) == ((1, 2), 6, True)


def test_conv_along_columns_shares_nothing() -> None:
    op = nn.ConvOp(tensor(1, 6, 5, 5), tensor(8, 6, 3, 3), pads=(1, 1, 1, 1))
    apart = TERMS / SCATTERED
    assert accesses(op, 3) == [OperandAccess(apart, guarded=True), OperandAccess(apart)]


@pytest.mark.parametrize(
    ("groups", "inputs", "is_shared"), [(2, 4, True), (2, 6, False), (4, 4, False)]
)
def test_groups_share_whole_texels_only(groups: int, inputs: int, is_shared: bool) -> None:
    """Four results of a group read the same inputs, in texels of one group."""
    op = nn.ConvOp(tensor(1, groups * inputs, 5, 5), tensor(8, inputs, 3, 3), groups=groups)
    x, w = accesses(op, 1)
    assert x.same == is_shared
    assert w.axis == 0


def test_depthwise_conv() -> None:
    op = nn.ConvOp(tensor(1, 8, 5, 5), tensor(8, 1, 3, 3), groups=8)
    terms = 8 * 9 * 9
    assert accesses(op, 1) == [
        OperandAccess(terms / SCATTERED, axis=1),
        OperandAccess(terms / TILE, axis=0),
    ]


def test_matmul_of_transposed() -> None:
    op = nn.MatmulOp(tensor(3, 6), tensor(8, 6), transpose_b=True)
    terms = 3 * 6 * 8
    assert accesses(op, 1) == [
        OperandAccess(terms / TILE, same=True, walked=frozenset({1})),
        OperandAccess(terms / TILE, axis=0, walked=frozenset({1})),
    ]


def test_transposed_conv_is_a_contraction_like_others() -> None:
    x, w = accesses(nn.ConvTransposeOp(tensor(1, 6, 5, 5), tensor(6, 8, 2, 2)), 1)
    assert (x.same, x.walked, w.axis, w.walked) == (True, {1}, 1, {0})


def test_reduction_walks_its_axes() -> None:
    op = nn.ReduceOp(tensor(1, 8, 4, 4), "mean", [2, 3], keepdims=True)
    assert accesses(op, 1) == [OperandAccess(8 * 16, axis=1, walked=frozenset({2, 3}))]
    # The result has one column, so no lanes could share an element.
    assert accesses(op, 3) == [OperandAccess(8 * 16, walked=frozenset({2, 3}))]


@pytest.mark.parametrize(("start", "axis"), [(4, 1), (2, None)])
def test_slices_at_whole_texels(start: int, axis: int | None) -> None:
    op = nn.SliceOp(tensor(1, 16, 3), [0, start, 0], [1, 8, 3])
    assert accesses(op, 1) == [OperandAccess(24, axis)]


@pytest.mark.parametrize(("channels", "axis"), [(16, 1), (8, None)])
def test_depth_to_space_moves_whole_texels(channels: int, axis: int | None) -> None:
    (x,) = accesses(nn.DepthToSpaceOp(tensor(1, channels, 3, 3), 2), 1)
    assert (x.axis, x.same) == (axis, False)


def test_broadcast_operand_is_one_element_for_all_lanes() -> None:
    op = nn.BinaryOp(tensor(1, 8, 4), tensor(4), "add")
    assert accesses(op, 1) == [OperandAccess(32, 1), OperandAccess(32, same=True)]


def test_two_operations() -> None:
    """The walk goes back through the kernel."""
    first = nn.TransposeOp(tensor(1, 5, 8), (0, 2, 1))
    second = nn.UnaryOp(first.result, "relu")
    found = operand_accesses([first, second], second.result, 1, LANES)
    assert found[first.x] == OperandAccess(40, 2)
