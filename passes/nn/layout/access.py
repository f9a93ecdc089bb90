"""The reads of a kernel that computes several elements of its result at once, its lanes.

The lanes are neighbours along one axis of the result. Walking from the result back through the
operations of the kernel finds the elements that the lanes read of each operand: neighbours along
one of its axes, the same element, or unrelated elements. In the first case, and along axes that one
of its loops walks, the kernel can load whole blocks. The lowering of each operation determines how
its indices move (`reads_of`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeGuard

from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from ....dialects import nn
from ....dialects.tir.affine import linear, simplify
from ....dialects.tir.expressions import used_dims, with_dims
from ..lowering.reads import OperandRead, reads_of

# A tile of 4 columns by 4 lanes by 3 taps loads 24 elements for 192 multiply-adds; a tile of 16
# columns of a matrix product has the same ratio.
TILE = 8
"""Multiply-adds per element that a tile of a contraction loads."""

SCATTERED = 2
"""The same ratio if the lanes share neither whole texels nor weights."""


@dataclass(frozen=True)
class OperandAccess:
    """The reads of one operand, in elements, for the whole result."""

    reads: float
    axis: int | None = None
    """The axis along which the lanes are neighbours and start at a multiple of their number."""
    same: bool = False
    """Whether all lanes read the same element."""
    walked: frozenset[int] = frozenset()
    """Axes that a reduction loop walks while the lanes stay."""
    guarded: bool = False
    """Whether reads may fall outside of the operand and then give zero."""

    def apart(self) -> OperandAccess:
        """Return the same number of reads, with lanes that read unrelated elements."""
        return OperandAccess(self.reads, None, False, frozenset(), self.guarded)

    def joined(self, other: OperandAccess) -> OperandAccess:
        """Return the combined reads of one value by two operands of the kernel."""
        reads, guarded = self.reads + other.reads, self.guarded or other.guarded
        walked = self.walked & other.walked
        if (self.axis, self.same) == (other.axis, other.same):
            return OperandAccess(reads, self.axis, self.same, walked, guarded)
        for a, b in ((self, other), (other, self)):
            if a.same and b.axis is not None:
                return OperandAccess(reads, b.axis, False, walked, guarded)
        return OperandAccess(reads, None, False, frozenset(), guarded)


def operand_accesses(
    ops: Sequence[Operation], result: SSAValue, lane: int, lanes: int
) -> dict[SSAValue, OperandAccess]:
    """Return the reads of each value by a kernel of `ops`.

    The kernel's lanes are neighbours along axis `lane` of `result`.
    """
    shape = nn.shape_of(result)
    accesses = {result: OperandAccess(nn.count(shape), lane if lane < len(shape) else None)}
    for op in reversed(ops):
        for value in op.results:
            access = accesses.get(value)
            if access is None:
                continue
            for operand, read in zip(op.operands, _steps(op, access, lanes), strict=True):
                before = accesses.get(operand)
                accesses[operand] = before.joined(read) if before is not None else read
    return accesses


def _steps(op: Operation, access: OperandAccess, lanes: int) -> list[OperandAccess]:
    """Return the accesses of the operands of `op`, given the access of its result."""
    shape = nn.shape_of(op.results[0])
    joined: dict[int, OperandAccess] = {}
    for read in reads_of(op):
        step = _step(read, access, shape, lanes)
        if (before := joined.get(read.operand)) is not None:
            # The operation walks every axis that one of its stages walks.
            step = replace(before.joined(step), walked=before.walked | step.walked)
        joined[read.operand] = step
    accesses = [joined.get(i, access.apart()) for i in range(len(op.operands))]
    return _tiled(op, accesses, access, lanes) if is_contraction(op) else accesses


def is_contraction(op: Operation) -> TypeGuard[nn.NNOp]:
    """Return whether `op` is a contraction, whose lanes lie along `contraction_lane`."""
    return isinstance(op, nn.NNOp) and op.ROLE is nn.Role.CONTRACTION


def contraction_lane(op: nn.NNOp) -> int:
    """Return the axis of the result along which a contraction computes: channels or columns."""
    return 1 if op.BY_CHANNEL else len(nn.shape_of(op.results[0])) - 1


@dataclass(frozen=True)
class ContractedAxis:
    """A reduction loop that walks one axis of both operands of a contraction."""

    axes: tuple[int, int]
    """The axis of the first and of the second operand."""
    extent: int
    is_whole: bool
    """Whether the loop walks all of the first operand's axis, not one of several groups."""


