"""Errors for models whose program depends on sizes or values that only a run knows.

Each names the arguments that state them. Python callers see `dims={...}`; command lines see
`--dim name=value`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from shlex import quote
from typing import Any, NamedTuple

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


class OpenModelError(CloptError, ABC):
    """A model has no single program, because sizes or values of its inputs are not given."""

    def for_options(self) -> str:
        """Return the sentence for a command line."""
        return str(self)

    @abstractmethod
    def programs(self) -> str:
        """Return the part of a Python user's sentence on what has a program each, and a remedy."""

    @abstractmethod
    def as_json(self) -> dict[str, Any]:
        """Return the arguments of the error, which `open_model_error` reads."""


class OpenDimensionsError(OpenModelError):
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

    def programs(self) -> str:
        """Return the part of a Python user's sentence on what has a program each, and a remedy."""
        return f"size of its inputs, rounded up where possible: {str(self).rstrip('.')}"

    def names(self) -> list[str]:
        """Return the open dimensions."""
        return [*dict.fromkeys(each.name for each in self.dimensions)]

    def as_json(self) -> dict[str, Any]:
        """Return the arguments of the error, which `open_model_error` reads."""
        return {"inputs": list(self.inputs), "dimensions": list(self.dimensions)}


class OpenValuesError(OpenModelError):
    """Values of small inputs decide shapes of a model or the nodes that it computes."""

    def __init__(self, inputs: Iterable[str], sentence: str) -> None:
        """`sentence` describes the nodes that need the values of `inputs`."""
        self.inputs = tuple(inputs)
        super().__init__(sentence)

    @property
    def names(self) -> str:
        """The inputs as text."""
        return " and ".join(f"'{printable(name)}'" for name in self.inputs)

    def for_input_files(self) -> str:
        """Return the sentence for a command line that reads inputs from files."""
        words = [f"--input {quote(f'{name}=FILE.npy')}" for name in self.inputs]
        one = len(self.inputs) == 1
        return (
            f"the value{'' if one else 's'} of {self.names} decide{'s' if one else ''} what the "
            f"model computes; give {'it' if one else 'them'} by {' '.join(words)}"
        )

    def programs(self) -> str:
        """Return the part of a Python user's sentence on what has a program each, and a remedy."""
        return (
            f"value of {self.names}, which decide{'s' if len(self.inputs) == 1 else ''} shapes or "
            "branches; use constants instead"
        )

    def as_json(self) -> dict[str, Any]:
        """Return the arguments of the error, which `open_model_error` reads."""
        return {"inputs": list(self.inputs), "sentence": str(self)}


def for_options(error: CloptError) -> str:
    """Return the sentence of `error` for the user of a command line."""
    return error.for_options() if isinstance(error, OpenModelError) else str(error)


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
