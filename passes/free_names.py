"""Names that nothing has yet."""

from __future__ import annotations

from collections.abc import Container
from itertools import chain, count


def free_name(name: str, taken: Container[str]) -> str:
    """`name`, or `name` and the first number with which it is not taken."""
    numbered = (f"{name}_{i}" for i in count(1))
    return next(free for free in chain([name], numbered) if free not in taken)
