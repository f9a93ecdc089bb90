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
    """How kernels add four products of bytes to each sum. A CPU has AVX-512's `vpdpbusd` for 16 of
    them, as inline assembly (`asm`) or a function of LLVM's that the compiler knows by name
    (`intrinsic`); a GPU NVIDIA's `dp4a` as inline PTX (`ptx`), or the functions of
    cl_khr_integer_dot_product (`khr`). Plain arithmetic (`plain`), for tests, is slower than
    floats. With `off` floats are multiplied."""
    builtins: bool = fact(False)
    """Whether kernels call `mad(a, b, c)`, `select(b, a, c)` and, where a NaN may be lost, `fmax`
    instead of writing `a * b + c`, `c ? a : b` and comparisons."""
    arithmetic_functions: bool = fact(False)
    """Whether kernels of a GPU compute `erf` and `exp` of floats by arithmetic, whose error is
    known, and not by the functions of the device, which are longer."""
    half_totals: bool = fact(False)
    """Whether short sums in `half` are added up in `half`, too, because conversions cost much."""
    wide_accesses: str = fact("off", choices=("off", "global", "all"))
    """Where kernels move aligned vectors of 16 bytes as values of a vector type: in `global`
    memory, or in `all`, whose local arrays are then aligned. The device's compiler splits a
    `vload4`, whose address may be anything, into four loads."""
    biased_sums: bool = fact(False)
    """Whether a sum starts from the bias that is added to it, where that changes little."""
    rolled_loops: bool = fact(False)
    """Whether a loop that must stay a loop gets its bound as an argument. The device's compiler
    unrolls loops of known length, and the registers that this takes cost work-items in flight."""
    float_coordinates: bool = fact(False)
    """Whether kernels give samplers the centres of texels as floats, for devices whose compiler
    converts integers at every read. Floats are exact up to 2^22 texels; integers always are."""
    texels_of_rows: bool = fact(False)
    """Whether kernels between textures read neighbours in rows of plain buffers by four, where
    they know which of the four they take. The device's compiler does not join such reads itself."""
