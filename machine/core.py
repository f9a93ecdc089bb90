"""Throughput and caches of a CPU core, the same on all known x86 cores with AVX2.

Sources are Intel's Optimization Reference Manual ("manual") and measurements.
"""

from __future__ import annotations

from .machine import MachineFacts

_MAD_UNITS = 2.0
"""Units for multiply-adds: two since Haswell (manual), and on Zen."""
LOADS_PER_CYCLE = 2.0
"""Loads issued per cycle, of vectors or scalars: two units since Sandy Bridge (manual)."""
MAD_CYCLES = 4.0
"""Latency of a multiply-add since Skylake (manual)."""
LANE_CYCLES = 2.0
"""Cycles to load or store one lane of a vector separately (conservative guess)."""
STORED_MAD_CYCLES = 12.0
"""Latency of a multiply-add whose sum passes through memory: 8 cycles more (measured on Zen 3)."""
MEMORY_BYTES_PER_CYCLE = 8.0
"""Bytes read from beyond L2 per cycle (measured on Zen 5: rows of a 4 MB matrix, a page apart)."""
LINE_BYTES = 64
"""Bytes of a line of a cache."""
L1_WAY_BYTES = 4096
"""Bytes of memory whose lines have different places in the first cache, which has 64 sets."""


def mads_per_cycle(machine: MachineFacts) -> float:
    """Return the vector multiply-adds that a core issues per cycle."""
    return _MAD_UNITS / machine.vector_passes


def gigahertz(machine: MachineFacts) -> float:
    """Return the clock of a core whose multiply-adds reach their measured rate."""
    return machine.mads_per_nanosecond / (machine.vector_width * mads_per_cycle(machine))


def l2_bytes_per_cycle(machine: MachineFacts) -> float:
    """Return the bytes read from L2 per cycle: half of the peak, which loops do not reach.

    At the peak, a core reads one of its vectors per cycle (manual).
    """
    return 4 * machine.vector_width / 2