def shared_terms(op: nn.NNOp, lanes: int) -> list[ContractedAxis]:
    """Return the reduction loops that walk one axis of both operands of a contraction."""
    reads = reads_of(op)
    a, b = (next((r for r in reads if r.operand == i), None) for i in (0, 1))
    if a is None or b is None:
        return []
    shape = nn.shape_of(op.results[0])
    terms: list[ContractedAxis] = []
    for loop in a.loops:
        first, second = (_neighbours(read, loop, shape, lanes)[0] for read in (a, b))
        if first is not None and second is not None:
            extent = a.extents[loop] or 1
            is_whole = nn.shape_of(op.operands[0])[first] == extent
            terms.append(ContractedAxis((first, second), extent, is_whole))
    return terms


def lanes_meet(op: nn.NNOp, lanes: int) -> bool:
    """Return whether a contraction's lanes read one element of its first operand, or neighbours.

    They read unrelated elements if they are results of different groups.
    """
    shape, lane = nn.shape_of(op.results[0]), contraction_lane(op)
    first = (_neighbours(read, lane, shape, lanes) for read in reads_of(op) if read.operand == 0)
    return shape[lane] == 1 or all(same or axis is not None for axis, same in first)


def _step(
    read: OperandRead, access: OperandAccess, shape: tuple[int, ...], lanes: int
) -> OperandAccess:
    """Return the access of an operand through one read, given the access of the result."""
    reads = access.reads * read.times / max(nn.count(shape), 1)
    axis, same = None, access.same
    if access.axis is not None:
        axis, same = _neighbours(read, access.axis, shape, lanes)
    walked = {_neighbours(read, i, shape, lanes)[0] for i in (*access.walked, *read.loops)}
    guarded = access.guarded or read.guarded
    return OperandAccess(reads, axis, same, frozenset(i for i in walked if i is not None), guarded)


def _tiled(
    op: nn.NNOp, accesses: Sequence[OperandAccess], result: OperandAccess, lanes: int
) -> list[OperandAccess]:
    """Return the accesses of the operands of a contraction, which computes tiles of its result.

    Its lanes are neighbours in the second operand, and all products of a tile share its loads.
    """
    if len(accesses) < 2:
        return [result.apart() for _ in accesses]
    a, b, *rest = accesses
    scattered = OperandAccess(a.reads / SCATTERED, guarded=a.guarded)
    if result.axis != contraction_lane(op) or b.axis is None:
        apart = [result.apart() for _ in rest]
        return [scattered, OperandAccess(b.reads / SCATTERED, guarded=b.guarded), *apart]
    terms = shared_terms(op, lanes)
    walked = [frozenset(term.axes[i] for term in terms) for i in (0, 1)]
    if a.same and terms:
        a = replace(a, reads=a.reads / TILE, walked=walked[0])
    else:
        a = replace(scattered, axis=a.axis)
    return [a, replace(b, reads=b.reads / TILE, walked=walked[1]), *rest]


@lru_cache(maxsize=65536)
def _neighbours(
    read: OperandRead, value: int, shape: tuple[int, ...], lanes: int
) -> tuple[int | None, bool]:
    """Return the axis along which a read finds neighbours, and whether it finds one element.

    The lanes are neighbours along axis `value` of the result, or steps of that loop, and start at a
    multiple of their number there and in the operand.
    """
    extents = [*shape, *read.extents[len(shape) :]]
    size = extents[value] or 1
    # Whole blocks of lanes, even at the end of the extent: tails are read, too.
    lane, steps = len(extents), -(-size // lanes)
    extents[value] = max(size, 2)
    axes: list[int] = []
    for axis, index in enumerate(read.index):
        used = used_dims(index)
        if any(value in read.depends.get(dim, ()) for dim in used):
            return None, False
        if value not in used:
            continue
        split = [AffineExpr.dimension(dim) for dim in range(lane)]
        split[value] = split[value] * lanes + AffineExpr.dimension(lane)
        inside = with_dims(simplify(index, extents), split)
        form = linear(inside, [*extents[:value], max(steps, 2), *extents[value + 1 :], lanes])
        moving = {atom: k for atom, k in form.terms.items() if lane in used_dims(atom)}
        if not moving:
            continue
        start = [form.constant, *(k for atom, k in form.terms.items() if atom not in moving)]
        if moving != {AffineDimExpr(lane): 1} or any(k % lanes for k in start):
            return None, False
        axes.append(axis)
    # Along an axis of one element there are no other lanes to share the read.
    return (axes[0] if len(axes) == 1 else None), not axes and size > 1
