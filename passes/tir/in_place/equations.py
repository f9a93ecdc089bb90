"""Solves equations between the indices of two iterations for the loop variables.

An equation says that a sum of integer unknowns with known ranges is zero. Indices consist of
digits: in `64 r + c` with c below 64, equal sums have equal parts. The solver applies this argument
from the largest factor down. It uses only the ranges of unknowns, so its conclusions hold for any
other relations between them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class LinearTerm:
    """`factor * unknown`, with `low <= unknown <= high`. Unknowns with equal keys are the same.

    An unknown without a key is not solved for.
    """

    factor: int
    low: int
    high: int
    key: Hashable | None = None


@dataclass(frozen=True)
class Equation:
    """`constant` plus the sum of `terms` is zero."""

    terms: Sequence[LinearTerm]
    constant: int = 0


def solve(equations: Iterable[Equation]) -> dict[Hashable, int] | None:
    """Return the unknowns that can have only one value; None if no values satisfy all equations."""
    known: dict[Hashable, int] = {}
    equations = list(equations)
    while True:
        before = len(known)
        for equation in equations:
            found = _digits(_substituted(equation, known))
            if found is None:
                return None
            known |= found
        if len(known) == before:
            return known


def _substituted(equation: Equation, known: Mapping[Hashable, int]) -> Equation:
    constant, terms = equation.constant, list[LinearTerm]()
    for term in equation.terms:
        if term.key is not None and term.key in known:
            constant += term.factor * known[term.key]
        else:
            terms.append(term)
    return Equation(terms, constant)


def _digits(equation: Equation) -> dict[Hashable, int] | None:
    """Return the unknowns that one equation determines; None if it has no solution.

    The terms of one factor are a digit. It is determined if all smaller digits together cannot
    compensate a difference in it.
    """
    digits = _by_factor(equation.terms)
    constant = equation.constant
    known: dict[Hashable, int] = {}
    for i, (factor, terms) in enumerate(digits):
        low, high = constant, constant
        for smaller, others in digits[i + 1 :]:
            least, greatest = _range(others)
            low += smaller * least
            high += smaller * greatest
        # factor * digit = -rest, for a rest from low to high
        least, greatest = _range(terms)
        least, greatest = max(least, -(high // factor)), min(greatest, -low // factor)
        if least > greatest:
            return None
        if least < greatest:
            return known
        constant += factor * least
        if len(terms) == 1 and terms[0].key is not None:
            sign = 1 if terms[0].factor > 0 else -1
            known[terms[0].key] = sign * least
    return known if constant == 0 else None


def _by_factor(terms: Iterable[LinearTerm]) -> list[tuple[int, list[LinearTerm]]]:
    digits: dict[int, list[LinearTerm]] = {}
    for term in terms:
        if term.factor:
            digits.setdefault(abs(term.factor), []).append(term)
    return sorted(digits.items(), reverse=True)


def _range(terms: Iterable[LinearTerm]) -> tuple[int, int]:
    """Return the least and the greatest value of a digit."""
    low = high = 0
    for term in terms:
        low += term.low if term.factor > 0 else -term.high
        high += term.high if term.factor > 0 else -term.low
    return low, high
