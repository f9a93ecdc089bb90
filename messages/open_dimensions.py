"""The error for a model whose inputs have unbound dimensions, with the arguments that bind them.

Python callers see `dims={...}`; command lines see `--dim name=value`.
"""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote
from typing import NamedTuple

from ..errors import CloptError
from .printable import printable

_USUAL_BATCH = "1"
_OPEN = "..."
"""Stands for a size that only the user knows."""


class OpenDimension(NamedTuple):
    """An axis of an input without a size, and the name that binds it."""

    name: str
    input: str
    axis: int


class OpenDimensionsError(CloptError):
    """Some dimensions of a model's inputs are not bound."""

    def __init__(self, inputs: Sequence[str], dimensions: Sequence[OpenDimension]) -> None:
        self.inputs = inputs
        """All inputs of the model."""
        self.dimensions = dimensions
        sizes = _sizes(dimensions)
        bindings = ", ".join(f'"{printable(name)}": {size}' for name, size in sizes.items())
        super().__init__(f"{_listed(dimensions)} not fixed; bind with dims={{{bindings}}}.")

    def for_options(self) -> str:
        """Return the sentence for a command line."""
        words = [
            f"--dim {quote(f'{name}={size}')}" for name, size in _sizes(self.dimensions).items()
        ]
        return f"{_listed(self.dimensions)} not fixed; bind with {' '.join(words)}"


def for_options(error: CloptError) -> str:
    """Return the sentence of `error` for the user of a command line."""
    return error.for_options() if isinstance(error, OpenDimensionsError) else str(error)


def _sizes(dimensions: Sequence[OpenDimension]) -> dict[str, str]:
    """Return a value to write for each name: 1 for a batch, dots for anything else."""
    inner = {dimension.name for dimension in dimensions if dimension.axis > 0}
    return {d.name: _OPEN if d.name in inner else _USUAL_BATCH for d in dimensions}


def _listed(dimensions: Sequence[OpenDimension]) -> str:
    """Return `the dimensions batch (axis 0 of 'a' and 'b'), s (axis 1 of 'a') are`."""
    places: dict[str, dict[int, list[str]]] = {}
    for name, source, axis in dimensions:
        places.setdefault(name, {}).setdefault(axis, []).append(f"'{printable(source)}'")
    items = [
        f"{printable(name)} ("
        + ", ".join(f"axis {axis} of {' and '.join(inputs)}" for axis, inputs in axes.items())
        + ")"
        for name, axes in places.items()
    ]
    one = len(items) == 1
    return f"the dimension{'' if one else 's'} {', '.join(items)} {'is' if one else 'are'}"
