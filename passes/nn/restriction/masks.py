"""Masks of operands, where an operation combines the elements of an axis.

An operation that combines elements along an axis reads neutral elements beyond the smaller size.
Then the operation for that size may read them, too: it computes the same as one whose axis has the
larger size, which is compared with the larger operation as usual.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

import numpy as np
from xdsl.ir import Block, Operation, SSAValue

from ....dialects import nn
from ....dialects.properties import ints
from ....restriction import Array, Change, ChangeKind
from .comparison import Compare, TwoSizes
from .inputs import Inputs
from .neutral import NeutralElement, neutral_elements
from .parts import Axis, Parts, axis_of, keeps_indices, positions


class ZeroTails:
    """The axes of values of the larger network that are zero beyond the smaller size."""

    def __init__(self) -> None:
        self._known: set[tuple[SSAValue, int]] = set()

    def add(self, value: SSAValue, axis: int) -> None:
        """Note that a value is zero beyond the smaller size of an axis."""
        self._known.add((value, axis))

    def has(self, value: SSAValue, axis: int) -> bool:
        """Return whether this is known."""
        return (value, axis) in self._known


def masked_parts(
    pair: TwoSizes, inputs: Inputs, compare: Compare, zeros: ZeroTails
) -> Parts | None:
    """Return the parts of the results if elements beyond the smaller sizes are neutral.

    Return None if this is impossible. The masks are added to `inputs`.
    """
    masks = [*_masks(pair, inputs.given(pair.position))]
    if not masks:
        return None
    sizes: dict[SSAValue, dict[int, int]] = {}
    axes = [[*operand] for operand in pair.operands]
    for neutral, axis in masks:
        value = pair.small.operands[neutral.operand]
        _, large = _extents(pair, neutral.operand, axis)
        sizes.setdefault(value, {})[axis] = large
        axes[neutral.operand][axis] = axis_of([(large, large)])
    padded = _with_operands(pair.small, sizes)
    parts = None if padded is None else compare(padded, pair.large, tuple(map(tuple, axes)))
    cut = None if padded is None or parts is None else _cut(pair, padded, masks, parts)
    if cut is None:
        return None
    for neutral, axis in masks:
        value = pair.large.operands[neutral.operand]
        if neutral.element is not None and not zeros.has(value, axis):
            mask = _mask(pair, neutral.operand, axis)
            if not inputs.add(ChangeKind.MASK, pair.position, neutral.operand, axis, mask):
                return None
    if not _is_scaled(pair, masks, inputs):
        return None
    if isinstance(pair.large, nn.SoftmaxOp) and pair.large.log is None:
        zeros.add(pair.large.result, pair.large.axis.value.data)
    return cut


def _masks(pair: TwoSizes, given: Sequence[Change] | None) -> Iterator[tuple[NeutralElement, int]]:
    """Yield the operands and axes to mask: where sizes differ, or where changes are given."""
    wanted = {(each.operand, each.axis) for each in given or () if each.kind is ChangeKind.MASK}
    for neutral in neutral_elements(pair.small):
        for axis in neutral.axes:
            small, large = _extents(pair, neutral.operand, axis)
            is_other = small != large or not keeps_indices(pair.operands[neutral.operand][axis])
            if is_other or (neutral.operand, axis) in wanted:
                yield neutral, axis


def _extents(pair: TwoSizes, operand: int, axis: int) -> tuple[int, int]:
    small, large = (nn.shape_of(op.operands[operand]) for op in (pair.small, pair.large))
    return small[axis], large[axis]


def _mask(pair: TwoSizes, operand: int, axis: int) -> Array:
    """Return which elements of an axis of a larger operand are those of the smaller one."""
    _, large = _extents(pair, operand, axis)
    mask = np.zeros(large, np.bool_)
    mask[positions(pair.operands[operand][axis])] = True
    return mask


def _with_operands(op: Operation, sizes: Mapping[SSAValue, Mapping[int, int]]) -> nn.NNOp | None:
    """Return a copy of an operation in which axes of operands have other sizes."""
    if not isinstance(op, nn.NNOp):
        return None
    types = [
        nn.with_shape(
            nn.tensor_type(value),
            [sizes.get(value, {}).get(i, n) for i, n in enumerate(nn.shape_of(value))],
        )
        for value in op.operands
    ]
    results = op.inferred_types(types, op.with_defaults(op.properties))
    block = Block(arg_types=types)
    copy = type(op).create(
        operands=block.args, properties=op.properties.copy(), result_types=results
    )
    copy.location = op.location
    block.add_op(copy)
    return copy


def _cut(
    pair: TwoSizes, padded: Operation, masks: Sequence[tuple[NeutralElement, int]], parts: Parts
) -> Parts | None:
    """Return the parts for the smaller results, which are shorter than the padded ones."""
    cut: list[tuple[Axis, ...]] = []
    is_softmax = isinstance(pair.small, nn.SoftmaxOp | nn.CumsumOp)
    is_plain = all(keeps_indices(pair.operands[each.operand][axis]) for each, axis in masks)
    values = zip(pair.small.results, padded.results, pair.large.results, parts, strict=True)
    for small, middle, large, axes in values:
        shapes = (nn.shape_of(value) for value in (small, middle, large))
        kept: list[Axis] = []
        for i, (wanted, has, whole, axis) in enumerate(zip(*shapes, axes, strict=True)):
            if wanted == has:
                kept.append(axis)
            elif is_softmax:
                kept.append(pair.operands[0][i])
            elif is_plain and wanted < has and axis == axis_of([(has, whole)]):
                kept.append(axis_of([(wanted, whole)]))
            else:
                return None
        cut.append(tuple(kept))
    return cut


def _is_scaled(pair: TwoSizes, masks: Sequence[tuple[NeutralElement, int]], inputs: Inputs) -> bool:
    """Correct averages, which divide by the number of all elements; return False if refused."""
    small, large = pair.small, pair.large
    if isinstance(small, nn.ReduceOp) and small.kind.data is nn.ReduceKind.MEAN:
        pairs = [_extents(pair, 0, axis) for axis in ints(small.axes)]
        factor = prod(n for _, n in pairs) / max(1, prod(n for n, _ in pairs))
        dtype = nn.numpy_dtype(nn.tensor_type(small.x).element_type)
        return inputs.add(ChangeKind.SCALE, pair.position, 0, -1, np.array(factor, dtype))
    if isinstance(small, nn.PoolOp) and small.kind.data is nn.PoolKind.AVERAGE:
        assert isinstance(large, nn.PoolOp)
        return all(
            inputs.add(ChangeKind.SCALE, pair.position, 0, axis, _pool_factors(small, large, axis))
            for _, axis in masks
        )
    return True


def _pool_factors(small: nn.PoolOp, large: nn.PoolOp, axis: int) -> Array:
    """Return the quotients of the numbers of elements of larger and smaller windows."""
    dtype = nn.numpy_dtype(nn.tensor_type(small.x).element_type)
    factors = np.ones(nn.shape_of(large.result)[axis], dtype)
    counts = [_counts(op, axis) for op in (small, large)]
    factors[: len(counts[0])] = counts[1][: len(counts[0])] / np.maximum(counts[0], 1)
    return factors


def _counts(op: nn.PoolOp, axis: int) -> Array:
    """Return the number of elements by which each window along an axis is divided."""
    i, rank = axis - 2, len(nn.shape_of(op.x)) - 2
    kernel, stride, dilation, low, high = (
        ints(each)[at]
        for each, at in (
            (op.kernel, i),
            (op.strides, i),
            (op.dilations, i),
            (op.pads, i),
            (op.pads, i + rank),
        )
    )
    size, count = nn.shape_of(op.x)[axis], nn.shape_of(op.result)[axis]
    taps = np.arange(count)[:, None] * stride - low + np.arange(kernel) * dilation
    first, end = (-low, size + high) if op.count_include_pad is not None else (0, size)
    return ((taps >= first) & (taps < end)).sum(1)
