"""Numbers and names that programs stumble over."""

from __future__ import annotations

import math
import random

HUGE = 2**63 - 1

_INTEGERS = (0, 1, -1, 2, 3, 7, 255, 4096, 2**16, 2**20, 2**24, 2**31 - 1, 2**31, 2**32, 2**40)
_EXTREMES = (2**62, HUGE, -(2**63), -(2**31), -5)
_FLOATS = (0.0, -0.0, -1.0, 1e-45, 1e-9, 1e9, 3e38, math.inf, -math.inf, math.nan)

ODD_NAMES = (
    "*/",
    "/* x",
    "a\\\nb",
    "line\nbreak\r",
    '"quoted"',
    "%percent%s",
    "nul\0byte",
    "\u202edesrever\u202c",
    "\u2066isolated",
    "<script>alert(1)</script>",
    "../../etc/passwd",
    "a/b\\c",
    "h",
    "H",
    "int",
    "kernel",
    "get_global_id",
    "名前",
    "e\u0301\U0001f600",
    " ",
    "0",
    "#define X",
    "??/",
    "x" * 5000,
    "-",
    "@main",
    "\x1b[2J",
)
"""Names that end comments and strings, mislead readers, are words of C, or are too long."""


def odd_int(rng: random.Random) -> int:
    """A small, large or extreme number that fits 64 bits."""
    return rng.choice(_INTEGERS if rng.random() < 0.7 else _EXTREMES)


def odd_float(rng: random.Random) -> float:
    """A small, large, infinite or undefined number."""
    return rng.choice(_FLOATS)
