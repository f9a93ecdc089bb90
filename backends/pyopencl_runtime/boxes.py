"""The copies between an array and the beginning of a larger one in a buffer of the device.

A program for larger sizes takes a smaller input as the leading box of its own. Only that box is
copied.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, TypeAlias

import numpy as np
import pyopencl as cl

from .arrays import Array

Shapes: TypeAlias = Mapping[str, "tuple[int, ...]"]
"""The shapes of the inputs and outputs of an inference, by name."""

_Extent: TypeAlias = "tuple[int, int]"
"""An extent of the box and one of the larger array."""


@dataclass(frozen=True)
class LeadingBox:
    """A box of the first elements along each axis of a larger array."""

    shape: tuple[int, ...]
    whole: tuple[int, ...]
    """The shape of the larger array."""
    item_bytes: int

    @property
    def bytes(self) -> int:
        """The bytes of the box."""
        return prod(self.shape) * self.item_bytes

    @property
    def whole_bytes(self) -> int:
        """The bytes of the larger array."""
        return prod(self.whole) * self.item_bytes

    @property
    def is_whole(self) -> bool:
        """Whether the box is the larger array."""
        return self.shape == self.whole

    @cached_property
    def slices(self) -> tuple[slice, ...]:
        """The index of the box in the larger array."""
        return tuple(map(slice, self.shape))

    @cached_property
    def is_leading(self) -> bool:
        """Whether the box is contiguous in the larger array."""
        return len(self._extents) == 1

    def of(self, array: Array) -> Array:
        """Return the box of a larger array, or an array of its own shape."""
        return array if self.is_whole or array.shape == self.shape else array[self.slices]

    def padded(self, array: Array) -> Array:
        """Return the larger array, with zeros outside of the box."""
        if self.is_whole:
            return array
        larger = np.zeros(self.whole, array.dtype)
        larger[self.slices] = array
        return larger

    def upload(self, queue: cl.CommandQueue, buffer: cl.Buffer, array: Array) -> list[cl.Event]:
        """Write the box from an array of the host without waiting; return the events."""
        return [
            cl.enqueue_copy(queue, buffer, array, is_blocking=False, **options)
            for options in self._options("host", "buffer")
        ]

    def download(self, queue: cl.CommandQueue, array: Array, buffer: cl.Buffer) -> list[cl.Event]:
        """Read the box into an array of the host without waiting; return the events."""
        return [
            cl.enqueue_copy(queue, array, buffer, is_blocking=False, **options)
            for options in self._options("host", "buffer")
        ]

    def fill(self, queue: cl.CommandQueue, larger: cl.Buffer, smaller: cl.Buffer) -> None:
        """Copy the box from a buffer of its size on the device."""
        for options in self._options("src", "dst"):
            cl.enqueue_copy(queue, larger, smaller, **options or {"byte_count": self.bytes})

    def extract(self, queue: cl.CommandQueue, smaller: cl.Buffer, larger: cl.Buffer) -> None:
        """Copy the box to a buffer of its size on the device."""
        for options in self._options("dst", "src"):
            cl.enqueue_copy(queue, smaller, larger, **options or {"byte_count": self.bytes})

    def _options(self, small: str, large: str) -> Iterator[dict[str, Any]]:
        """Yield the options of the copies: none for one of contiguous bytes.

        `small` and `large` are the names of both sides in pyopencl's options.
        """
        if not prod(self.shape):
            return
        if self.is_leading:
            yield {}
            return
        *outer, slices, rows, row = [*[(1, 1)] * (3 - len(self._extents)), *self._extents]
        for index in np.ndindex(*(extent for extent, _ in outer)):
            options: dict[str, Any] = {"region": (row[0], rows[0], slices[0])}
            for side, name in enumerate((small, large)):
                number = 0
                for position, extents in zip(index, outer, strict=True):
                    number = number * extents[side] + position
                options[f"{name}_origin"] = 0, 0, number * slices[side]
                options[f"{name}_pitches"] = row[side], row[side] * rows[side]
            yield options

    @cached_property
    def _extents(self) -> list[_Extent]:
        """The extents of as few axes as possible, outermost first; that of the last is in bytes."""
        found: list[_Extent] = []
        for small, large in zip(self.shape, self.whole, strict=True):
            outer = found.pop() if found and (small == large or found[-1][0] == 1) else (1, 1)
            found.append((outer[0] * small, outer[1] * large))
        small, large = found.pop() if found else (1, 1)
        return [*found, (small * self.item_bytes, large * self.item_bytes)]
