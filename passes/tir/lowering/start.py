"""Step 2: start a sum from the bias that its reader would add.

This saves the addition but rounds differently, so the last bits of a result may change. It is
therefore done only if the following operations do not magnify such differences, as a division near
zero would.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects import affine, arith, memref
from xdsl.dialects.builtin import FloatAttr, f32
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr
from xdsl.rewriter import Rewriter

from ....dialects.tir import BlockOp, IterKind
from ..schedule.analysis import accesses, memref_of, temporary, users, written
from ..schedule.stage import index_value

_STEADY = (
    affine.ApplyOp,
    arith.AddfOp,
    arith.CmpfOp,
    arith.ConstantOp,
    arith.MaximumfOp,
    arith.MinimumfOp,
    arith.MulfOp,
    arith.SelectOp,
    arith.SubfOp,
    memref.LoadOp,
    memref.StoreOp,
)
"""Operations that map small differences of operands to small differences of results."""


@dataclass(frozen=True)
class _Biased:
    """A sum that a block reads once, to add a bias."""

    add: arith.AddfOp
    total: memref.LoadOp
    bias: memref.LoadOp
    start: memref.StoreOp
    """The store of the sum's initial value."""


def start_from_biases(blocks: Iterable[BlockOp]) -> None:
    """Start each float sum of a kernel from its bias; `blocks` are all blocks of the kernel."""
    for reader in blocks:
        body = reader.body.block
        if _is_last(reader) and all(isinstance(op, _STEADY) for op in body.ops):
            for biased in list(_biased(reader)):
                _start(reader, biased)


def _is_last(block: BlockOp) -> bool:
    return not block.is_reduction and all(temporary(b) is None for b in written(block))


def _biased(reader: BlockOp) -> Iterator[_Biased]:
    for add in reader.body.block.ops:
        if not isinstance(add, arith.AddfOp) or add.result.type != f32:
            continue
        for total, bias in ((add.lhs, add.rhs), (add.rhs, add.lhs)):
            first, second = total.owner, bias.owner
            if not isinstance(first, memref.LoadOp) or not isinstance(second, memref.LoadOp):
                continue
            start = _start_of(first, reader)
            if start is not None and temporary(second.memref) is None:
                yield _Biased(add, first, second, start)
                break


def _start_of(total: memref.LoadOp, reader: BlockOp) -> memref.StoreOp | None:
    """Return the store of zero that starts a sum, if `total` is the sum's only reader."""
    loads = [op for op in reader.body.block.ops if isinstance(op, memref.LoadOp)]
    if temporary(total.memref) is None or not total.res.has_one_use():
        return None
    if sum(op.memref is total.memref for op in loads) != 1:
        return None
    others = [block for block in users(total.memref) if block is not reader]
    sums = [block for block in others if IterKind.Reduce in block.iter_kinds]
    starts = [block for block in others if block not in sums]
    if len(sums) != 1 or len(starts) != 1 or not _adds_up(sums[0], total.memref):
        return None
    stores = starts[0].stores()
    return stores[0] if len(stores) == 1 and _is_zero(stores[0].value) else None


def _adds_up(block: BlockOp, buffer: SSAValue) -> bool:
    stores = block.stores()
    added = stores[0].value.owner if len(stores) == 1 else None
    if not isinstance(added, arith.AddfOp):
        return False
    return any(
        isinstance(operand.owner, memref.LoadOp) and operand.owner.memref is buffer
        for operand in added.operands
    )


def _is_zero(value: SSAValue) -> bool:
    owner = value.owner
    if not isinstance(owner, arith.ConstantOp) or not isinstance(owner.value, FloatAttr):
        return False
    return owner.value.value.data == 0


def _start(reader: BlockOp, biased: _Biased) -> None:
    """Load the bias at the start of the sum, if its indices are known there."""
    start = biased.start.parent_block()
    assert start is not None
    block = start.parent_op()
    assert isinstance(block, BlockOp)
    indices = _indices(reader, biased, block)
    if indices is None:
        return
    zero = biased.start.value
    biased.start.detach()
    load = memref.LoadOp.get(biased.bias.memref, [index_value(expr, start) for expr in indices])
    load.res.name_hint = biased.bias.res.name_hint
    biased.start.operands[0] = load.res
    start.add_ops([load, biased.start])
    if isinstance(zero.owner, arith.ConstantOp) and not zero.uses:
        Rewriter.erase_op(zero.owner)
    biased.add.result.replace_all_uses_with(biased.total.res)
    Rewriter.erase_op(biased.add)
    if not biased.bias.res.uses:
        Rewriter.erase_op(biased.bias)


def _indices(reader: BlockOp, biased: _Biased, block: BlockOp) -> Sequence[AffineExpr] | None:
    """Return the indices of the bias over the variables of the block that starts the sum.

    None if those variables do not determine them, or if some sums have no bias.
    """
    read = _at(reader, biased.total)
    stored = _at(block, biased.start)
    bias = _at(reader, biased.bias)
    dims: list[AffineExpr] = [AffineExpr.constant(0)] * len(reader.iter_extents)
    known = {i for i, extent in enumerate(reader.iter_extents) if extent == 1}
    for old, new in zip(read, stored, strict=True):
        if isinstance(old, AffineDimExpr) and new is not None:
            dims[old.position] = new
            known.add(old.position)
        elif not isinstance(old, AffineConstantExpr):
            return None
    if any(expr is None for expr in bias):
        return None
    used = {d for expr in bias if expr is not None for d in expr.used_dims()}
    elements = prod(memref_of(biased.bias.memref).get_shape())
    if not used <= known or prod(reader.iter_extents[d] for d in used) != elements:
        return None
    return [expr.replace_dims_and_symbols(dims, ()) for expr in bias if expr is not None]


def _at(block: BlockOp, access: memref.LoadOp | memref.StoreOp) -> list[AffineExpr | None]:
    return next(indices for op, indices in accesses(block, access.memref) if op is access)
