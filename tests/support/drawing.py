"""Draws values of the IR, by their positions.

Hypothesis prints each value that a failing example draws. It takes IR for dataclasses and follows
their fields through all uses and parents, which does not end in any reasonable time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


def pick(data: st.DataObject, values: Sequence[T]) -> T:
    """One of the values."""
    return values[data.draw(st.integers(0, len(values) - 1))]


def pick_some(data: st.DataObject, values: Sequence[T], low: int, high: int) -> list[T]:
    """`low` to `high` of the values, perhaps one of them several times."""
    positions = st.lists(st.integers(0, len(values) - 1), min_size=low, max_size=high)
    return [values[i] for i in data.draw(positions)]


def shuffle(data: st.DataObject, values: Sequence[T]) -> list[T]:
    """The values in any order."""
    return [values[i] for i in data.draw(st.permutations(range(len(values))))]
