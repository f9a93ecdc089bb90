"""Tails of packed axes: the loops that run over them, and the values that are zero there anyway.

A layout fills up the last block of an axis. That tail must hold zeros, so that sums may run over
it. Two tables describe the operations: the axes of operands and results that share an index
(`LINKS`), and the rules by which zeros stay zeros (`ZEROS`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.ir import Operation, SSAValue

from ....dialects import nn
from ....dialects.nn import CoordinateMode, PadMode, PoolKind, ReduceKind
from ....dialects.nn.evaluation import evaluate

Link = tuple[SSAValue, int, int]
"""An operand, one of its axes, and the axis of the result with the same index and extent."""

Axis = tuple[SSAValue, int]


def _aligned(op: Operation) -> Iterator[Link]:
    """Axes that numpy broadcasting pairs."""
    shape = nn.shape_of(op.results[0])
    for operand in op.operands:
        own = nn.shape_of(operand)
        skipped = len(shape) - len(own)
        for axis, size in enumerate(own):
            if size == shape[axis + skipped]:
                yield operand, axis, axis + skipped


def _same(op: Operation) -> Iterator[Link]:
    """Axes at which the first operand has the extent of the result."""
    x, result = op.operands[0], op.results[0]
    for axis, (size, resized) in enumerate(zip(nn.shape_of(x), nn.shape_of(result), strict=True)):
        if size == resized:
            yield x, axis, axis


def _conv(op: nn.ConvOp) -> Iterator[Link]:
    yield op.x, 0, 0
    yield op.w, 0, 1
    if op.b is not None:
        yield op.b, 0, 1
    if op.groups.value.data == nn.shape_of(op.x)[1] == nn.shape_of(op.result)[1]:
        yield op.x, 1, 1


def _conv_transpose(op: nn.ConvTransposeOp) -> Iterator[Link]:
    yield op.x, 0, 0
    if op.groups.value.data == 1:
        yield op.w, 1, 1
    if op.b is not None:
        yield op.b, 0, 1


def _matmul(op: nn.MatmulOp) -> Iterator[Link]:
    a_rank, b_rank = len(nn.shape_of(op.a)), len(nn.shape_of(op.b))
    rank = len(nn.shape_of(op.result))
    yield op.a, a_rank - (1 if op.transpose_a is not None else 2), rank - 2
    yield op.b, b_rank - (2 if op.transpose_b is not None else 1), rank - 1


def _kept(op: nn.ReduceOp | nn.ArgReduceOp) -> Iterator[Link]:
    axes = (op.axis.value.data,) if isinstance(op, nn.ArgReduceOp) else nn.ints(op.axes)
    kept = [axis for axis in range(len(nn.shape_of(op.x))) if axis not in axes]
    for i, axis in enumerate(kept):
        yield op.x, axis, i if op.keepdims is None else axis


def _concat(op: nn.ConcatOp) -> Iterator[Link]:
    for value in op.inputs:
        for axis in range(len(nn.shape_of(value))):
            if axis != op.axis.value.data:
                yield value, axis, axis


def _slice(op: nn.SliceOp) -> Iterator[Link]:
    starts, steps = nn.ints(op.starts), nn.ints(op.steps)
    return (link for link in _same(op) if starts[link[1]] == 0 and steps[link[1]] == 1)


def _pad(op: nn.PadOp) -> Iterator[Link]:
    low, high = nn.ints(op.low), nn.ints(op.high)
    return (link for link in _same(op) if low[link[1]] == high[link[1]] == 0)


def _resize(op: nn.ResizeOp) -> Iterable[Link]:
    if op.coordinate_mode.data is CoordinateMode.TF_CROP_AND_RESIZE:
        return ()
    scales = nn.floats(op.scales)
    return (link for link in _same(op) if scales[link[1]] == 1)


def _gather(op: nn.GatherOp) -> Iterator[Link]:
    axis, grown = op.axis.value.data, len(nn.shape_of(op.indices)) - 1
    for i in range(len(nn.shape_of(op.x))):
        if i != axis:
            yield op.x, i, i if i < axis else i + grown


def _reshape(op: nn.ReshapeOp) -> Iterator[Link]:
    for old, new in nn.matching_groups(nn.shape_of(op.x), nn.shape_of(op.result)):
        pair = kept_axis(nn.shape_of(op.x), nn.shape_of(op.result), old, new)
        if pair is not None:
            yield op.x, *pair


def kept_axis(
    old_shape: Sequence[int], new_shape: Sequence[int], old: range, new: range
) -> tuple[int, int] | None:
    """The axis before and after that a group of a reshape keeps, if all others have one element."""
    before = [axis for axis in old if old_shape[axis] != 1 or len(old) == 1]
    after = [axis for axis in new if new_shape[axis] != 1 or len(new) == 1]
    if len(before) == len(after) == 1 and old_shape[before[0]] == new_shape[after[0]]:
        return before[0], after[0]
    return None


def _channels(op: nn.WindowOp) -> Iterator[Link]:
    yield op.x, 0, 0
    yield op.x, 1, 1


_ELEMENTWISE = (nn.UnaryOp, nn.ClipOp, nn.CastOp, nn.BinaryOp, nn.CompareOp, nn.WhereOp)
_IN_PLACE = (
    nn.BatchNormOp,
    nn.SoftmaxOp,
    nn.LayerNormOp,
    nn.RmsNormOp,
    nn.GroupNormOp,
    nn.CumsumOp,
)

LINKS: Mapping[type[Operation], Callable[[Any], Iterable[Link]]] = {
    **dict.fromkeys(_ELEMENTWISE, _aligned),
    **dict.fromkeys(_IN_PLACE, _same),
    nn.ExpandOp: _aligned,
    nn.ConvOp: _conv,
    nn.ConvTransposeOp: _conv_transpose,
    nn.MatmulOp: _matmul,
    nn.PoolOp: _channels,
    nn.MaxPoolIndicesOp: _channels,
    nn.ReduceOp: _kept,
    nn.ArgReduceOp: _kept,
    nn.ConcatOp: _concat,
    nn.SliceOp: _slice,
    nn.PadOp: _pad,
    nn.ResizeOp: _resize,
    nn.GatherOp: _gather,
    nn.ReshapeOp: _reshape,
    nn.TransposeOp: lambda op: ((op.x, axis, i) for i, axis in enumerate(nn.ints(op.perm))),
    nn.DepthToSpaceOp: lambda op: [(op.x, 0, 0)],
    nn.SpaceToDepthOp: lambda op: [(op.x, 0, 0)],
}
"""Per operation: the axes of operands that share their index with an axis of the result."""


class Tails:
    """The tails that the layouts of a kernel's operands and results give to the values in it.

    `params` and `results` are the extents, tails included, of the tensors that it reads and writes.
    """

    def __init__(
        self,
        params: Mapping[SSAValue, Sequence[int]],
        results: Iterable[tuple[SSAValue, Sequence[int]]],
    ):
        self._parent: dict[Axis, Axis] = {}
        self._read: dict[Axis, int] = {}
        self._written: dict[Axis, int] = {}
        self._params = params
        self._zero: dict[Axis, bool] = {}
        results = list(results)
        if any(nn.shape_of(v) != tuple(e) for v, e in [*params.items(), *results]):
            self._link([value for value, _ in results])
        for value, extents in params.items():
            self._note(self._read, value, extents)
        for value, extents in results:
            self._note(self._written, value, extents)

    def read(self, value: SSAValue, axis: int) -> int:
        """The extent of an operand's axis, with its tail in memory."""
        if value in self._params:
            return self._params[value][axis]
        return self._read.get(self._root((value, axis)), nn.shape_of(value)[axis])

    def written(self, value: SSAValue, axis: int) -> int:
        """The extent of an axis, with the tails of the results that share its index."""
        return self._written.get(self._root((value, axis)), nn.shape_of(value)[axis])

    def is_zero(self, value: SSAValue, axis: int) -> bool:
        """Whether elements beyond the extent of an axis are zero, if all operands are finite."""
        key = value, axis
        if key not in self._zero:
            owner = value.owner
            rule = ZEROS.get(type(owner)) if isinstance(owner, Operation) else None
            self._zero[key] = value in self._params or (
                rule is not None and rule(self, owner, axis)
            )
        return self._zero[key]

    def linked_zero(self, op: Operation, axis: int, operand: SSAValue) -> bool:
        """Whether an operand is zero at indices beyond the extent of the result's axis."""
        return any(
            self.is_zero(value, i)
            for value, i, j in LINKS[type(op)](op)
            if value is operand and j == axis
        )

    def _link(self, results: Sequence[SSAValue]) -> None:
        pending, seen = list(results), set[Operation]()
        while pending:
            owner = pending.pop().owner
            if not isinstance(owner, Operation) or owner in seen:
                continue
            seen.add(owner)
            pending += owner.operands
            links = LINKS.get(type(owner), _no_links)
            for operand, axis, result_axis in links(owner):
                a, b = self._root((operand, axis)), self._root((owner.results[0], result_axis))
                if a != b:
                    self._parent[a] = b

    def _root(self, axis: Axis) -> Axis:
        while axis in self._parent:
            axis = self._parent[axis]
        return axis

    def _note(self, known: dict[Axis, int], value: SSAValue, extents: Sequence[int]) -> None:
        for axis, extent in enumerate(extents):
            root = self._root((value, axis))
            known[root] = max(known.get(root, 0), extent)


