"""The description of a model's inputs and outputs."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from .dialects.cl.program import Port


SEQUENCE, OPTIONAL, OPTIONAL_SEQUENCE = "sequence", "optional", "optional sequence"
"""The containers of tensors that inputs and outputs may be."""

MAP, MAPS = "map", "sequence of maps"
"""The containers of numbers by key: programs have a tensor, with a row for each map."""

Key: TypeAlias = int | str

Ranks: TypeAlias = Sequence[int] | None
"""The ranks of the elements of a container; None for an optional that is absent."""


def element_names(name: str, container: str, count: int) -> list[str]:
    """Return the names of the tensors that a network has in place of an input or output."""
    if container in (SEQUENCE, OPTIONAL_SEQUENCE):
        return [f"{name}_{i}" for i in range(count)]
    return [name][:count]


@dataclass(frozen=True)
class TensorInfo:
    """The name, shape and numpy type of an input or an output."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    image: tuple[int, ...] | None = None
    """Width and height, in texels, of the image that the application binds; None for a buffer."""
    symbols: tuple[str, ...] = ()
    """The names of the dimensions, each empty for a fixed size; empty if all sizes are fixed.

    The shape has -1 where the model leaves a size open.
    """
    is_ranked: bool = True
    """False for an output of unknown rank, whose `shape` is empty."""
    container: str = ""
    """"sequence", "optional" or "optional sequence" of such tensors, "map" or "sequence of maps"
    that have such a tensor in a program; empty for a tensor."""
    in_place: str = ""
    """The input whose memory an output overwrites."""
    keys: tuple[Key, ...] = ()
    """The keys of maps, one for each column."""

    @classmethod
    def of(cls, port: Port) -> TensorInfo:
        """Return the public description of a program's parameter."""
        from .dialects.nn.types import numpy_dtype
        from .dialects.tir import image_of

        image = None if port.image is None else image_of(port.image).extents
        dtype = numpy_dtype(port.element_type)
        return cls(port.name, port.shape, dtype, image, in_place=port.in_place)

    def __str__(self) -> str:
        return f"{self.name}: {self.form}"

    @property
    def form(self) -> str:
        """Shape and type, and the extents of an image."""
        if self.keys:
            count = f"{len(self.keys)} key{'' if len(self.keys) == 1 else 's'}"
            return f"{self.container} from {count} to {self.dtype.name}"
        if self.container:
            tensors = "" if self.is_ranked else "tensors "
            return f"{self.container} of {tensors}{replace(self, container='').form}"
        place = "" if self.image is None else f" in an image of {'x'.join(map(str, self.image))}"
        if not self.is_ranked:
            return f"of any shape {self.dtype.name}"
        if self.symbols:
            return f"{self.open_shape} {self.dtype.name}"
        return describe(self.shape, self.dtype) + place

    @property
    def open_shape(self) -> str:
        """The shape as text, with names for the sizes that are not fixed."""
        symbols = self.symbols or ("",) * len(self.shape)
        sizes = zip(symbols, self.shape, strict=True)
        return "x".join(symbol or str(size) for symbol, size in sizes) or "()"

    @property
    def bytes(self) -> int:
        """The bytes of the elements in a buffer."""
        return prod(self.shape) * self.dtype.itemsize

    def is_stated(self, symbols: Container[str]) -> bool:
        """Return whether all open sizes have names among `symbols`."""
        return all(not symbol or symbol in symbols for symbol in self.symbols)

    def shape_at(self, dims: Mapping[str, int]) -> tuple[int, ...]:
        """Return the shape for these sizes of open dimensions."""
        symbols = self.symbols or ("",) * len(self.shape)
        sizes = zip(symbols, self.shape, strict=True)
        return tuple(dims[symbol] if symbol else size for symbol, size in sizes)

    def fits(self, shape: Sequence[int]) -> bool:
        """Return whether an array of this shape can be passed."""
        return self.shape == tuple(shape) or (
            bool(self.symbols)
            and len(shape) == len(self.shape)
            and all(wanted in (-1, size) for wanted, size in zip(self.shape, shape, strict=True))
        )


def describe(shape: Sequence[int], dtype: np.dtype[Any]) -> str:
    """Return text such as `1x3x224x224 float32`, for messages and tables."""
    return f"{'x'.join(map(str, shape)) or 'scalar'} {dtype.name}"
