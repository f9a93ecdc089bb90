"""What a core of a CPU does in a cycle: alike on all x86 cores with AVX2 that clopt knows."""

MADS_PER_CYCLE = 2.0
"""Multiply-adds of vectors that a core starts in a cycle: two units since Haswell (Intel's
Optimization Reference Manual, as are the two below; Zen has as many)."""
LOADS_PER_CYCLE = 2.0
"""Loads of a core in a cycle, of vectors or scalars: two units since Sandy Bridge."""
MAD_CYCLES = 4.0
"""Cycles until a multiply-add may add to the result of another one: since Skylake."""
LANE_CYCLES = 2.0
"""Cycles in which a core loads or stores one lane of a vector by itself (a guess)."""
L2_BYTES_PER_CYCLE = 32.0
"""Bytes that a core reads from its second data cache in a cycle."""
MEMORY_BYTES_PER_CYCLE = 8.0
"""Bytes that a core reads in a cycle from beyond its second data cache."""
