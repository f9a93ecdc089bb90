"""The reads of a kernel that computes four elements of its result at once.

The four lanes are neighbours along one axis of the result. A walk from the result back through the
operations of the kernel finds the elements that the lanes read of each operand: neighbours along
one of its axes, one element for all, or four unrelated elements. The kernel can use whole texels in
the first case, and along axes that one of its loops walks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from xdsl.ir import Operation, SSAValue

from ....dialects import nn
from .candidates import LANES

# A tile of 4 columns by 4 lanes by 3 taps loads 24 elements for 192 multiply-adds; a tile of 16
# columns of a matrix product has the same ratio.
TILE = 8
"""Multiply-adds for each element that a tile of a contraction loads."""

_TAPS = {nn.ResizeMode.NEAREST: 1, nn.ResizeMode.LINEAR: 4, nn.ResizeMode.CUBIC: 16}


@dataclass(frozen=True)
class Access:
    """The reads of one operand, in elements, for the whole result."""

    reads: float
    axis: int | None = None
    """The axis along which the lanes are neighbours and start at a multiple of four."""
    same: bool = False
    """Whether all lanes read the same element."""
    walked: frozenset[int] = frozenset()
    """Axes that a loop over terms of the reduction walks while the lanes stay."""
    guarded: bool = False
    """Whether reads may fall outside of the operand, where they give zero."""

    def apart(self) -> Access:
        """The same reads when the lanes read unrelated elements."""
        return Access(self.reads, None, False, frozenset(), self.guarded)

    def joined(self, other: Access) -> Access:
        """The reads of one value by two operands of the kernel."""
        reads, guarded = self.reads + other.reads, self.guarded or other.guarded
        walked = self.walked & other.walked
        if (self.axis, self.same) == (other.axis, other.same):
            return Access(reads, self.axis, self.same, walked, guarded)
        for a, b in ((self, other), (other, self)):
            if a.same and b.axis is not None:
                return Access(reads, b.axis, False, walked, guarded)
        return Access(reads, None, False, frozenset(), guarded)


Step = Callable[[Any, Access], "list[Access]"]


def operand_accesses(
    ops: Sequence[Operation], result: SSAValue, lane: int
) -> dict[SSAValue, Access]:
    """The reads of each value by a kernel of `ops`, its lanes along axis `lane` of `result`."""
    shape = nn.shape_of(result)
    found = {result: Access(nn.count(shape), lane if lane < len(shape) else None)}
    for op in reversed(ops):
        for value in op.results:
            access = found.get(value)
            if access is None:
                continue
            step = STEPS.get(type(op), _apart)
            for operand, read in zip(op.operands, step(op, access), strict=True):
                before = found.get(operand)
                found[operand] = before.joined(read) if before is not None else read
    return found


def _moved(
    access: Access, place: Callable[[int], int | None], reads: float | None = None
) -> Access:
    """The access when axis i of the result is axis `place(i)` of the operand.

    `place` gives None for an axis that the operand lacks. Lanes along such an axis read unrelated
    elements; `_broadcast` handles operands in which they read the same one.
    """
    axis = None if access.axis is None else place(access.axis)
    walked = {place(i) for i in access.walked}
    kept = frozenset(i for i in walked if i is not None)
    reads = access.reads if reads is None else reads
    return replace(access, reads=reads, axis=axis, walked=kept)


def _apart(op: Operation, access: Access) -> list[Access]:
    return [access.apart() for _ in op.operands]


def _broadcast(shape: Sequence[int], full: Sequence[int], access: Access) -> Access:
    """The access of an operand of `shape` broadcast to `full`."""
    offset = len(full) - len(shape)

    def place(i: int) -> int | None:
        repeated = i < offset or (shape[i - offset] == 1 and full[i] > 1)
        return None if repeated else i - offset

    moved = _moved(access, place)
    if access.axis is not None and moved.axis is None:
        return replace(moved, same=True)
    return moved


def _elementwise(op: Operation, access: Access) -> list[Access]:
    full = nn.shape_of(op.results[0])
    return [_broadcast(nn.shape_of(operand), full, access) for operand in op.operands]


def _channelwise(op: Operation, access: Access) -> list[Access]:
    """Reads of x, then of parameters that hold one element for each channel."""
    by_channel = access.axis == 1
    parameter = Access(access.reads, 0 if by_channel else None, not by_channel)
    return [access, *(parameter for _ in op.operands[1:])]


def _conv(op: nn.ConvOp, access: Access) -> list[Access]:
    groups, (outputs, inputs, *taps) = op.groups.value.data, nn.shape_of(op.w)
    terms = access.reads * inputs * prod(taps)
    guarded = any(nn.ints(op.pads))
    inside = inputs % LANES == 0 and outputs // groups % LANES == 0
    if access.axis != 1:
        # Neighbouring results along other axes share neither weights nor whole texels.
        x = Access(terms / 2, guarded=guarded)
        return [x, Access(terms / 2), *(access.apart() for _ in op.operands[2:])]
    if groups == 1 or inside:
        x = Access(terms / TILE, None, True, frozenset({1}), guarded)
    elif inputs == 1 and outputs == groups:
        # Depthwise: a tile's columns share taps, so it loads half of the terms.
        x = Access(terms / 2, 1, guarded=guarded)
    else:
        x = Access(terms / 2, guarded=guarded)
    w = Access(terms / TILE, 0, walked=frozenset({1}))
    return [x, w, *(Access(access.reads, 0) for _ in op.operands[2:])]


def _matmul(op: nn.MatmulOp, access: Access) -> list[Access]:
    rank, shapes = len(nn.shape_of(op.result)), [nn.shape_of(op.a), nn.shape_of(op.b)]
    terms = shapes[0][-2 if op.transpose_a is not None else -1] * access.reads
    if access.axis != rank - 1:
        return [Access(terms / 2), Access(terms / 2)]
    a_last, b_last = (len(shape) - 1 for shape in shapes)
    a_walked = a_last - 1 if op.transpose_a is not None else a_last
    b_own, b_walked = (b_last - 1, b_last) if op.transpose_b is not None else (b_last, b_last - 1)
    # One element of a serves all lanes, which are neighbours in b.
    a = Access(terms / TILE, same=True, walked=frozenset({a_walked}))
    return [a, Access(terms / TILE, b_own, walked=frozenset({b_walked}))]


def _pool(op: nn.WindowOp, access: Access) -> list[Access]:
    window = prod(nn.ints(op.kernel))
    axis = access.axis if access.axis in (0, 1) else None
    guarded = any(nn.ints(op.pads))
    return [Access(access.reads * window, axis, access.same, access.walked, guarded)]


def _over(op: Operation, access: Access, axes: Sequence[int], kept: bool) -> Access:
    """The access of x by a reduction over `axes`; `kept` keeps them with extent 1."""
    shape = nn.shape_of(op.operands[0])
    axes = [axis % len(shape) for axis in axes]
    left = [i for i in range(len(shape)) if kept or i not in axes]
    moved = _moved(access, lambda i: left[i])
    axis = None if moved.axis in axes else moved.axis
    reads = access.reads * prod(shape[i] for i in axes)
    return replace(moved, reads=reads, axis=axis, walked=moved.walked | frozenset(axes))


def _reduce(op: nn.ReduceOp, access: Access) -> list[Access]:
    return [_over(op, access, nn.ints(op.axes), op.keepdims is not None)]


def _arg_reduce(op: nn.ArgReduceOp, access: Access) -> list[Access]:
    return [_over(op, access, [op.axis.value.data], op.keepdims is not None)]


def _normalized(axes: Callable[[Any, int], Sequence[int]], passes: int) -> Step:
    """The kernel reads x `passes` times over the normalised axes and broadcasts parameters."""

    def step(op: Operation, access: Access) -> list[Access]:
        full = nn.shape_of(op.results[0])
        walked = access.walked | frozenset(axes(op, len(full)))
        x = replace(access, reads=passes * access.reads, walked=walked)
        rest = [_broadcast(nn.shape_of(v), full, access) for v in op.operands[1:]]
        return [x, *rest]

    return step


def _group_norm(op: nn.GroupNormOp, access: Access) -> list[Access]:
    x, *rest = _channelwise(op, access)
    spatial = frozenset(range(1, len(nn.shape_of(op.x))))
    return [replace(x, reads=2 * x.reads, walked=x.walked | spatial), *rest]


def _resize(op: nn.ResizeOp, access: Access) -> list[Access]:
    before, after = nn.shape_of(op.x), nn.shape_of(op.result)
    moved = _moved(access, lambda i: i if before[i] == after[i] else None)
    return [replace(moved, reads=access.reads * _TAPS[op.mode.data])]


def _transpose(op: nn.TransposeOp, access: Access) -> list[Access]:
    perm = nn.ints(op.perm)
    return [_moved(access, lambda i: perm[i])]


def _reshape(op: nn.ReshapeOp, access: Access) -> list[Access]:
    old, new = nn.shape_of(op.x), nn.shape_of(op.result)
    groups = nn.matching_groups(old, new)

    def place(i: int) -> int | None:
        for before, after in groups:
            if i not in after:
                continue
            inner_new = [n for n in after if new[n] > 1]
            inner_old = [n for n in before if old[n] > 1]
            if not inner_new or not inner_old or inner_new[-1] != i:
                return None
            found = inner_old[-1]
            whole = new[i] % LANES == 0 and old[found] % LANES == 0
            return found if old[found] == new[i] or whole else None
        return None

    return [_moved(access, place)]


def _slice(op: nn.SliceOp, access: Access) -> list[Access]:
    starts, steps = nn.ints(op.starts), nn.ints(op.steps)
    whole = [start % LANES == 0 and step == 1 for start, step in zip(starts, steps, strict=True)]
    return [_moved(access, lambda i: i if whole[i] else None)]


def _pad(op: nn.PadOp, access: Access) -> list[Access]:
    low = nn.ints(op.low)
    moved = _moved(access, lambda i: i if low[i] % LANES == 0 else None)
    return [replace(moved, guarded=True)]


def _tile(op: nn.TileOp, access: Access) -> list[Access]:
    shape, repeats = nn.shape_of(op.x), nn.ints(op.repeats)
    whole = [n == 1 or size % LANES == 0 for size, n in zip(shape, repeats, strict=True)]
    return [_moved(access, lambda i: i if whole[i] else None)]


def _expand(op: nn.ExpandOp, access: Access) -> list[Access]:
    return [_broadcast(nn.shape_of(op.x), nn.shape_of(op.result), access)]


def _gather(op: nn.GatherOp, access: Access) -> list[Access]:
    axis, rank = op.axis.value.data, len(nn.shape_of(op.indices))

    def place(i: int) -> int | None:
        if i < axis:
            return i
        return i - rank + 1 if i >= axis + rank else None

    x = _moved(access, place)
    indices = Access(access.reads, same=x.axis is not None)
    return [x, indices]


def _depth_to_space(op: nn.DepthToSpaceOp, access: Access) -> list[Access]:
    whole = op.mode.data is nn.BlockOrder.DCR and nn.shape_of(op.result)[1] % LANES == 0
    return [_moved(access, lambda i: i if i == 0 or (i == 1 and whole) else None)]


def _space_to_depth(op: nn.SpaceToDepthOp, access: Access) -> list[Access]:
    whole = op.mode.data is nn.BlockOrder.DCR and nn.shape_of(op.x)[1] % LANES == 0
    return [_moved(access, lambda i: i if i == 0 or (i == 1 and whole) else None)]


def _concat(op: nn.ConcatOp, access: Access) -> list[Access]:
    axis, total = op.axis.value.data, nn.count(nn.shape_of(op.result))
    found: list[Access] = []
    start = 0
    for value in op.inputs:
        whole = start % LANES == 0

        def place(i: int, whole: bool = whole) -> int | None:
            return i if i != axis or whole else None

        reads = access.reads * nn.count(nn.shape_of(value)) / max(total, 1)
        found.append(_moved(access, place, reads))
        start += nn.shape_of(value)[axis]
    return found


STEPS: dict[type[Operation], Step] = {
    nn.UnaryOp: _elementwise,
    nn.ClipOp: _elementwise,
    nn.BinaryOp: _elementwise,
    nn.CompareOp: _elementwise,
    nn.WhereOp: _elementwise,
    nn.CastOp: _elementwise,
    nn.BatchNormOp: _channelwise,
    nn.ConvOp: _conv,
    nn.MatmulOp: _matmul,
    nn.PoolOp: _pool,
    nn.MaxPoolIndicesOp: _pool,
    nn.ReduceOp: _reduce,
    nn.ArgReduceOp: _arg_reduce,
    nn.SoftmaxOp: _normalized(lambda op, rank: [op.axis.value.data], 3),
    nn.LayerNormOp: _normalized(lambda op, rank: range(op.axis.value.data, rank), 3),
    nn.RmsNormOp: _normalized(lambda op, rank: range(op.axis.value.data, rank), 2),
    nn.GroupNormOp: _group_norm,
    nn.CumsumOp: _normalized(lambda op, rank: [op.axis.value.data], 1),
    nn.ResizeOp: _resize,
    nn.TransposeOp: _transpose,
    nn.ReshapeOp: _reshape,
    nn.SliceOp: _slice,
    nn.PadOp: _pad,
    nn.TileOp: _tile,
    nn.ExpandOp: _expand,
    nn.GatherOp: _gather,
    nn.DepthToSpaceOp: _depth_to_space,
    nn.SpaceToDepthOp: _space_to_depth,
    nn.ConcatOp: _concat,
}
"""Per operation: the accesses of its operands, given the access of its result."""
