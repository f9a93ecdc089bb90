"""What the rules for CPUs ask about a target."""

from __future__ import annotations

from .....dialects import cl
from ..shared.grid import MOST_PRIVATE

MOST_SUMS = 32
"""Vectors that a tile may add up. No CPU has more vector registers (AVX-512), and a step's text has
a statement for each."""
_OPERAND_REGISTERS = 4
"""Vector registers that hold operands while the others accumulate."""


def accumulators(target: cl.Target, least: int = 1, most: int = MOST_SUMS) -> int:
    """Return how many vector registers a tile is believed to have for sums, at least `least`."""
    return min(max(least, target.machine.vector_registers - _OPERAND_REGISTERS), most)


def near_bytes(target: cl.Target) -> int:
    """Return the memory of a work-item that stays in the second cache and fits the stack."""
    return min(target.machine.l2_cache_bytes, MOST_PRIVATE)


def bytes_per_cycle(target: cl.Target, size: float) -> float:
    """Return the bytes per cycle at which a core reads data again after `size` other bytes."""
    is_near = size <= target.machine.l2_cache_bytes
    return target.machine.l2_bytes_per_cycle if is_near else target.machine.memory_bytes_per_cycle


def divisors(number: int) -> tuple[int, ...]:
    """Return the numbers that divide a number, the smallest first."""
    return tuple(n for n in range(1, number + 1) if number % n == 0)
