"""Habits of a driver's compiler that the emitted text works around."""

from __future__ import annotations

from dataclasses import dataclass

from .facts import FactTable, fact

CPU_DOTS = ("plain", "asm", "intrinsic")
GPU_DOTS = ("plain", "ptx", "khr")
DOT_CHOICES = tuple(dict.fromkeys(("off", *CPU_DOTS, *GPU_DOTS)))


@dataclass(frozen=True)
class CompilerFacts(FactTable):
    """Habits of a driver's compiler that the emitted text works around."""

    dot_product: str = fact("off", choices=DOT_CHOICES)
    """How kernels accumulate products of four bytes. CPUs use `vpdpbusd` of AVX-512, as inline
    assembly (`asm`) or as an LLVM function that the compiler recognises (`intrinsic`). GPUs use
    NVIDIA's `dp4a` as inline PTX (`ptx`), or cl_khr_integer_dot_product (`khr`). `plain` is
    ordinary arithmetic for tests, slower than floats. With `off` kernels multiply floats."""
    builtins: bool = fact(False)
    """Whether kernels call `mad(a, b, c)`, `select(b, a, c)` and, where NaN need not propagate,
    `fmax` instead of `a * b + c`, `c ? a : b` and comparisons."""
    arithmetic_functions: bool = fact(False)
    """Whether GPU kernels compute `erf` and `exp` of floats by arithmetic with a known error,
    because the device's functions are longer."""
    half_totals: bool = fact(False)
    """Whether short sums in `half` are also accumulated in `half`, because conversions are
    expensive."""
    wide_accesses: str = fact("off", choices=("off", "global", "all"))
    """Where kernels access aligned 16-byte vectors through a vector type: in `global` memory, or in
    `all`, with aligned local arrays. The device's compiler splits `vload4`, which promises no
    alignment, into four loads."""
    biased_sums: bool = fact(False)
    """Whether a sum starts from its bias where that changes the result little."""
    rolled_loops: bool = fact(False)
    """Whether a loop that must stay a loop gets its bound as an argument. The device's compiler
    unrolls loops of known length, and the additional registers reduce the waves in flight."""
    float_coordinates: bool = fact(False)
    """Whether kernels pass texel centres to samplers as floats, because the device's compiler
    converts integers at every read. Floats are exact up to 2^22 texels, integers always."""
    texels_of_rows: bool = fact(False)
    """Whether kernels between textures read four neighbours of a plain row at once if their
    alignment is known. The device's compiler does not merge such reads itself."""
