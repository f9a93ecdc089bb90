"""`tir-form-dots`: fuses four products of bytes, added to a sum, into one operation.

`tir-lower-blocks` leaves a loop over four terms within the lanes of a tile. If both operands have
the four bytes next to each other, one instruction can multiply and accumulate them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.affine import ApplyOp
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp, i32
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import cl, tir
from ...dialects.tir.affine import Linear, linear
from ...dialects.walking import operations_in
from ...targets import multiplies_bytes
from .schedule.analysis import memref_of
from .texture.fill import fill_of
from .texture.indices import Indices


class TIRFormDotsPass(ModulePass):
    """Replace loops over four byte products by `tir.dot`, on targets with `multiplies_bytes`.

    Applies to kernels without blocks, to sums in i32 of products of an unsigned and a signed byte.
    The loop must be unrolled, and each operand must be four adjacent bytes that start at a multiple
    of four, either all inside a border or all outside. Other loops are left unchanged.
    """

    name: ClassVar[str] = "tir-form-dots"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not multiplies_bytes(cl.target_of(op)):
            return
        for func in op.ops:
            if isinstance(func, tir.FuncOp):
                for loop in list(operations_in(func.body)):
                    if isinstance(loop, tir.ForOp) and loop.size == tir.QUAD:
                        _form(loop)


@dataclass(frozen=True)
class _Factor:
    """A byte of a product: a load, optionally guarded by a test that yields zero if it fails."""

    load: memref.LoadOp
    guard: scf.IfOp | None


def _form(loop: tir.ForOp) -> None:
    """Replace a loop over four byte products by `tir.dot`; leave any other loop unchanged."""
    ops = list(loop.body.block.ops)
    stores = [op for op in ops if isinstance(op, memref.StoreOp)]
    if loop.kind.data is not tir.LoopKind.Unrolled or len(stores) != 1:
        return
    if not all(isinstance(op, (*_PLAIN, scf.IfOp)) for op in ops):
        return
    (store,) = stores
    parts = _parts(store)
    if parts is None:
        return
    before, *factors = parts
    guards = [factor.guard for factor in factors if factor.guard is not None]
    if any(isinstance(op, scf.IfOp) and op not in guards for op in ops):
        return
    if not all(_is_quad(factor.load, loop) for factor in factors):
        return
    if _depends([*store.indices, *(guard.cond for guard in guards)], loop):
        return
    first = arith.ConstantOp(IntegerAttr(0, IndexType()))
    Rewriter.insert_op(first, InsertPoint.before(loop))
    loop.var.replace_all_uses_with(first.result)
    a, b = (_quad(factor) for factor in factors)
    dot = tir.DotOp(before.res, a, b)
    Rewriter.insert_op(dot, InsertPoint.before(store))
    store.operands[0] = dot.result
    for op in list(loop.body.block.ops):
        op.detach()
        Rewriter.insert_op(op, InsertPoint.before(loop))
    Rewriter.erase_op(loop)
    _erase_unused(dot)


_PLAIN = (
    memref.LoadOp,
    memref.StoreOp,
    ApplyOp,
    arith.ConstantOp,
    arith.ExtUIOp,
    arith.ExtSIOp,
    arith.MuliOp,
    arith.AddiOp,
    arith.AndIOp,
    arith.CmpiOp,
)


def _parts(store: memref.StoreOp) -> tuple[memref.LoadOp, _Factor, _Factor] | None:
    """Return the load of the sum, its unsigned factor and its signed factor, or None."""
    added = store.value.owner
    if not isinstance(added, arith.AddiOp):
        return None
    for before, product in ((added.lhs.owner, added.rhs.owner), (added.rhs.owner, added.lhs.owner)):
        if not isinstance(before, memref.LoadOp) or not isinstance(product, arith.MuliOp):
            continue
        same = before.memref is store.memref and list(before.indices) == list(store.indices)
        factors = {type(value.owner): value.owner for value in (product.lhs, product.rhs)}
        a, b = factors.get(arith.ExtUIOp), factors.get(arith.ExtSIOp)
        if not same or not isinstance(a, arith.ExtUIOp) or not isinstance(b, arith.ExtSIOp):
            continue
        x, w = _factor(a.input), _factor(b.input)
        if x is not None and w is not None:
            return before, x, w
    return None


def _factor(byte: SSAValue) -> _Factor | None:
    """Return the factor that is extended from `byte`, or None if it is neither of the two forms."""
    match byte.owner:
        case memref.LoadOp() as load:
            return _Factor(load, None)
        case scf.IfOp() as guard:
            fill = fill_of(guard)
            is_alone = fill is not None and fill.is_zero and fill.widening is None
            return _Factor(fill.load, guard) if fill is not None and is_alone else None
        case _:
            return None


def _quad(factor: _Factor) -> SSAValue:
    """Load the four bytes that start at a factor's byte, or zeros if its guard fails."""
    load = tir.LoadQuadOp(factor.load.memref, list(factor.load.indices))
    load.result.name_hint = factor.load.res.name_hint
    if factor.guard is None:
        Rewriter.insert_op(load, InsertPoint.before(factor.load))
        return load.result
    fill = fill_of(factor.guard)
    assert fill is not None, "checked by _factor"
    fill.hoist()
    zero = arith.ConstantOp(IntegerAttr(0, i32))
    guarded = scf.IfOp(
        factor.guard.cond,
        [i32],
        [load, scf.YieldOp(load.result)],
        [zero, scf.YieldOp(zero.result)],
    )
    Rewriter.insert_op(guarded, InsertPoint.before(factor.guard))
    return guarded.results[0]


