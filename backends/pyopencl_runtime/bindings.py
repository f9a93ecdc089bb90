"""The caller's buffers: which bytes each input and output of a program gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TypeAlias, cast

import pyopencl as cl
import pyopencl.array as cla

from ...dialects.cl.program import Port
from ...errors import CloptError
from .memory import whole_of

DeviceMemory: TypeAlias = "cl.Buffer | cla.Array"
"""What a caller may bind: a buffer, or an array of pyopencl's, with its offset in one."""


def bound_buffers(
    ports: Sequence[Port], sizes: Sequence[int], inputs: int, given: Mapping[str, DeviceMemory]
) -> tuple[cl.Buffer, ...]:
    """The buffers for `ports`, of which the first `inputs` are inputs.

    CloptError for one that is too small, and for an output that kernels cannot write or that shares
    bytes with another port.
    """
    bound = tuple(buffer_of(given[port.name], f'"{port.name}"') for port in ports)
    for index, (port, buffer, size) in enumerate(zip(ports, bound, sizes, strict=True)):
        if buffer.size < size:
            raise CloptError(
                f'The buffer for "{port.name}" has {buffer.size} bytes; {size} are needed.'
            )
        if index >= inputs and buffer.flags & cl.mem_flags.READ_ONLY:
            raise CloptError(f'Kernels cannot write the read-only buffer for "{port.name}".')
    spans = [_span(buffer, size) for buffer, size in zip(bound, sizes, strict=True)]
    for i, j in combinations(range(len(ports)), 2):
        (first, begin, end), (second, start, stop) = spans[i], spans[j]
        if j >= inputs and first == second and begin < stop and start < end:
            raise CloptError(
                f'The output "{ports[j].name}" shares its buffer with "{ports[i].name}", and '
                "kernels may read one after they wrote the other; bind another buffer."
            )
    return bound


def buffer_of(given: DeviceMemory, what: str) -> cl.Buffer:
    """The buffer of `given`, or a sub-buffer for an array that starts inside of its buffer."""
    if not isinstance(given, cla.Array):
        return given
    if not given.flags.c_contiguous:
        raise CloptError(f"The array for {what} is not contiguous; copy it.")
    base = cast("cl.Buffer", given.base_data)
    if given.offset == 0:
        return base
    parent, start = whole_of(base)
    try:
        return parent.get_sub_region(start + given.offset, given.nbytes)
    except cl.Error as error:
        raise CloptError(
            f"The array for {what} starts at byte {start + given.offset} of its buffer, where the "
            "device has no part of a buffer; copy it."
        ) from error


def _span(buffer: cl.Buffer, size: int) -> tuple[int, int, int]:
    whole, start = whole_of(buffer)
    return whole.int_ptr, start, start + size
