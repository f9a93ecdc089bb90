"""Comparison operators: turned around, negated, and decided where the range of a value does so."""

from __future__ import annotations

from math import inf

SWAPPED = {"==": "==", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
"""The operator that says the same of operands in the other order."""

NEGATED = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
"""The operator that says the opposite, of numbers that are ordered."""


def decide(symbol: str, low: int | None, high: int | None) -> bool | None:
    """The result of comparing a number in `low..high` with 0, if there is only one."""
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
