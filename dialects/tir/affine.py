"""Range-aware simplification of index expressions.

Reshapes, packed layouts and tiled loops produce sums with `floordiv` and `mod` by constants. Most
of them fold if the extents of the dimensions are known: `(i * 8 + j) floordiv 8` is `i` if `j` is
less than 8. The rules are the usual identities of Euclidean division; a comment states each one
in the code.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from math import gcd
from typing import cast

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineSymExpr,
)

from .linear import Bounds, Extents, Linear, constant_of

_Kind = AffineBinaryOpKind


def simplify(expr: AffineExpr, extents: Extents) -> AffineExpr:
    """Return an expression with fewer divisions that is equal for dimensions in `extents`."""
    return linear(expr, extents).expr()


def bounds(expr: AffineExpr, extents: Extents) -> Bounds:
    """Return the minimum and maximum of `expr` over `extents`, inclusive (interval arithmetic)."""
    return bounds_of(linear(expr, extents), extents)


def linear(expr: AffineExpr, extents: Extents) -> Linear:
    """Return the normal form of `expr`."""
    # `isinstance` on an abstract class takes longer for a negative answer than all the rest.
    kind = type(expr)
    if kind is AffineBinaryOpExpr:
        return _linear_binary(cast(AffineBinaryOpExpr, expr), extents)
    if kind is AffineDimExpr:
        one = extents[cast(AffineDimExpr, expr).position] == 1
        return Linear({}, 0) if one else Linear({expr: 1}, 0)
    if kind is AffineConstantExpr:
        return Linear({}, cast(AffineConstantExpr, expr).value)
    raise ValueError(f"{expr} is neither a dimension, a constant nor a sum, product or quotient")


def _linear_binary(expr: AffineBinaryOpExpr, extents: Extents) -> Linear:
    return combine(expr.kind, linear(expr.lhs, extents), linear(expr.rhs, extents), extents)


def substitute(
    expr: AffineExpr, dims: Sequence[Linear], symbols: Sequence[Linear], extents: Extents
) -> Linear:
    """Return the normal form of `expr` with normal forms for its dimensions and symbols."""
    kind = type(expr)
    if kind is AffineDimExpr:
        return dims[cast(AffineDimExpr, expr).position]
    if kind is AffineConstantExpr:
        return Linear({}, cast(AffineConstantExpr, expr).value)
    if kind is AffineSymExpr:
        return symbols[cast(AffineSymExpr, expr).position]
    both = cast(AffineBinaryOpExpr, expr)
    lhs = substitute(both.lhs, dims, symbols, extents)
    return combine(both.kind, lhs, substitute(both.rhs, dims, symbols, extents), extents)


def normal(form: Linear, extents: Extents) -> Linear:
    """Return the normal form of a sum of normal forms."""
    # Atoms are in normal form, so only a quotient and a remainder can combine.
    return form if _recombine(form, extents) is form else linear(form.expr(), extents)


def combine(kind: AffineBinaryOpKind, lhs: Linear, rhs: Linear, extents: Extents) -> Linear:
    """Return the sum of two normal forms, or a product, quotient or remainder by a constant."""
    match kind:
        case _Kind.Add:
            return _recombine(lhs + rhs, extents)
        case _Kind.Mul:
            return rhs.scaled(lhs.constant) if not lhs.terms else lhs.scaled(rhs.constant)
        case _Kind.FloorDiv:
            return _floordiv(lhs, rhs.constant, extents)
        case _Kind.CeilDiv:
            shifted = lhs + Linear({}, rhs.constant - 1)
            return _floordiv(shifted, rhs.constant, extents)
        case _Kind.Mod:
            return _mod(lhs, rhs.constant, extents)


def _split(form: Linear, divisor: int) -> tuple[Linear, Linear]:
    """Split `form = divisor * quotient + rest`; the quotient takes the terms that divide evenly."""
    quotient = {a: k // divisor for a, k in form.terms.items() if k % divisor == 0}
    rest = {a: k for a, k in form.terms.items() if k % divisor}
    return (
        Linear(quotient, form.constant // divisor),
        Linear(rest, form.constant % divisor),
    )


def _separate(form: Linear, divisor: int, extents: Extents) -> tuple[int, Linear, Linear] | None:
    """Split `form = factor * coarse + fine` with `0 <= fine < factor`, a factor of the divisor."""
    for factor in sorted({gcd(k, divisor) for k in form.terms.values()} - {1}, reverse=True):
        coarse = {a: k // factor for a, k in form.terms.items() if k % factor == 0}
        rest = {a: k for a, k in form.terms.items() if k % factor}
        fine = Linear(rest, form.constant % factor)
        low, high = bounds_of(fine, extents)
        if low is not None and high is not None and 0 <= low and high < factor:
            return factor, Linear(coarse, form.constant // factor), fine
    return None


def _floordiv(form: Linear, divisor: int, extents: Extents) -> Linear:
    if divisor == 1:
        return form
    # (c q + r) floordiv c = q + r floordiv c
    quotient, rest = _split(form, divisor)
    low, high = bounds_of(rest, extents)
    if low is not None and high is not None and low // divisor == high // divisor:
        return quotient + Linear({}, low // divisor)
    # (g r + s) floordiv (g c) = r floordiv c, for 0 <= s < g
    if (parts := _separate(rest, divisor, extents)) is not None:
        factor, coarse, _ = parts
        return quotient + _floordiv(coarse, divisor // factor, extents)
    inner = _single_atom(rest, _Kind.FloorDiv)
    if inner is not None:
        # (x floordiv a) floordiv b = x floordiv (a b)
        return quotient + _floordiv(
            linear(inner.lhs, extents), constant_of(inner.rhs) * divisor, extents
        )
    atom = AffineBinaryOpExpr(_Kind.FloorDiv, rest.expr(), AffineExpr.constant(divisor))
    return quotient + Linear({atom: 1}, 0)


def _mod(form: Linear, divisor: int, extents: Extents) -> Linear:
    if divisor == 1:
        return Linear({}, 0)
    # (c q + r) mod c = r mod c
    _, rest = _split(form, divisor)
    low, high = bounds_of(rest, extents)
    if low is not None and high is not None and low // divisor == high // divisor:
        return rest + Linear({}, -(low // divisor) * divisor)
    # (g r + s) mod (g c) = g (r mod c) + s, for 0 <= s < g
    if (parts := _separate(rest, divisor, extents)) is not None:
        factor, coarse, fine = parts
        return _mod(coarse, divisor // factor, extents).scaled(factor) + fine
    nested = _single_atom(rest, _Kind.Mod)
    if nested is not None and constant_of(nested.rhs) % divisor == 0:
        # (x mod (a c)) mod c = x mod c
        return _mod(linear(nested.lhs, extents), divisor, extents)
    atom = AffineBinaryOpExpr(_Kind.Mod, rest.expr(), AffineExpr.constant(divisor))
    return Linear({atom: 1}, 0)


def _recombine(form: Linear, extents: Extents) -> Linear:
    """Apply `c (x floordiv c) + x mod c = x` to sums with both terms."""
    for atom, k in form.terms.items():
        if type(atom) is not AffineBinaryOpExpr or atom.kind is not _Kind.Mod:
            continue
        c = constant_of(atom.rhs)
        for other, other_k in form.terms.items():
            whole = _quotient_partner(other, atom, c)
            if whole is not None and other_k == k * c:
                rest = Linear(
                    {a: n for a, n in form.terms.items() if a is not atom and a is not other},
                    form.constant,
                )
                return _recombine(rest + linear(whole, extents).scaled(k), extents)
    return form


def _quotient_partner(
    candidate: AffineExpr, remainder: AffineBinaryOpExpr, divisor: int
) -> AffineExpr | None:
    """Return `divisor * candidate + remainder` if candidate is the matching quotient, else None."""
    if not (
        isinstance(candidate, AffineBinaryOpExpr)
        and candidate.kind is _Kind.FloorDiv
        and constant_of(candidate.rhs) == divisor
    ):
        return None
    if candidate.lhs == remainder.lhs:
        return remainder.lhs
    inner = candidate.lhs
    # x mod c was simplified from (x mod (a c)) mod c
    if (
        isinstance(inner, AffineBinaryOpExpr)
        and inner.kind is _Kind.Mod
        and inner.lhs == remainder.lhs
        and constant_of(inner.rhs) % divisor == 0
    ):
        return inner
    return None


def _single_atom(form: Linear, kind: AffineBinaryOpKind) -> AffineBinaryOpExpr | None:
    if form.constant == 0 and len(form.terms) == 1:
        ((atom, coefficient),) = form.terms.items()
        if coefficient == 1 and isinstance(atom, AffineBinaryOpExpr) and atom.kind is kind:
            return atom
    return None


def bounds_of(form: Linear, extents: Extents) -> Bounds:
    """Return the minimum and maximum of a normal form, inclusive."""
    low: int | None = form.constant
    high: int | None = form.constant
    for first, last in _ranges(form, extents):
        low = None if low is None or first is None else low + first
        high = None if high is None or last is None else high + last
    return low, high


def _ranges(form: Linear, extents: Extents) -> Iterator[Bounds]:
    """Yield the bounds of the parts of a sum that vary independently."""
    if any(type(x) is AffineBinaryOpExpr and x.kind is _Kind.FloorDiv for x in form.terms):
        for base, part in _independent(form, extents).items():
            yield _part_bounds(base, part, extents)
        return
    for atom, k in form.terms.items():
        yield _scaled_bounds(_atom_bounds(atom, extents), k, 1)


_Part = list[tuple[int, int]]
"""A sum of `k (x floordiv c)` over one x, as pairs of k and c; c is 1 for x itself."""


def _independent(form: Linear, extents: Extents) -> dict[AffineExpr, _Part]:
    """Group the terms by the value they depend on: terms of `k x + l (x floordiv c)` by x.

    x may be a sum, such as the index in a split loop.
    """
    parts: dict[AffineExpr, _Part] = {}
    terms = dict(form.terms)
    for atom in form.terms:
        if (inner := _stepped(atom, extents)) is None or len(inner.terms) < 2:
            continue
        factors = {divmod(terms.get(x, 0), k) for x, k in inner.terms.items()}
        factor, rest = next(iter(factors))
        if len(factors) == 1 and factor and not rest:
            parts[inner.expr()] = [(factor, 1)]
            terms = {x: k for x, k in terms.items() if x not in inner.terms}
    for atom, k in terms.items():
        base, divisor = _base_of(atom, form, extents, parts)
        parts.setdefault(base, []).append((k, divisor))
    return parts


_MOST_STEPS = 16
"""Values of a quotient, at most, for which bounds are computed step by step."""


def _stepped(atom: AffineExpr, extents: Extents) -> Linear | None:
    """Return the sum x of an atom `x floordiv c`, or None if it has a constant."""
    if not (isinstance(atom, AffineBinaryOpExpr) and atom.kind is _Kind.FloorDiv):
        return None
    inner = linear(atom.lhs, extents)
    return None if inner.constant else inner


def _base_of(
    atom: AffineExpr, form: Linear, extents: Extents, sums: Container[AffineExpr]
) -> tuple[AffineExpr, int]:
    """Return the x and c of an atom `x floordiv c` with few values, or the atom itself and 1.

    x is another atom of the form, one of the `sums` in it, or the dividend itself.
    """
    inner = _stepped(atom, extents)
    if inner is None or not isinstance(atom, AffineBinaryOpExpr):
        return atom, 1
    candidates = [
        (other, divisor)
        for other in form.terms
        if other is not atom and (divisor := _steps(atom, inner, other, extents)) is not None
    ]
    if list(inner.terms.values()) == [1] or inner.expr() in sums:
        candidates.append((inner.expr(), constant_of(atom.rhs)))
    for base, divisor in candidates:
        low, high = _base_bounds(base, extents)
        if low is not None and high is not None and high - low < _MOST_STEPS * divisor:
            return base, divisor
    return atom, 1


def _steps(
    atom: AffineBinaryOpExpr, inner: Linear, other: AffineExpr, extents: Extents
) -> int | None:
    """Return c if the atom `inner floordiv b` equals `other floordiv c`, else None.

    For a fused loop, `(128 g + l) floordiv 24` and `g floordiv 6` are such a pair: c is 32.
    """
    if not (isinstance(other, AffineBinaryOpExpr) and other.kind is _Kind.FloorDiv):
        return None
    whole = linear(other.lhs, extents)
    factor = 1
    if inner != whole:
        if inner.constant or list(inner.terms.values()) != [1]:
            return None
        factor = whole.terms.get(next(iter(inner.terms)), 0)
    divisor, rest = divmod(factor * constant_of(atom.rhs), constant_of(other.rhs))
    if rest or divisor < 2:
        return None
    quotient = _floordiv(Linear({other: 1}, 0), divisor, extents)
    return divisor if quotient == Linear({atom: 1}, 0) else None


def _part_bounds(base: AffineExpr, part: _Part, extents: Extents) -> Bounds:
    low, high = _base_bounds(base, extents)
    if len(part) == 1:
        ((k, divisor),) = part
        return _scaled_bounds((low, high), k, divisor)
    # The sum is linear between steps of its quotients, so its extremes are at the ends of pieces.
    assert low is not None, "few values have bounds"
    assert high is not None, "few values have bounds"
    ends = {low, high}
    for _, divisor in part:
        if divisor > 1:
            for step in range(-(-low // divisor) * divisor, high + 1, divisor):
                ends |= {max(step - 1, low), step}
    totals = [sum(k * (end // divisor) for k, divisor in part) for end in ends]
    return min(totals), max(totals)


def _scaled_bounds(bounds: Bounds, k: int, divisor: int) -> Bounds:
    """Return the bounds of `k (x floordiv divisor)` from the bounds of x."""
    low, high = bounds
    first = None if low is None else k * (low // divisor)
    last = None if high is None else k * (high // divisor)
    return (first, last) if k > 0 else (last, first)


def _base_bounds(base: AffineExpr, extents: Extents) -> Bounds:
    """Return the bounds of an atom, or of a sum of atoms."""
    is_sum = isinstance(base, AffineBinaryOpExpr) and base.kind in (_Kind.Add, _Kind.Mul)
    return bounds_of(linear(base, extents), extents) if is_sum else _atom_bounds(base, extents)


def _atom_bounds(atom: AffineExpr, extents: Extents) -> Bounds:
    if isinstance(atom, AffineDimExpr):
        extent = extents[atom.position]
        return (None, None) if extent is None else (0, max(extent - 1, 0))
    assert isinstance(atom, AffineBinaryOpExpr)
    divisor = constant_of(atom.rhs)
    low, high = bounds_of(linear(atom.lhs, extents), extents)
    if atom.kind is _Kind.Mod:
        return 0, divisor - 1
    return (
        None if low is None else low // divisor,
        None if high is None else high // divisor,
    )
