"""The interval that an index covers while some dimensions are fixed and the others vary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from ...dialects.tir.affine import Linear, bounds, linear
from ...dialects.tir.expressions import used_dims

_ZERO = Linear({}, 0)


@dataclass(frozen=True)
class Window:
    """The `size` values from `low` on, where `low` depends on the fixed dimensions."""

    low: Linear
    size: int


def whole(size: int) -> Window:
    """Return the window of a whole dimension."""
    return Window(_ZERO, size)


def window(expr: AffineExpr, extents: Sequence[int], fixed: AbstractSet[int]) -> Window:
    """Return the smallest provable interval of `expr` over all unfixed dimensions."""
    return _of_form(linear(expr, extents), extents, fixed)


def _of_form(form: Linear, extents: Sequence[int], fixed: AbstractSet[int]) -> Window:
    low, reach = Linear({}, form.constant), 0
    for atom, factor in form.terms.items():
        part = _of_atom(atom, extents, fixed)
        span = part.size - 1
        start = part.low if factor > 0 else part.low + Linear({}, span)
        low = low + start.scaled(factor)
        reach += abs(factor) * span
    return Window(low, reach + 1)


def _of_atom(atom: AffineExpr, extents: Sequence[int], fixed: AbstractSet[int]) -> Window:
    if used_dims(atom) <= fixed:
        return Window(Linear({atom: 1}, 0), 1)
    if isinstance(atom, AffineDimExpr):
        return whole(extents[atom.position])
    assert isinstance(atom, AffineBinaryOpExpr)
    assert isinstance(atom.rhs, AffineConstantExpr)
    divisor = atom.rhs.value
    inner = window(atom.lhs, extents, fixed)
    rest = linear(inner.low.expr() % divisor, extents)
    _, latest = bounds(rest.expr(), extents)
    # The greatest distance of the interval's start from a multiple of the divisor.
    latest = divisor - 1 if latest is None else latest
    if atom.kind is AffineBinaryOpKind.FloorDiv:
        size = (latest + inner.size - 1) // divisor + 1
        return Window(linear(inner.low.expr() // divisor, extents), size)
    if latest + inner.size <= divisor:
        return Window(rest, inner.size)
    return whole(divisor)


def hull(windows: Iterable[Window], size: int) -> Window:
    """Return an interval that contains all `windows` of a dimension with `size` elements."""
    low: Linear | None = None
    first = last = 0
    for item in windows:
        if low is None:
            low, last = item.low, item.size
            continue
        distance = item.low + low.scaled(-1)
        if distance.terms:
            return whole(size)
        first = min(first, distance.constant)
        last = max(last, distance.constant + item.size)
    if low is None or last - first >= size:
        return whole(size)
    return Window(low + Linear({}, first), last - first)
