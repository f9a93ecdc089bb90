"""Functions of our own that kernels call, printed once in a program for each width of vectors."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..builtins import WIDEST_CALL
from . import dots, exponential, hyperbolic, rounding, trigonometric


@dataclass(frozen=True)
class _Function:
    text: str
    """The definition, with places for the name and the types of the arguments."""
    widest: int
    """The widest vector that it takes."""
    lane: str = ""
    """A statement that `text` repeats for each lane, with its number i and what follows a vector's
    name to give the lane."""


_FUNCTIONS = {
    name: _Function(text, WIDEST_CALL)
    for module in (rounding, exponential, hyperbolic, trigonometric)
    for name, text in module.FUNCTIONS.items()
}
_FUNCTIONS.update({way.name: _Function(way.text, dots.WIDEST, way.lane) for way in dots.WAYS})
# It alone calls no builtin.
_FUNCTIONS[exponential.EXP] = replace(_FUNCTIONS[exponential.EXP], widest=16)
NAMES = frozenset(name + width for name in _FUNCTIONS for width in ("", "2", "3", "4", "8", "16"))
"""All names that these functions may have."""


def is_function(name: str) -> bool:
    """Whether a call is one of a function of ours."""
    return name in _FUNCTIONS


def widest_call(name: str) -> int:
    """The widest vector on which a function, ours or a builtin, is called."""
    return _FUNCTIONS[name].widest if name in _FUNCTIONS else WIDEST_CALL


def function_name(name: str, width: int) -> str:
    """The name of a function of ours for vectors of this width."""
    return name if width == 1 else f"{name}{width}"


def definition(name: str, width: int) -> str:
    """The text of a function for vectors of this width."""
    suffix = "" if width == 1 else str(width)
    function, digits = _FUNCTIONS[name], "0123456789abcdef"[:width]
    lanes = (function.lane.format(i=i, at=f".s{i}" if suffix else "") for i in digits)
    return function.text.format(
        type=f"float{suffix}",
        itype=f"int{suffix}",
        dtype=f"double{suffix}",
        width=width,
        # `any` looks at the sign of an integer.
        any="excess < 0" if width == 1 else "any(excess)",
        name=function_name(name, width),
        lanes="".join(lanes),
        sums=", ".join(f"s{i}" for i in digits),
    )
