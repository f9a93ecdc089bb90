"""Unused names for symbols and kernels."""

from __future__ import annotations

from collections.abc import Container
from itertools import chain, count


def free_name(name: str, taken: Container[str]) -> str:
    """Return `name`, or `name_1`, `name_2`, … if `taken` contains it."""
    numbered = (f"{name}_{i}" for i in count(1))
    return next(free for free in chain([name], numbered) if free not in taken)
