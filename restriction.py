"""The changes by which a network for larger sizes computes the results for smaller ones, too.

Each change adds an input to the network, whose array depends on the smaller sizes alone.
`passes.nn.restriction` finds and applies changes. Importing this module does not load the compiler,
because models from the cache need it, too.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]


class ChangeKind(StrEnum):
    """What an operation does with an input of its own."""

    MASK = "mask"
    """Elements of an operand become neutral where the input, along an axis, is false."""
    SCALE = "scale"
    """The result is multiplied by the input, a number or one for each element of an axis."""
    MOVE = "move"
    """Elements move along an axis to where the input, the indices of their sources, says."""
    FEED = "feed"
    """The constant is the input itself."""


@dataclass(frozen=True)
class Change:
    """A change of one operation of a network, by its position."""

    kind: ChangeKind
    operation: int
    operand: int
    axis: int
    """The axis of the operand, or of the result; -1 for none."""
    input: int
    """The position of the added input. Changes whose arrays are always equal share one."""


def input_name(position: int) -> str:
    """Return the name of an added input."""
    return f"clopt.size.{position}"


def masks_of(changes: Sequence[Change], sizes: Mapping[str, int], largest: int) -> list[str]:
    """Return the inputs that mask axes of `largest` elements; `sizes` has those of all inputs."""
    masks = (input_name(each.input) for each in changes if each.kind is ChangeKind.MASK)
    return [name for name in dict.fromkeys(masks) if sizes[name] == largest]


def changes_text(changes: Sequence[Change]) -> str:
    """Return changes as JSON."""
    return json.dumps([*map(astuple, changes)])


@dataclass(frozen=True)
class Restriction:
    """How a network for larger sizes computes the results for certain smaller ones."""

    shapes: tuple[tuple[int, ...], ...]
    """The shapes of the results for the smaller sizes, leading boxes of the larger results."""
    changes: tuple[Change, ...] = ()
    arrays: tuple[Array, ...] = ()
    """The arrays of the added inputs."""

    @cached_property
    def inputs(self) -> Mapping[str, Array]:
        """The arrays of the added inputs by name."""
        return {input_name(i): array for i, array in enumerate(self.arrays)}

    def masks_end_at(self, size: int, largest: int) -> bool:
        """Return whether all masks of `largest` elements are true for the first `size` ones."""
        sizes = {name: array.size for name, array in self.inputs.items()}
        wanted = np.arange(largest) < size
        names = masks_of(self.changes, sizes, largest)
        return all(np.array_equal(self.inputs[name], wanted) for name in names)

    def as_json(self) -> str:
        """Return the restriction as text."""
        arrays = [
            (str(each.dtype), each.shape, b64encode(each.tobytes()).decode())
            for each in self.arrays
        ]
        return json.dumps([self.shapes, [*map(astuple, self.changes)], arrays])

    @staticmethod
    def of_json(text: str) -> Restriction:
        """Return the restriction that `as_json` wrote."""
        shapes, changes, arrays = json.loads(text)
        return Restriction(
            tuple(map(tuple, shapes)),
            tuple(Change(ChangeKind(kind), *numbers) for kind, *numbers in changes),
            tuple(
                np.frombuffer(b64decode(data), dtype).reshape(shape)
                for dtype, shape, data in arrays
            ),
        )
