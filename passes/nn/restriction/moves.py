"""Slices, concatenations and borders whose elements come from other places at other sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects.builtin import TensorType, i32
from xdsl.ir import Block, Operation, SSAValue

from ....dialects import nn
from ....dialects.properties import ints
from ....restriction import Array, ChangeKind
from .comparison import Compare, TwoSizes
from .inputs import Inputs
from .parts import Axis, Parts, axis_of, beginnings, positions

Moving: TypeAlias = nn.ConcatOp | nn.SliceOp | nn.PadOp
"""An operation whose elements can be taken from other places by indices."""


def moved_parts(pair: TwoSizes, inputs: Inputs, compare: Compare) -> Parts | None:
    """Return the parts of the results if elements are taken by indices of the smaller operation.

    Return None if this is impossible. The indices are added to `inputs`.
    """
    small, large = pair.small, pair.large
    if not isinstance(small, Moving) or not isinstance(large, Moving):
        return None
    given = inputs.given(pair.position)
    axes = (
        _moved_axes(small, large)
        if given is None
        else [each.axis for each in given if each.kind is ChangeKind.MOVE]
    )
    sizes = [nn.shape_of(op.results[0]) for op in (small, large)]
    if not axes or any(sizes[0][axis] > sizes[1][axis] for axis in axes):
        return None
    arrays = [_sources(small, large, pair.operands, axis) for axis in axes]
    parts = _compared(small, large, pair.operands, axes, compare)
    is_possible = parts is not None and all(
        inputs.add(ChangeKind.MOVE, pair.position, 0, axis, array)
        for axis, array in zip(axes, arrays, strict=True)
    )
    return parts if is_possible else None


def _compared(
    small: Moving, large: Moving, operands: Parts, axes: Sequence[int], compare: Compare
) -> Parts | None:
    """Compare the operations that replace both, along `axes` of operands of the larger size."""
    whole = [nn.shape_of(value) for value in large.operands]
    padded = [
        [
            b if i in axes else a
            for i, (a, b) in enumerate(zip(nn.shape_of(value), sizes, strict=True))
        ]
        for value, sizes in zip(small.operands, whole, strict=True)
    ]
    blocks = _chain(small, padded, axes), _chain(large, whole, axes)
    known: dict[SSAValue, tuple[Axis, ...]] = {}
    for value, sizes, found in zip(blocks[0].args, whole, operands, strict=False):
        known[value] = tuple(
            axis_of([(n, n)]) if i in axes else axis
            for i, (n, axis) in enumerate(zip(sizes, found, strict=True))
        )
    count = len(whole)
    for a, b in zip(blocks[0].args[count:], blocks[1].args[count:], strict=True):
        known[a] = beginnings(nn.shape_of(a), nn.shape_of(b))
    results: Parts | None = None
    for a, b in zip(blocks[0].ops, blocks[1].ops, strict=True):
        if (results := compare(a, b, tuple(known[value] for value in a.operands))) is None:
            return None
        known |= zip(a.results, results, strict=True)
    return results


def _chain(op: Moving, shapes: Sequence[Sequence[int]], axes: Sequence[int]) -> Block:
    """Return operations that replace `op`; the arguments are its operands, then the indices."""
    operands = [
        nn.with_shape(nn.tensor_type(value), shape)
        for value, shape in zip(op.operands, shapes, strict=True)
    ]
    sizes = nn.shape_of(op.results[0])
    block = Block(arg_types=[*operands, *(TensorType(i32, [sizes[axis]]) for axis in axes)])
    indices = dict(zip(axes, block.args[len(shapes) :], strict=True))
    block.add_ops(by_indices(op, block.args[: len(shapes)], indices))
    return block


def _moved_axes(small: Moving, large: Moving) -> list[int]:
    """Return the axes along which results take elements from other places of the operands."""
    if isinstance(small, nn.ConcatOp):
        return [small.axis.value.data]
    if isinstance(small, nn.SliceOp):
        assert isinstance(large, nn.SliceOp)
        columns = [ints(each) for op in (small, large) for each in (op.starts, op.steps)]
        return [i for i, (a, b, *other) in enumerate(zip(*columns, strict=True)) if [a, b] != other]
    if small.mode.data is nn.PadMode.CONSTANT:
        return []
    shapes = (nn.shape_of(op.operands[0]) for op in (small, large))
    amounts = zip(*shapes, ints(small.low), ints(small.high), strict=True)
    return [i for i, (a, b, low, high) in enumerate(amounts) if a != b and (low or high)]


def _sources(small: Moving, large: Moving, operands: Sequence[Sequence[Axis]], axis: int) -> Array:
    """Return the indices in the larger operand, or in all of them joined, of a result's elements.

    There is one for each element of the larger result along the axis; those beyond the smaller
    result are 0.
    """
    places: list[Array] = []
    offset = 0
    for value, axes in zip(large.operands, operands, strict=True):
        places.append(positions(axes[axis]) + offset)
        offset += nn.shape_of(value)[axis]
    found = np.zeros(nn.shape_of(large.results[0])[axis], np.int32)
    wanted = np.concatenate(places)[_local_sources(small, axis)]
    found[: len(wanted)] = wanted
    return found


def _local_sources(op: Moving, axis: int) -> Array:
    """Return the index in the operand, or in all of them joined, of each element of the result."""
    count = np.arange(nn.shape_of(op.results[0])[axis])
    if isinstance(op, nn.ConcatOp):
        return count
    if isinstance(op, nn.SliceOp):
        return ints(op.starts)[axis] + ints(op.steps)[axis] * count
    size = nn.shape_of(op.operands[0])[axis]
    return _BORDERS[op.mode.data](count - ints(op.low)[axis], size)


def _reflected(index: Array, size: int) -> Array:
    period = max(1, 2 * (size - 1))
    folded = index % period
    return np.minimum(folded, period - folded)


_BORDERS: Mapping[nn.PadMode, Callable[[Array, int], Array]] = {
    nn.PadMode.REFLECT: _reflected,
    nn.PadMode.EDGE: lambda index, size: np.clip(index, 0, size - 1),
    nn.PadMode.WRAP: lambda index, size: index % size,
}


def by_indices(
    op: Moving, operands: Sequence[SSAValue], indices: Mapping[int, SSAValue]
) -> list[Operation]:
    """Return operations that compute the result of `op` from such indices for some axes."""
    if isinstance(op, nn.ConcatOp):
        joined = nn.ConcatOp(operands, op.axis.value.data)
        return [joined, *_gathers(joined.result, indices)]
    (x,) = operands
    gathers = _gathers(x, indices)
    moved = gathers[-1].results[0] if gathers else x
    if isinstance(op, nn.SliceOp):
        sizes = nn.shape_of(moved)
        starts, steps = _besides(op.starts, indices, 0), _besides(op.steps, indices, 1)
        kept = [
            n if i in indices else size
            for i, (n, size) in enumerate(zip(sizes, ints(op.sizes), strict=True))
        ]
        return [*gathers, nn.SliceOp(moved, starts, kept, steps)]
    low, high = _besides(op.low, indices, 0), _besides(op.high, indices, 0)
    return [*gathers, nn.PadOp(moved, low, high, op.mode.data)]


def _gathers(x: SSAValue, indices: Mapping[int, SSAValue]) -> list[Operation]:
    found: list[Operation] = []
    for axis, index in indices.items():
        found.append(nn.GatherOp(x, index, axis))
        x = found[-1].results[0]
    return found


def _besides(given: Any, axes: Iterable[int], value: int) -> list[int]:
    """Return the numbers of a property, with `value` for some axes."""
    return [value if i in axes else n for i, n in enumerate(ints(given))]
