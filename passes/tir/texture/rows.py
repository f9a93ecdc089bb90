"""Reads of neighbours in the rows of plain buffers, as lanes of texels.

A work-item of a convolution reads a piece of a row of its operand, one element at a time. If the
piece starts at the same lane of a texel in all work-items, only expanded loops select lanes, and
one load of four elements serves up to four reads.
"""

from __future__ import annotations

from itertools import product
from math import prod

from xdsl.dialects import memref
from xdsl.dialects.builtin import NoneAttr
from xdsl.ir import Block, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from ....dialects import tir
from ....dialects.tir.affine import Linear, linear
from ..schedule.analysis import memref_of
from .access import PackedAccess, is_global_parameter, row_major
from .indices import Condition, Indices, Knowledge

_READS = 2
"""The minimum average number of elements used per texel."""


def row_access_of(op: memref.LoadOp, known: Knowledge) -> PackedAccess | None:
    """Return a load from a plain buffer as an access by texels, or None if lanes are unknown."""
    type_ = memref_of(op.memref)
    shape, count = type_.get_shape(), prod(type_.get_shape())
    if not is_global_parameter(op.memref) or not tir.is_texel_type(type_.element_type):
        return None
    is_dense = isinstance(type_.layout, NoneAttr) and not tir.is_texture(type_)
    if not is_dense or not count or count % tir.TEXEL:
        return None
    indices = [known.simplify(known.indices.expr(index)) for index in op.indices]
    address = row_major(shape, indices)
    reads = _reads(linear(address, known.extents), known)
    if reads is None or len(reads) < _READS * len({at // tir.TEXEL for at in reads}):
        return None
    texel, lane = known.simplify(address // tir.TEXEL), known.simplify(address % tir.TEXEL)
    return PackedAccess(op, (texel,), (texel,), (count // tir.TEXEL,), lane, in_row=True)


def _reads(address: Linear, known: Knowledge) -> set[int] | None:
    """Return the elements that unrolled loops read, relative to the start of a texel.

    None if work-items or other loops select lanes, or if a vector holds several elements.
    """
    chosen: list[tuple[int, int]] = []
    for atom, factor in address.terms.items():
        loops = [_expanded(known.indices, dim) for dim in atom.used_dims()]
        if any(loop is not None and loop.kind.data is tir.LoopKind.Vectorized for loop in loops):
            return None
        if factor % tir.TEXEL == 0:
            continue
        if not isinstance(atom, AffineDimExpr) or loops[0] is None:
            return None
        chosen.append((factor, loops[0].size))
    return {
        address.constant + sum(at * factor for at, (factor, _) in zip(point, chosen, strict=True))
        for point in product(*(range(size) for _, size in chosen))
    }


def _expanded(indices: Indices, dim: int) -> tir.ForOp | None:
    owner = indices.leaves[dim].owner
    loop = owner.parent_op() if isinstance(owner, Block) else None
    return loop if isinstance(loop, tir.ForOp) and loop.kind.data in tir.EXPANDED else None


def of_texels(part: SSAValue, known: Knowledge) -> Condition | None:
    """Return a condition on elements of a row as an equal condition on whole texels.

    None if the bound lies inside a texel, or the condition is about something else.
    """
    condition = known.indices.condition(part)
    if condition is None:
        return None
    form = linear(condition.expr, known.extents)
    if all(factor % tir.TEXEL == 0 for factor in form.terms.values()):
        return None
    if _reads(form, known) is None:
        return None
    low, high = condition.low, condition.high
    if low is not None and low % tir.TEXEL == 0:
        return Condition(_first_of_texel(condition.expr, known), low, None)
    if high is not None and (high + 1) % tir.TEXEL == 0:
        return Condition(_first_of_texel(condition.expr, known), None, high)
    return None


def _first_of_texel(expr: AffineExpr, known: Knowledge) -> AffineExpr:
    return known.simplify(expr // tir.TEXEL) * tir.TEXEL
