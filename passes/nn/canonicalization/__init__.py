"""The canonicalisation patterns of the nn operations, for the pass `canonicalize`."""

from __future__ import annotations

from xdsl.pattern_rewriter import RewritePattern

from . import (
    activation,
    elementwise,
    linear,
    movement,
    normalization,
    quantization,
    shape,
    window,
)

_FAMILIES = (
    elementwise,
    activation,
    normalization,
    shape,
    movement,
    window,
    linear,
    quantization,
)

_PATTERNS: dict[str, tuple[RewritePattern, ...]] = {}
for _family in _FAMILIES:
    for _name, _patterns in _family.PATTERNS.items():
        _PATTERNS[_name] = _PATTERNS.get(_name, ()) + _patterns


def patterns_for(name: str) -> tuple[RewritePattern, ...]:
    """Return the canonicalisation patterns of the operation called `name`."""
    return _PATTERNS.get(name, ())
