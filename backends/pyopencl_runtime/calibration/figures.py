"""Derivation of target facts from clock readings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from ....machine.facts import Fact
from ....machine.target import Target
from ..devices import AVX512_REGISTERS
from .readings import WIDTHS, Readings

AS_FAST = 0.95
"""Least speed of a tile in wide vectors, relative to narrow ones, on processors that have wide
vectors.

Arithmetic is not everything: kernels with wide vectors load less and are shorter. On Zen 4 with
PoCL, where both tiles are equally fast, ten networks took 0.79 to 0.99 of the time and one took
1.01."""
CLEARLY_FASTER = 1.2
"""The same if the operating system does not report wide vectors: they may be pairs of narrow ones.
"""
_TWO_PASSES = 1.35
"""The same for units of the vectors' width: 1.0 to 1.25 on Zen 4, 1.5 to 2 on Xeons and Zen 5."""


@dataclass(frozen=True)
class Figure:
    """A measured fact, with a comment on its source."""

    value: Fact
    comment: str


_LEAST_TURN = 0.1
"""Least time of a turn in microseconds: 0 would mean that it was not measured."""
_LEAST = 1e-15
"""Least time in seconds: prevents a division by zero if a coarse clock did not advance."""


def figures_of(readings: Readings, unmeasured: Target) -> dict[str, Figure]:
    """Return the facts that follow from `readings`, by name; `unmeasured` holds the other facts.

    Vectors are wide if most rounds find them fast enough. Other load on the machine can only slow
    down arithmetic, copies and launches, so their fastest times count.
    """
    rounds = [[max(time, _LEAST) for time in times] for times in readings.tiles]
    narrow, wide = (_rate(_fast(times)) for times in zip(*rounds, strict=True))
    gain = median(times[0] / times[1] for times in rounds)
    has_wide = unmeasured.machine.vector_registers >= AVX512_REGISTERS
    is_wide = gain >= (AS_FAST if has_wide else CLEARLY_FASTER)
    width = WIDTHS[is_wide]
    figures = {
        "vector_width": Figure(
            width, f"{WIDTHS[1]} lanes take {1 / gain:.2f} of the time of {WIDTHS[0]}"
        ),
        "mads_per_nanosecond": Figure(
            wide if is_wide else narrow, f"a tile of accumulators of {width} lanes"
        ),
        "bandwidth": Figure(
            _rate(min(readings.copies)), "a copy of 64 MiB, bytes read and written"
        ),
    }
    if readings.launches:
        figures["launch_microseconds"] = Figure(
            _rounded(1e6 * min(readings.launches)),
            "added to each of many small kernels",
        )
    if readings.turns:
        figures["turn_microseconds"] = Figure(
            max(_rounded(1e6 * median(readings.turns)), _LEAST_TURN),
            "added to each of several turns of such a kernel",
        )
    if is_wide:
        figures["vector_registers"] = Figure(AVX512_REGISTERS, "those of 512-bit vectors")
        if gain < _TWO_PASSES:
            figures["vector_passes"] = Figure(2, "these take about twice as long as narrow ones")
        cost = unmeasured.machine.winograd_transform_cost
        figures["winograd_transform_cost"] = Figure(
            _rounded(gain * cost),
            f"{cost:g} of the slower products: transforms wait for memory",
        )
    return figures


def _fast(times: Sequence[float]) -> float:
    """Return the time that the fastest tenth of the rounds keeps to; one outlier does not decide.

    Six calibrations of a busy machine (Zen with AVX2, Intel's runtime) had medians of 25 to 32
    multiply-adds per nanosecond, and 34 to 38 in the fastest tenth.
    """
    return sorted(times)[len(times) // 10]


def _rate(seconds: float) -> float:
    """Return the rate per nanosecond of something that takes `seconds`."""
    return _rounded(1e-9 / max(seconds, _LEAST))


def _rounded(figure: float) -> float:
    """Round to two significant digits, which a second run reproduces."""
    return float(f"{figure:.2g}")
