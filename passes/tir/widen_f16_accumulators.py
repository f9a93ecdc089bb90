"""`tir-widen-f16-accumulators`: splits long f16 sums into short ones, added up in f32.

The significand of an f16 has 11 bits: a sequential sum of n products loses about half a bit each
time n doubles. Short sums stay in f16, where arithmetic is fast, and an f32 accumulator adds them
up (blocked summation: Higham, "The Accuracy of Floating Point Summation", 1993).

On devices with `half_totals` the second accumulator is also f16, unless there are many sums. With m
sums of n products the error is at most (n + m) u times the sum of the absolute products, where u =
2^-11; a single sum would have n m u.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import arith, memref
from xdsl.dialects.affine import ApplyOp
from xdsl.dialects.builtin import (
    AffineMapAttr,
    Float16Type,
    Float32Type,
    FloatAttr,
    ModuleOp,
    f16,
    f32,
)
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import tir
from ...dialects.cl import target_of
from ...dialects.walking import operations_in
from .half_sums import MOST_HALVES
from .schedule.analysis import memref_of


@dataclass(frozen=True)
class TIRWidenF16AccumulatorsPass(ModulePass):
    """Limit an f16 accumulator to `most` products before an f32 one takes the sum.

    On devices with `half_totals` the limit is `window`, the products of a 3x3 window of four
    channels. Then another f16 accumulator takes the sum, or an f32 one if there are more than
    `most_sums`.

    Runs on kernels without blocks. It rewrites only sums in the form that `tir-lower-blocks` emits:
    one store of zero and one of an addition.
    """

    name: ClassVar[str] = "tir-widen-f16-accumulators"
    most: int = 16
    window: int = MOST_HALVES
    most_sums: int = 64

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        halves = target_of(op).compiler.half_totals
        lengths = _Lengths(self.window, self.most_sums) if halves else _Lengths(self.most, 0)
        for func in op.ops:
            if isinstance(func, tir.FuncOp):
                for inner in list(operations_in(func.body)):
                    if isinstance(inner, memref.AllocaOp) and (sum_ := _sum_of(inner)):
                        _widen(sum_, lengths)


@dataclass(frozen=True)
class _Lengths:
    """The products that an f16 accumulator adds, and the sums that a second one adds."""

    products: int
    sums: int


@dataclass(frozen=True)
class _Sum:
    """An f16 accumulator: its stores of zero and of each sum, and the loads of the result."""

    buffer: memref.AllocaOp
    init: memref.StoreOp
    update: memref.StoreOp
    reads: Sequence[memref.LoadOp]

    @property
    def roots(self) -> tuple[Operation, Operation]:
        """The statements of their common block that contain the initial and the updating store."""
        init, update = _ancestors(self.init), _ancestors(self.update)
        block = next(op.parent for op in init if any(op.parent is u.parent for u in update))
        first, second = (next(op for op in ops if op.parent is block) for ops in (init, update))
        return first, second

    @property
    def loops(self) -> list[tir.ForOp]:
        """The loops around the update, up to its root, outermost first."""
        _, root = self.roots
        around = _ancestors(self.update)
        inside = around[: around.index(root) + 1]
        return [op for op in reversed(inside) if isinstance(op, tir.ForOp)]


def _ancestors(op: Operation) -> list[Operation]:
    """Return the operation and its ancestors, innermost first."""
    found: list[Operation] = []
    around: Operation | None = op
    while around is not None:
        found.append(around)
        around = around.parent_op()
    return found


def _sum_of(buffer: memref.AllocaOp) -> _Sum | None:
    """Return the sum that a buffer of f16 accumulates, or None."""
    type_ = buffer.memref.type
    users = [use.operation for use in buffer.memref.uses]
    stores = [user for user in users if isinstance(user, memref.StoreOp)]
    loads = [user for user in users if isinstance(user, memref.LoadOp)]
    inits = [store for store in stores if isinstance(store.value.owner, arith.ConstantOp)]
    updates = [store for store in stores if isinstance(store.value.owner, arith.AddfOp)]
    if type_.element_type != f16 or (len(inits), len(updates), len(stores)) != (1, 1, 2):
        return None
    (init,), (update,) = inits, updates
    added = update.value.owner
    assert isinstance(added, arith.AddfOp)
    old = [load for load in loads if load.res in added.operands]
    if not _is_zero(init.value) or len(old) != 1 or list(old[0].indices) != list(update.indices):
        return None
    return _Sum(buffer, init, update, [load for load in loads if load is not old[0]])


def _is_zero(value: SSAValue) -> bool:
    """Return whether a constant is zero."""
    # Every short sum starts from this constant, so another value would be added several times.
    constant = value.owner
    assert isinstance(constant, arith.ConstantOp)
    return isinstance(constant.value, FloatAttr) and constant.value.value.data == 0


def _widen(sum_: _Sum, lengths: _Lengths) -> None:
    loops = sum_.loops
    spatial = _variables(sum_.update.indices)
    around = [loop.var in spatial or loop.kind.data.is_bound for loop in loops]
    extents = [1 if other else loop.size for loop, other in zip(loops, around, strict=True)]
    most = lengths.products
    if prod(extents) <= most:
        return
    place = _place(around, extents, most)
    if place is None:
        return
    loop = loops[place]
    chunk = _chunk(loop.size, most // max(1, prod(extents[place + 1 :])))
    sums = prod(extents[: place + 1]) // chunk
    total = _total(sum_, f16 if sums <= lengths.sums else f32)
    outer = loop if chunk == 1 else _strip(loop, chunk)
    nest = sum_.roots[0].clone()
    outer.body.block.add_op(nest)
    _write_flush(nest, sum_, total)
    _write_init(sum_, total)
    for read in sum_.reads:
        _read_total(read, total)


def _variables(values: Sequence[SSAValue]) -> set[SSAValue]:
    """Return all values that the indices depend on."""
    found: set[SSAValue] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        found.add(value)
        if isinstance(value.owner, Operation):
            pending += value.owner.operands
    return found


def _place(around: Sequence[bool], extents: Sequence[int], most: int) -> int | None:
    """Return the outermost reduction loop that runs at most `most` products, or the innermost.

    `around` marks the loops over accumulators or work-items. Return None if one is outermost.
    """
    # The nest that adds up the sums has these loops too, so it must lie outside them.
    legal = range(around.index(True) if True in around else len(around))
    fitting = [p for p in legal if prod(extents[p + 1 :]) <= most]
    return min(fitting, default=max(legal, default=None))


def _chunk(size: int, most: int) -> int:
    """Return the iterations of a loop that form one sum: a divisor of its extent."""
    return max(n for n in range(1, max(most, 1) + 1) if size % n == 0)


def _strip(loop: tir.ForOp, chunk: int) -> tir.ForOp:
    """Split a loop into chunks. Return the new outer loop."""
    name = loop.var.name_hint or "r"
    kind = loop.kind.data
    outer = tir.ForOp(kind, loop.size // chunk, hint=f"{name}o")
    inner = tir.ForOp(kind, chunk, hint=f"{name}i")
    Rewriter.insert_op(outer, InsertPoint.before(loop))
    d0, d1 = AffineExpr.dimension(0), AffineExpr.dimension(1)
    map_ = AffineMapAttr(AffineMap(2, 0, (d0 * chunk + d1,)))
    index = ApplyOp([outer.var, inner.var], map_)
    index.result.name_hint = name
    loop.var.replace_all_uses_with(index.result)
    body = inner.body.block
    body.add_op(index)
    for op in list(loop.body.block.ops):
        op.detach()
        body.add_op(op)
    outer.body.block.add_op(inner)
    Rewriter.erase_op(loop)
    return outer


def _total(sum_: _Sum, element: Float16Type | Float32Type) -> SSAValue:
    """Declare the accumulator of the short sums and return it."""
    type_ = sum_.buffer.memref.type
    alloca = memref.AllocaOp.get(
        element, shape=type_.get_shape(), layout=type_.layout, memory_space=type_.memory_space
    )
    alloca.memref.name_hint = f"{sum_.buffer.memref.name_hint or 'sum'}_total"
    Rewriter.insert_op(alloca, InsertPoint.after(sum_.buffer))
    return alloca.memref


def _write_flush(nest: Operation, sum_: _Sum, total: SSAValue) -> None:
    """Change `nest`, a copy of the nest that clears the sums, to first add each to its total."""
    stores = [op for op in nest.walk() if isinstance(op, memref.StoreOp)]
    for store in stores:
        if store.memref is not sum_.buffer.memref:
            Rewriter.erase_op(store)
            continue
        indices = list(store.indices)
        part = memref.LoadOp.get(store.memref, indices)
        wide = [] if _element(total) == f16 else [arith.ExtFOp(part.res, f32)]
        so_far = memref.LoadOp.get(total, indices)
        added = arith.AddfOp(so_far.res, wide[0].result if wide else part.res)
        result = memref.StoreOp.get(added.result, total, indices)
        Rewriter.insert_op([part, *wide, so_far, added, result], InsertPoint.before(store))


def _write_init(sum_: _Sum, total: SSAValue) -> None:
    zero = arith.ConstantOp(FloatAttr(0.0, _element(total)))
    store = memref.StoreOp.get(zero.result, total, list(sum_.init.indices))
    Rewriter.insert_op([zero, store], InsertPoint.before(sum_.init))


def _element(total: SSAValue) -> Float16Type | Float32Type:
    element = memref_of(total).element_type
    assert isinstance(element, Float16Type | Float32Type)
    return element


def _read_total(read: memref.LoadOp, total: SSAValue) -> None:
    """Read the total instead of the sum; an extension of the value to f32 is dropped."""
    load = memref.LoadOp.get(total, list(read.indices))
    load.res.name_hint = read.res.name_hint
    Rewriter.insert_op(load, InsertPoint.before(read))
    if load.res.type == f16:
        Rewriter.replace_op(read, [], [load.res])
        return
    for use in list(read.res.uses):
        if isinstance(use.operation, arith.ExtFOp):
            Rewriter.replace_op(use.operation, [], [load.res])
    if read.res.uses:
        narrow = arith.TruncFOp(load.res, f16)
        Rewriter.replace_op(read, [narrow], [narrow.result])
    else:
        Rewriter.erase_op(read)
