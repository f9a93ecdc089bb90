"""The NDRange that writes the leading units of a kernel's results, as a function of their number.

Work-items along one dimension are left out if all that they write lies in later units. The fewest
work-items for each number of units are found in a table, and a formula is fitted to it that is
never smaller.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineDimExpr, AffineExpr

from ....dialects import tir
from ....dialects.ranged_size import RangedSize
from ....dialects.tir.affine import bounds_of, linear
from ....dialects.tir.expressions import used_dims
from ....dialects.tir.linear import Extents, Linear, constant_of
from .flow import KernelFlow


class _Axis(NamedTuple):
    """A dimension of the NDRange that can be shortened."""

    number: int
    dim: int
    length: int
    """Its work-groups in a kernel with groups, else its work-items."""
    items: int
    """Work-items in each of them."""


def ranged_sizes(
    flow: KernelFlow, written: Sequence[AffineExpr], largest: int
) -> list[RangedSize] | None:
    """Return the global sizes for 1 to `largest` units, or None if they stay the same.

    `written` are the units that stores write.
    """
    best, least = None, 1.0
    for axis in _axes(flow):
        low = [_lower(linear(unit, flow.extents), axis.dim, flow.extents) for unit in written]
        found = _fitted(axis, low, flow.local_size, largest)
        if found is None:
            continue
        share = sum(map(found.at, range(1, largest + 1))) / (found.at(largest) * largest)
        if share < least:
            sizes = [RangedSize.fixed(size) for size in flow.global_size]
            sizes[axis.number] = found
            best, least = sizes, share
    return best


def _axes(flow: KernelFlow) -> Iterator[_Axis]:
    for number, total in enumerate(flow.global_size):
        letter = "xyz"[number]
        dim = flow.bound.get(tir.LoopKind(f"global_{letter}"))
        if dim is not None:
            yield _Axis(number, dim, total, 1)
        dim = flow.bound.get(tir.LoopKind(f"group_{letter}"))
        if dim is not None:
            group = flow.local_size[number]
            yield _Axis(number, dim, total // group, group)


def _fitted(
    axis: _Axis, low: Sequence[AffineExpr], local_size: Sequence[int], largest: int
) -> RangedSize | None:
    """Return the size of an axis; `low` are the first units that its indices write."""
    group = local_size[axis.number] if local_size and axis.items == 1 else 1
    count = axis.length // group
    index = np.arange(axis.length, dtype=np.int64)
    needed = np.ones(largest, np.int64)
    for expr in low:
        # `eval` only adds, multiplies and divides, so it accepts arrays as well as integers.
        first = np.broadcast_to(np.asarray(expr.eval([index], [])), index.shape)  # pyright: ignore[reportArgumentType]
        ahead = np.minimum.accumulate(first[::-1])[::-1]
        indices = np.searchsorted(ahead, np.arange(1, largest + 1), side="left")
        needed = np.maximum(needed, -(-indices // group))
    candidates = {Fraction(count, largest)}
    candidates |= {1 / (slope * group) for slope in map(_slope, low) if slope > 0}
    sizes = (_formula(slope, needed, count, axis.items * group) for slope in candidates)
    return min(
        (size for size in sizes if size is not None),
        key=lambda size: sum(map(size.at, range(1, largest + 1))),
        default=None,
    )


def _formula(slope: Fraction, needed: np.ndarray, count: int, step: int) -> RangedSize | None:
    """Return `step * ceildiv(slope * s + offset)` that is never less than `step * needed`.

    It is `step * count` for the last s; None if there is no such formula.
    """
    factor, divisor, largest = slope.numerator, slope.denominator, len(needed)
    values = np.arange(1, largest + 1)
    offset = max(
        int((divisor * (needed - 1) + 1 - factor * values).max()),
        divisor * (count - 1) + 1 - factor * largest,
    )
    if -(-(factor * largest + offset) // divisor) != count:
        return None
    if divisor == 1 and not offset:
        return RangedSize(step * factor, 1, 0, 1)
    return RangedSize(step, factor, offset, divisor)


def _lower(form: Linear, dim: int, extents: Extents) -> AffineExpr:
    """Return an expression over dimension 0 that is at most `form` where `dim` has its value."""
    others = {atom: k for atom, k in form.terms.items() if dim not in used_dims(atom)}
    low, _ = bounds_of(Linear(others, form.constant), extents)
    assert low is not None, "loops have an end"
    total: AffineExpr = AffineExpr.constant(low)
    for atom, factor in form.terms.items():
        if dim not in used_dims(atom):
            continue
        if isinstance(atom, AffineDimExpr):
            total = total + AffineExpr.dimension(0) * factor
            continue
        assert isinstance(atom, AffineBinaryOpExpr)
        divisor, inner = constant_of(atom.rhs), linear(atom.lhs, extents)
        if atom.kind is AffineBinaryOpKind.Mod:
            total = total + min(0, factor * (divisor - 1))
        elif factor > 0:
            total = total + (_lower(inner, dim, extents) // divisor) * factor
        else:
            most = _lower(inner.scaled(-1), dim, extents) * -1
            total = total + (most // divisor) * factor
    return total


def _slope(expr: AffineExpr) -> Fraction:
    """Return how fast the growing terms of an expression grow with its dimension."""
    if isinstance(expr, AffineDimExpr):
        return Fraction(1)
    if not isinstance(expr, AffineBinaryOpExpr):
        return Fraction(0)
    left = _slope(expr.lhs)
    match expr.kind:
        case AffineBinaryOpKind.Add:
            return max(left, Fraction(0)) + max(_slope(expr.rhs), Fraction(0))
        case AffineBinaryOpKind.Mul:
            return left * constant_of(expr.rhs)
        case AffineBinaryOpKind.FloorDiv:
            return left / constant_of(expr.rhs)
        case _:
            return Fraction(0)
