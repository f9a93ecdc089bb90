"""Comparison operators: swapped, negated, or folded at compile time from the range of a value."""

from __future__ import annotations

from math import inf

SWAPPED = {"==": "==", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
"""The equivalent operator for swapped operands."""

NEGATED = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
"""The negated operator; valid only if no operand is NaN."""


def decide(symbol: str, low: int | None, high: int | None) -> bool | None:
    """Return the result of comparing every number in `low..high` with 0, or None if it varies."""
    if symbol in ("!=", ">", ">="):
        opposite = decide(NEGATED[symbol], low, high)
        return None if opposite is None else not opposite
    least = -inf if low is None else low
    most = inf if high is None else high
    match symbol:
        case "==":
            return True if least == most == 0 else False if least > 0 or most < 0 else None
        case "<":
            return True if most < 0 else False if least >= 0 else None
        case _:
            return True if most <= 0 else False if least > 0 else None