def _no_links(_: Operation) -> Iterable[Link]:
    return ()


def _computes_zero(tails: Tails, op: Operation, axis: int) -> bool:
    """Whether a function of zeros, and of the constants in the kernel, is zero."""
    samples: list[nn.Array] = []
    for operand in op.operands:
        type_ = nn.tensor_type(operand)
        constant = nn.constant_value(operand)
        if constant is not None and constant.size == 1:
            samples.append(constant)
        elif _broadcasts(op, operand, axis) or not tails.linked_zero(op, axis, operand):
            return False
        else:
            samples.append(
                np.zeros([1] * len(type_.get_shape()), nn.numpy_dtype(type_.element_type))
            )
    results = evaluate(op, samples)
    return results is not None and not results[0].any()


def _broadcasts(op: Operation, operand: SSAValue, axis: int) -> bool:
    """Whether the operand has one element for all positions along an axis of the result."""
    own = nn.shape_of(operand)
    at = axis - (len(nn.shape_of(op.results[0])) - len(own))
    return len(op.operands) > 1 and (at < 0 or own[at] == 1)


def _selects_zero(tails: Tails, op: nn.WhereOp, axis: int) -> bool:
    return all(
        not _broadcasts(op, value, axis) and tails.linked_zero(op, axis, value)
        for value in (op.a, op.b)
    )


