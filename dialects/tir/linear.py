"""Normal form of an index: a sum of multiples of dimensions, quotients and remainders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from .expressions import used_dims

_ADD = AffineBinaryOpKind.Add

Extents = Sequence[int | None]
"""The extent of each dimension, which starts at 0; None if it is unknown (a loaded index)."""


@dataclass(slots=True)  # not frozen: creating a frozen instance takes twice as long
class Linear:
    """`constant + sum of coefficient * atom`; an atom is a dimension, a floordiv or a mod.

    Instances are immutable by convention: forms share their terms.
    """

    terms: Mapping[AffineExpr, int]
    constant: int

    def __add__(self, other: Linear) -> Linear:
        constant = self.constant + other.constant
        if not other.terms:
            return Linear(self.terms, constant) if other.constant else self
        if not self.terms:
            return Linear(other.terms, constant)
        terms = dict(self.terms)
        for atom, coefficient in other.terms.items():
            total = terms.get(atom, 0) + coefficient
            if total:
                terms[atom] = total
            else:
                terms.pop(atom, None)
        return Linear(terms, constant)

    def scaled(self, factor: int) -> Linear:
        """Return this form times a constant."""
        if factor == 0:
            return Linear({}, 0)
        if factor == 1:
            return self
        return Linear({a: k * factor for a, k in self.terms.items()}, self.constant * factor)

    def strides(self, count: int) -> list[int | None]:
        """Return how far a step of each of `count` dimensions moves the form.

        None where the step is not constant: the dimension is in a quotient or a remainder.
        """
        result: list[int | None] = [0] * count
        for atom, coefficient in self.terms.items():
            if isinstance(atom, AffineDimExpr):
                if result[atom.position] is not None:
                    result[atom.position] = coefficient
            else:
                for dim in used_dims(atom):
                    result[dim] = None
        return result

    def expr(self) -> AffineExpr:
        """Return an equal expression: terms in order of appearance, the constant last."""
        total: AffineExpr | None = None
        for atom, coefficient in self.terms.items():
            term = atom if coefficient == 1 else atom * coefficient
            total = (
                term if total is None else AffineBinaryOpExpr(AffineBinaryOpKind.Add, total, term)
            )
        if total is None:
            return AffineExpr.constant(self.constant)
        return total + self.constant if self.constant else total


Bounds = tuple[int | None, int | None]
"""The minimum and the maximum; None for no bound."""


def constant_of(expr: AffineExpr) -> int:
    """Return the value of an expression that is a constant, such as a divisor."""
    assert isinstance(expr, AffineConstantExpr), "division is by a constant"
    return expr.value
