"""The parts of an estimated time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Terms:
    """Microseconds that each resource needs; all but `start` overlap in part."""

    issue: float
    """Issuing the instructions, on all units at once."""
    latency: float
    """Waiting for results, where too few instructions are independent of each other."""
    cache: float
    """Moving lines between the caches."""
    memory: float
    """Moving bytes between the caches and memory."""
    start: float
    """Starting the launch and its work-items."""

    @classmethod
    def total(cls, launches: Iterable[Terms]) -> Terms:
        """Add up the terms of launches that follow each other."""
        launches = tuple(launches)
        return cls(*(sum(getattr(each, field.name) for each in launches) for field in fields(cls)))
