"""What the rules for CPUs ask about a target."""

from __future__ import annotations

from ....dialects import cl

_OPERAND_REGISTERS = 4
"""Vector registers that hold operands while the others accumulate."""


def accumulators(target: cl.Target, least: int = 1, most: int | None = None) -> int:
    """Vector registers in which a tile can add up, between `least` and `most`."""
    free = max(least, target.vector_registers - _OPERAND_REGISTERS)
    return free if most is None else min(free, most)


def bytes_per_cycle(target: cl.Target, size: float) -> float:
    """Bytes that a core reads in a cycle, of data read again after `size` bytes of other data."""
    is_near = size <= target.l2_cache_bytes
    return target.l2_bytes_per_cycle if is_near else target.memory_bytes_per_cycle


def divisors(number: int) -> tuple[int, ...]:
    """The numbers that divide a number, the smallest first."""
    return tuple(n for n in range(1, number + 1) if number % n == 0)