def _is_quad(load: memref.LoadOp, loop: tir.ForOp) -> bool:
    """Return whether the iterations read four adjacent bytes that start at a multiple of four."""
    shape = memref_of(load.memref).get_shape()
    address = _address(load, loop)
    is_buffer = not (tir.is_texture(load.memref.type) or tir.is_row(load.memref))
    if address is None or not is_buffer or not shape or shape[-1] % tir.QUAD:
        return False
    indices, form = address
    position = indices.dim(loop.var)
    var = AffineExpr.dimension(position)
    moves = {atom for atom in form.terms if position in atom.used_dims()}
    others = [k for atom, k in form.terms.items() if atom not in moves]
    return (
        moves == {var}
        and form.terms[var] == 1
        and not any(k % tir.QUAD for k in (*others, form.constant))
    )


def _address(load: memref.LoadOp, loop: tir.ForOp) -> tuple[Indices, Linear] | None:
    """Return the linear address of the element that a load reads, over the surrounding loops."""
    indices = Indices()
    shape = memref_of(load.memref).get_shape()
    address: AffineExpr = AffineConstantExpr(0)
    for index, size in zip(load.indices, shape, strict=True):
        address = address * size + indices.expr(index)
    indices.dim(loop.var)
    extents: list[int | None] = [_extent(leaf) for leaf in indices.leaves]
    if None in extents:
        return None
    return indices, linear(address, extents)


def _extent(leaf: SSAValue) -> int | None:
    """Return the extent of the loop whose variable is `leaf`, or None."""
    around = leaf.owner.parent_op() if isinstance(leaf.owner, Block) else None
    return around.size if isinstance(around, tir.ForOp) else None


def _depends(values: Sequence[SSAValue], loop: tir.ForOp) -> bool:
    """Return whether values change between iterations of a loop."""
    pending = list(values)
    while pending:
        if loop.var in pending:
            return True
        owners = [value.owner for value in pending if isinstance(value.owner, Operation)]
        pending = [operand for owner in owners for operand in owner.operands]
    return False


def _erase_unused(dot: tir.DotOp) -> None:
    """Erase the operations that `dot` has replaced."""
    block = dot.parent_block()
    assert block is not None, "it was inserted"
    for op in reversed(list(block.ops)):
        is_plain = isinstance(op, (*_PLAIN, scf.IfOp)) and not isinstance(op, memref.StoreOp)
        if is_plain and op.results and not any(result.uses for result in op.results):
            Rewriter.erase_op(op)
