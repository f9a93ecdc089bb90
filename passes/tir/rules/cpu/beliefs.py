"""Beliefs about CPUs that the rules' models share, and limits of their tiles."""

from __future__ import annotations

from functools import lru_cache

from .....dialects import cl
from .....machine.core import (
    MAD_CYCLES,
    MEMORY_BYTES_PER_CYCLE,
    STORED_MAD_CYCLES,
    l2_bytes_per_cycle,
)
from ..shared.grid import MOST_PRIVATE

TILE_CYCLES = 20.0
"""Cycles of a contraction's tile beyond its arithmetic and accesses (a guess)."""
ITEM_CYCLES = 5000.0
"""Least cycles of work per work-item. Starting one takes about 10 ns (PoCL, Intel's runtime)."""
ITEMS_PER_CORE = 8
"""Work-items per core, so that all cores finish at about the same time although work-items differ
in length and cores have other work (a guess)."""
MOST_SUMS = 32
"""Vectors that a tile may add up. No CPU has more vector registers (AVX-512), and a step's text has
a statement for each."""
_OPERAND_REGISTERS = 4
"""Vector registers that hold operands while the others accumulate."""


def accumulators(target: cl.Target, least: int = 1, most: int = MOST_SUMS) -> int:
    """Return how many vector registers the model gives a tile for sums, at least `least`."""
    return min(max(least, target.machine.vector_registers - _OPERAND_REGISTERS), most)


def mad_cycles(target: cl.Target, sums: int, shared: int) -> float:
    """Return the latency of the multiply-adds of a step.

    Registers hold the sums, the vectors that several sums share, and one operand more. A sum
    without a register passes through memory in every step.
    """
    fits = sums + shared + 1 <= target.machine.vector_registers
    return MAD_CYCLES if fits else STORED_MAD_CYCLES


def turns(items: int, cores: int) -> float:
    """Return how many work-items a core takes one after another.

    This is the mean of two cases. Undisturbed cores that start together also end together.
    Otherwise the last work-item may start when all others run or are done.
    """
    return (-(-items // cores) + (items + cores - 1) / cores) / 2


def near_bytes(target: cl.Target) -> int:
    """Return the memory of a work-item that stays in the second cache and fits the stack."""
    return min(target.machine.l2_cache_bytes, MOST_PRIVATE)


def bytes_per_cycle(target: cl.Target, size: float) -> float:
    """Return the bytes per cycle at which a core reads data again after `size` other bytes."""
    is_near = size <= target.machine.l2_cache_bytes
    return l2_bytes_per_cycle(target.machine) if is_near else MEMORY_BYTES_PER_CYCLE


@lru_cache(1024)
def divisors(number: int) -> tuple[int, ...]:
    """Return the numbers that divide a number, the smallest first."""
    return tuple(n for n in range(1, number + 1) if number % n == 0)
