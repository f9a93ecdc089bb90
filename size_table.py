"""The programs that serve sizes of open dimensions, as plain data for saved models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .errors import CloptError
from .messages.printable import printable
from .restriction import input_name
from .size_range import SizeRange

if TYPE_CHECKING:
    from .backends.pyopencl_runtime.boxes import Shapes
    from .tensor_info import TensorInfo

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

Sizes: TypeAlias = tuple[int, ...]
"""The size of each open dimension."""


@dataclass(frozen=True)
class ServedSizes:
    """How a program serves certain sizes."""

    program: int
    value: int | None = None
    """The value of the ranged dimension for which fewer work-items suffice; None if all are needed.
    """
    shapes: tuple[tuple[int, ...], ...] | None = None
    """The shapes of the outputs, if the program is for larger sizes; None if it is for these alone.
    """
    arrays: tuple[str, ...] = ()
    """The keys of the arrays that tell the program the sizes."""


@dataclass(frozen=True)
class SizeTable:
    """All sizes that a model serves; program 0 is that for the largest."""

    inputs: Sequence[TensorInfo]
    outputs: Sequence[TensorInfo]
    ranges: Mapping[str, SizeRange]
    """The range of each open dimension, in the order of `Sizes`."""
    rows: Mapping[Sizes, ServedSizes]
    arrays: Mapping[str, Array]

    @cached_property
    def programs(self) -> int:
        """The number of programs."""
        return 1 + max(row.program for row in self.rows.values())

    def row(self, dims: Mapping[str, int]) -> ServedSizes:
        """Return how these sizes are served; raise CloptError if they are not."""
        for name, size in dims.items():
            self.ranges[name].check(name, size)
        row = self.rows.get(tuple(dims[name] for name in self.ranges))
        if row is None:
            sizes = ", ".join(f"{printable(name)}={size}" for name, size in dims.items())
            raise CloptError(f"The model serves no {sizes}; it serves {self.served}.")
        return row

    @cached_property
    def served(self) -> str:
        """The sizes as text, such as `n of 2 to 8 and 16`."""
        texts: list[str] = []
        for i, name in enumerate(self.ranges):
            runs = _runs(sorted({sizes[i] for sizes in self.rows}))
            texts.append(f"{printable(name)} of {' and '.join(runs)}")
        return ", ".join(texts)

    def shapes(self, dims: Mapping[str, int], row: ServedSizes) -> Shapes:
        """Return the shapes of the inputs and outputs for these sizes."""
        return shapes_at(self.inputs, self.outputs, dims, row.shapes or ())

    def inputs_of(self, row: ServedSizes) -> Mapping[str, Array]:
        """Return the arrays that tell a program the sizes, by the names of its inputs."""
        return {input_name(i): self.arrays[key] for i, key in enumerate(row.arrays)}


def shapes_at(
    inputs: Sequence[TensorInfo],
    outputs: Sequence[TensorInfo],
    dims: Mapping[str, int],
    results: Sequence[tuple[int, ...]],
) -> Shapes:
    """Return the shapes of inputs and outputs by name; `results` are those of the outputs."""
    names = (port.name for port in outputs)
    return {port.name: port.shape_at(dims) for port in inputs} | dict(
        zip(names, results, strict=True)
    )


def _runs(sizes: Sequence[int]) -> list[str]:
    """Return ascending sizes as text, runs of them by their ends."""
    runs: list[list[int]] = []
    for size in sizes:
        if runs and runs[-1][-1] == size - 1:
            runs[-1][1:] = [size]
        else:
            runs.append([size])
    return [" to ".join(map(str, run)) for run in runs]
