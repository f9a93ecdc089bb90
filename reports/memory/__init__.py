"""The memory use of a planned program on its device."""

from __future__ import annotations

from .count import memory_report
from .in_use import MemoryInUse, memory_in_use
from .values import BUFFER, IMAGE, IN_PLACE, KINDS, SEPARATE, MemoryReport, MemoryRow, Waste

__all__ = [
    "BUFFER",
    "IMAGE",
    "IN_PLACE",
    "KINDS",
    "SEPARATE",
    "MemoryInUse",
    "MemoryReport",
    "MemoryRow",
    "Waste",
    "memory_in_use",
    "memory_report",
]
