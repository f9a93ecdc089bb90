"""Functions of our own that kernels call, printed once per program and vector width."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..builtins import WIDEST_CALL
from . import dots, exponential, hyperbolic, rounding, trigonometric


@dataclass(frozen=True)
class _Function:
    """A function: its definition and the vectors that it supports."""

    text: str
    """The definition, with placeholders for its name and the types of its arguments."""
    widest: int
    """The widest vector that it supports."""
    lane: str = ""
    """A statement that `text` repeats for each lane, with placeholders for the lane's number (`i`)
    and for the suffix that selects the lane of a vector (`at`)."""


_FUNCTIONS = {
    name: _Function(text, WIDEST_CALL)
    for module in (rounding, exponential, hyperbolic, trigonometric)
    for name, text in module.FUNCTIONS.items()
}
_FUNCTIONS.update({way.name: _Function(way.text, dots.WIDEST, way.lane) for way in dots.WAYS})
# The only function here that calls no builtin, so `WIDEST_CALL` does not limit it.
_FUNCTIONS[exponential.EXP] = replace(_FUNCTIONS[exponential.EXP], widest=16)
NAMES = frozenset(name + width for name in _FUNCTIONS for width in ("", "2", "3", "4", "8", "16"))
"""All names that these functions may have."""


def is_function(name: str) -> bool:
    """Return whether `name` is one of our functions."""
    return name in _FUNCTIONS


def widest_call(name: str) -> int:
    """Return the widest vector on which a function of ours or a builtin is called."""
    return _FUNCTIONS[name].widest if name in _FUNCTIONS else WIDEST_CALL


def function_name(name: str, width: int) -> str:
    """Return the name of one of our functions for vectors of this width."""
    return name if width == 1 else f"{name}{width}"


def definition(name: str, width: int) -> str:
    """Return the definition of a function for vectors of this width."""
    suffix = "" if width == 1 else str(width)
    function, digits = _FUNCTIONS[name], "0123456789abcdef"[:width]
    lanes = (function.lane.format(i=i, at=f".s{i}" if suffix else "") for i in digits)
    return function.text.format(
        type=f"float{suffix}",
        itype=f"int{suffix}",
        dtype=f"double{suffix}",
        width=width,
        # For vectors, `any` tests the sign bit of each lane.
        any="excess < 0" if width == 1 else "any(excess)",
        name=function_name(name, width),
        lanes="".join(lanes),
        sums=", ".join(f"s{i}" for i in digits),
    )
