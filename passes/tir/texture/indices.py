"""Knowledge about index values at a place of a kernel: expressions, ranges, conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
from xdsl.dialects import affine, arith
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from ....dialects.tir.affine import Bounds, Linear, bounds, linear, simplify
from ..flat import compose
from ..lowering.space import COMPARISONS

Values: TypeAlias = "np.ndarray[Any, Any]"
_MOST_TRIED = 1 << 18
"""The maximum number of points tried if arithmetic on bounds does not prove an index."""


class Condition(NamedTuple):
    """`low <= expr <= high`; one of the bounds is None."""

    expr: AffineExpr
    low: int | None
    high: int | None

    def otherwise(self) -> Condition:
        """Return the negation."""
        if self.low is not None:
            return Condition(self.expr, None, self.low - 1)
        assert self.high is not None
        return Condition(self.expr, self.high + 1, None)


class Indices:
    """The index values of a kernel as expressions over leaves.

    A leaf is a loop variable, or a value that is not an affine expression of other values. Each
    leaf is a dimension of the expressions.
    """

    def __init__(self) -> None:
        self.leaves: list[SSAValue] = []
        self._exprs: dict[SSAValue, AffineExpr] = {}

    def dim(self, leaf: SSAValue) -> int:
        """Return the number of a leaf."""
        expr = self.expr(leaf)
        assert isinstance(expr, AffineDimExpr)
        return expr.position

    def expr(self, value: SSAValue) -> AffineExpr:
        """Return an index value as an expression over the leaves."""
        found = self._exprs.get(value)
        if found is None:
            found = self._exprs[value] = self._derive(value)
        return found

    def _derive(self, value: SSAValue) -> AffineExpr:
        match value.owner:
            case affine.ApplyOp() as op:
                return compose(op.map.data.results[0], [self.expr(arg) for arg in op.mapOperands])
            case arith.ConstantOp(value=IntegerAttr(value=number, type=IndexType())):
                return AffineExpr.constant(number.data)
            case _:
                self.leaves.append(value)
                return AffineExpr.dimension(len(self.leaves) - 1)

    def condition(self, value: SSAValue) -> Condition | None:
        """Return a comparison of two indices, or None for any other condition."""
        compare = value.owner
        if not isinstance(compare, arith.CmpiOp) or compare.lhs.type != IndexType():
            return None
        row = COMPARISONS.get(compare.predicate.value.data)
        if row is None:
            return None
        limit, below = row
        expr = self.expr(compare.lhs) - self.expr(compare.rhs)
        return Condition(expr, None, limit - 1) if below else Condition(expr, limit, None)


def conjuncts(condition: SSAValue) -> list[SSAValue]:
    """Return the values whose conjunction is `condition`."""
    owner = condition.owner
    if isinstance(owner, arith.AndIOp):
        return [*conjuncts(owner.lhs), *conjuncts(owner.rhs)]
    return [condition]


@dataclass(frozen=True)
class Knowledge:
    """The facts at a place: the ranges of leaves, and the conditions that hold."""

    indices: Indices
    ends: Mapping[int, int]
    """The exclusive upper bound of leaves whose lower bound is 0."""
    facts: tuple[Condition, ...] = ()

    def running(self, variable: SSAValue, extent: int) -> Knowledge:
        """Return the knowledge inside a loop."""
        return replace(self, ends={**self.ends, self.indices.dim(variable): extent})

    def when(self, condition: SSAValue) -> Knowledge:
        """Return the knowledge where an i1 value is true."""
        known = [self.indices.condition(part) for part in conjuncts(condition)]
        return self.assuming(*(one for one in known if one is not None))

    def unless(self, condition: SSAValue) -> Knowledge:
        """Return the knowledge where an i1 value is false."""
        parts = conjuncts(condition)
        known = self.indices.condition(parts[0])
        return self if known is None or len(parts) > 1 else self.assuming(known.otherwise())

    def assuming(self, *conditions: Condition) -> Knowledge:
        """Return the knowledge if `conditions` hold as well."""
        ends = dict(self.ends)
        for expr, _, high in conditions:
            if high is None:
                continue
            form = linear(expr, self.extents)
            for atom, factor in form.terms.items():
                rest = Linear({a: k for a, k in form.terms.items() if a != atom}, form.constant)
                least, _ = bounds(rest.expr(), self.extents)
                if factor < 1 or least is None:
                    continue
                found = _end_of(atom, (high - least) // factor + 1)
                if found is not None and found[0] in ends:
                    leaf, end = found
                    ends[leaf] = min(ends[leaf], max(end, 1))
        return replace(self, ends=ends, facts=(*self.facts, *conditions))

    @property
    def extents(self) -> list[int | None]:
        """The exclusive upper bound of each leaf, as `dialects.tir.affine` expects it."""
        return [self.ends.get(dim) for dim in range(len(self.indices.leaves))]

    def simplify(self, expr: AffineExpr) -> AffineExpr:
        """Return an equal expression with fewer divisions."""
        return simplify(expr, self._known_extents(expr))

    def bounds(self, expr: AffineExpr) -> Bounds:
        """Return the least and the greatest value of `expr`."""
        extents = self._known_extents(expr)
        forms = list(self._quotients(linear(expr, extents)))
        for leaf in expr.used_dims():
            low, high = self._integer_bounds(self.indices.leaves[leaf])
            if low is not None or high is not None:
                forms.append((Linear({AffineExpr.dimension(leaf): 1}, 0), low, high))
        for fact in self.facts:
            form = linear(fact.expr, extents)
            if form.terms:
                low = None if fact.low is None else fact.low - form.constant
                high = None if fact.high is None else fact.high - form.constant
                forms.append((Linear(form.terms, 0), low, high))
        return _bounds(linear(expr, extents), forms, extents)

    def _quotients(self, form: Linear) -> Iterator[tuple[Linear, int | None, int | None]]:
        """Yield the quotients in a sum whose dividends are bounded: `(4 i + j) floordiv 3`."""
        if not self.facts:
            return
        for atom in form.terms:
            match atom:
                case AffineBinaryOpExpr(
                    kind=AffineBinaryOpKind.FloorDiv,
                    lhs=dividend,
                    rhs=AffineConstantExpr(value=divisor),
                ):
                    low, high = self.bounds(dividend)
                    first = None if low is None else low // divisor
                    last = None if high is None else high // divisor
                    yield Linear({atom: 1}, 0), first, last
                case _:
                    pass

    def always_within(self, expr: AffineExpr, extent: int) -> bool:
        """Return whether `0 <= expr < extent` for all values, by trying them; False if too many.

        This proves more than `within`: tiles that overlap at the end of a fused loop repeat a
        variable in one index, and an unreachable place may have any index.
        """
        extents, leaves = self._known_extents(expr), expr.used_dims()
        count = prod(extents[leaf] or 0 for leaf in leaves)
        if not 0 < count <= _MOST_TRIED:  # 0 if a leaf has no known range
            return False
        points = [np.zeros(count, np.int64)] * len(extents)
        rest = np.arange(count)
        for leaf in leaves:
            points[leaf], rest = rest % (extents[leaf] or 1), rest // (extents[leaf] or 1)
        reached = np.full(count, fill_value=True)
        for fact in self.facts:
            if fact.expr.used_dims() <= leaves:
                value = _values(fact.expr, points)
                reached &= fact.low is None or value >= fact.low
                reached &= fact.high is None or value <= fact.high
        value = _values(expr, points)
        inside = (value >= 0) & (value < extent)
        return bool(np.all(inside | ~reached))

    def within(self, expr: AffineExpr, extent: int) -> bool:
        """Return whether `0 <= expr < extent` is proved by bounds."""
        low, high = self.bounds(expr)
        return low is not None and high is not None and low >= 0 and high < extent

    def outside(self, expr: AffineExpr, extent: int) -> bool:
        """Return whether `expr < 0` or `expr >= extent` is proved by bounds."""
        low, high = self.bounds(expr)
        return (high is not None and high < 0) or (low is not None and low >= extent)

    def _known_extents(self, expr: AffineExpr) -> list[int | None]:
        extents = self.extents
        for leaf in expr.used_dims():
            low, high = self._integer_bounds(self.indices.leaves[leaf])
            if extents[leaf] is None and low is not None and low >= 0 and high is not None:
                extents[leaf] = high + 1
        return extents

    def _integer_bounds(self, value: SSAValue) -> Bounds:
        """Return the range of an integer that a clamp or a minimum of indices yields."""
        if not isinstance(value, OpResult):
            return None, None
        match value.op:
            case arith.IndexCastOp(input=index) if index.type == IndexType():
                return self.bounds(self.indices.expr(index))
            case arith.IndexCastOp() as op:
                return self._integer_bounds(op.input)
            case arith.ConstantOp(value=IntegerAttr(value=number)):
                return number.data, number.data
            case arith.MaxSIOp() as op:
                lows = [low for low, _ in self._both(op) if low is not None]
                highs = [high for _, high in self._both(op)]
                return max(lows, default=None), _all(highs, max)
            case arith.MinSIOp() as op:
                highs = [high for _, high in self._both(op) if high is not None]
                lows = [low for low, _ in self._both(op)]
                return _all(lows, min), min(highs, default=None)
            case _:
                return None, None

    def _both(self, op: Operation) -> list[Bounds]:
        return [self._integer_bounds(operand) for operand in op.operands]


def _values(expr: AffineExpr, points: Sequence[Values]) -> Values:
    """Evaluate an expression at many points; `points` holds an array of values per leaf."""
    # An array supports the operators that `eval` applies to numbers.
    return np.asarray(expr.eval(cast("Sequence[int]", points), ()))


def _bounds(
    form: Linear, facts: Sequence[tuple[Linear, int | None, int | None]], extents: list[int | None]
) -> Bounds:
    """Return the bounds of a sum, given bounds of partial sums such as `8 i + j`."""
    low, high = bounds(form.expr(), extents)
    for i, (known, first, last) in enumerate(facts):
        factor = _factor(form, known)
        if factor == 0:
            continue
        rest = form + known.scaled(-factor)
        rest_low, rest_high = _bounds(rest, facts[i + 1 :], extents)
        if factor < 0:
            first, last = last, first
        if first is not None and rest_low is not None:
            low = rest_low + factor * first if low is None else max(low, rest_low + factor * first)
        if last is not None and rest_high is not None:
            whole = rest_high + factor * last
            high = whole if high is None else min(high, whole)
    return low, high


def _factor(form: Linear, part: Linear) -> int:
    """Return the factor with which `form` contains `part`; 0 if it does not."""
    factors = {
        form.terms.get(atom, 0) // k if form.terms.get(atom, 0) % k == 0 else 0
        for atom, k in part.terms.items()
    }
    return factors.pop() if len(factors) == 1 else 0


def _end_of(atom: AffineExpr, end: int) -> tuple[int, int] | None:
    """Return a leaf and its exclusive upper bound, given that `atom` is below `end`."""
    match atom:
        case AffineDimExpr(position=leaf):
            return leaf, end
        case AffineBinaryOpExpr(
            kind=AffineBinaryOpKind.FloorDiv,
            lhs=AffineDimExpr(position=leaf),
            rhs=AffineConstantExpr(value=divisor),
        ):
            return leaf, end * divisor
        case _:
            return None


def _all(values: Sequence[int | None], extreme: Callable[[list[int]], int]) -> int | None:
    known = [value for value in values if value is not None]
    return extreme(known) if len(known) == len(values) else None