def _moves_zero(tails: Tails, op: Operation, axis: int) -> bool:
    return tails.linked_zero(op, axis, op.operands[0])


def _expands_zero(tails: Tails, op: nn.ExpandOp, axis: int) -> bool:
    own = nn.shape_of(op.x)
    at = axis - (len(nn.shape_of(op.result)) - len(own))
    return at >= 0 and own[at] != 1 and tails.linked_zero(op, axis, op.x)


def _joins_zero(tails: Tails, op: nn.ConcatOp, axis: int) -> bool:
    if axis == op.axis.value.data:
        # The tail of the result is that of the last piece.
        last = [value for value in op.inputs if nn.shape_of(value)[axis]][-1:]
        return all(tails.is_zero(value, axis) for value in last)
    return all(tails.is_zero(value, axis) for value in op.inputs)


def _pads_zero(tails: Tails, op: nn.PadOp, axis: int) -> bool:
    if op.mode.data is PadMode.WRAP or not tails.is_zero(op.x, axis):
        return False
    if op.mode.data is PadMode.CONSTANT:
        fill = 0 if op.value is None else nn.number(op.value)
        return fill == 0 and nn.ints(op.high)[axis] >= 0
    return nn.ints(op.low)[axis] == nn.ints(op.high)[axis] == 0


def _contracts_to_zero(
    weights: Callable[[Any], SSAValue],
) -> Callable[[Tails, Any, int], bool]:
    """The rule of a convolution: weights and bias of channels beyond the last are zero."""

    def rule(tails: Tails, op: nn.ConvolutionOp, axis: int) -> bool:
        operands = [weights(op)] if op.b is None else [weights(op), op.b]
        return axis == 1 and all(tails.linked_zero(op, axis, value) for value in operands)

    return rule


def _multiplies_zero(tails: Tails, op: nn.MatmulOp, axis: int) -> bool:
    return any(tails.is_zero(value, i) for value, i, j in _matmul(op) if j == axis)


def _pools_zero(tails: Tails, op: nn.PoolOp, axis: int) -> bool:
    if axis > 1 or not tails.is_zero(op.x, axis):
        return False
    return op.kind.data is not PoolKind.MAX or _every_window_meets(op)


def _every_window_meets(op: nn.PoolOp) -> bool:
    """Whether each window has a tap inside of the input; one without gives the least number."""
    columns = (
        nn.ints(op.kernel),
        nn.ints(op.strides),
        nn.ints(op.dilations),
        nn.ints(op.pads),
        nn.shape_of(op.x)[2:],
        nn.shape_of(op.result)[2:],
    )
    return all(
        dilation == 1 and pad < kernel and (positions - 1) * stride - pad < size
        for kernel, stride, dilation, pad, size, positions in zip(*columns, strict=False)
    )


_LOGARITHMS = (ReduceKind.LOG_SUM, ReduceKind.LOG_SUM_EXP)


def _reduces_zero(tails: Tails, op: nn.ReduceOp, axis: int) -> bool:
    empty = 0 in nn.shape_of(op.x)
    return op.kind.data not in _LOGARITHMS and not empty and tails.linked_zero(op, axis, op.x)


ZEROS: Mapping[type[Operation], Callable[[Tails, Any, int], bool]] = {
    **dict.fromkeys((nn.UnaryOp, nn.ClipOp, nn.CastOp, nn.BinaryOp), _computes_zero),
    **dict.fromkeys(
        (nn.TransposeOp, nn.SliceOp, nn.ResizeOp, nn.GatherOp, nn.ReshapeOp), _moves_zero
    ),
    nn.WhereOp: _selects_zero,
    nn.ExpandOp: _expands_zero,
    nn.ConcatOp: _joins_zero,
    nn.PadOp: _pads_zero,
    nn.ConvOp: _contracts_to_zero(lambda op: op.w),
    nn.ConvTransposeOp: _contracts_to_zero(lambda op: op.w),
    nn.MatmulOp: _multiplies_zero,
    nn.PoolOp: _pools_zero,
    nn.ReduceOp: _reduces_zero,
}
"""Per operation: whether its result is zero in an axis's tail. Without a row it may be anything."""
