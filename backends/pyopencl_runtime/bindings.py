"""The caller's buffers: which bytes each input and output of a program gets."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TypeAlias, cast

import pyopencl as cl
import pyopencl.array as cla

from ...errors import CloptError
from ...messages.arguments import type_name
from ...tensor_info import TensorInfo
from .given_images import check_image, refuse_image
from .images import Images
from .inputs import check_form
from .memory import Memory, make_memory, whole_of

DeviceMemory: TypeAlias = "cl.Buffer | cla.Array"
"""Bytes of a caller's: a buffer, or an array of pyopencl's, with its offset in one."""

Bindable: TypeAlias = "DeviceMemory | cl.Image"
"""What a caller may bind to an input or output."""

PortMemory: TypeAlias = "cl.Buffer | cl.Image"
"""The memory object of an input or output."""


def bound_memory(
    ports: Sequence[TensorInfo],
    sizes: Sequence[int],
    inputs: int,
    given: Sequence[Bindable],
    context: cl.Context,
) -> tuple[PortMemory, ...]:
    """The buffers and images for `ports`, of which the first `inputs` are inputs.

    CloptError for one that does not fit, and for an output that kernels cannot write or that shares
    bytes with another port.
    """
    bound: list[PortMemory] = []
    for index, (port, memory, size) in enumerate(zip(ports, given, sizes, strict=True)):
        if port.image is not None:
            bound.append(check_image(port, memory, index >= inputs, context))
        else:
            bound.append(_checked_buffer(port, memory, size, index >= inputs))
    spans = [_span(buffer, size) for buffer, size in zip(bound, sizes, strict=True)]
    for i, j in combinations(range(len(ports)), 2):
        (first, begin, end), (second, start, stop) = spans[i], spans[j]
        if j >= inputs and first == second and begin < stop and start < end:
            raise CloptError(
                f'The output "{ports[j].name}" shares its buffer with "{ports[i].name}", and '
                "kernels may read one after they wrote the other; bind another buffer."
            )
    return tuple(bound)


def _checked_buffer(port: TensorInfo, memory: object, size: int, is_output: bool) -> cl.Buffer:
    if isinstance(memory, cl.Image):
        raise refuse_image(port)
    if isinstance(memory, cla.Array):
        check_form(port, memory.dtype, memory.shape)
    elif not isinstance(memory, cl.Buffer):
        raise CloptError(
            f'"{port.name}" takes a pyopencl.Buffer or pyopencl.array.Array, not '
            f"{type_name(memory)}; run takes arrays of numpy."
        )
    buffer = buffer_of(memory, f'"{port.name}"')
    if buffer.size < size:
        raise CloptError(
            f'The buffer for "{port.name}" has {buffer.size} bytes; {size} are needed.'
        )
    if is_output and buffer.flags & cl.mem_flags.READ_ONLY:
        raise CloptError(f'Kernels cannot write the read-only buffer for "{port.name}".')
    return buffer


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


def _span(memory: PortMemory, size: int) -> tuple[int, int, int]:
    if isinstance(memory, cl.Image):
        under = cast("cl.Buffer | None", memory.get_info(cl.mem_info.ASSOCIATED_MEMOBJECT))
        return (memory.int_ptr, 0, size) if under is None else _span(under, under.size)
    whole, start = whole_of(memory)
    return whole.int_ptr, start, start + size


def arena_memories(
    sizes: Sequence[int],
    images: Images,
    given: Sequence[DeviceMemory] | None,
    on_host: bool = False,
) -> list[Memory]:
    """The arenas of these sizes: the caller's, which may be more and larger, or new ones.

    Raises CloptError if the caller's do not fit.
    """
    if given is None:
        return [make_memory(images, size, on_host) for size in sizes]
    given = [buffer_of(memory, "an arena") for memory in given]
    _check_arenas(sizes, images, given)
    return [Memory(buffer, images, buffer.size) for buffer in given[: len(sizes)]]


def _check_arenas(sizes: Sequence[int], images: Images, given: Sequence[cl.Buffer]) -> None:
    if len(given) < len(sizes):
        needed = " and ".join(f"{size:,}" for size in sizes)
        raise CloptError(
            f"The model needs {len(sizes)} arenas, of {needed} bytes, but {len(given)} were given."
        )
    if len({buffer.int_ptr for buffer in given[: len(sizes)]}) < len(sizes):
        raise CloptError(f"The model needs {len(sizes)} arenas, but one buffer was given twice.")
    for buffer, size in zip(given, sizes, strict=False):
        if buffer.size < size:
            raise CloptError(
                f"The given arena has {buffer.size:,} bytes, but the model needs {size:,}."
            )
        if buffer.context != images.context:
            raise CloptError(
                "The given arena belongs to another context than the program; pass its context, "
                "or a queue of it."
            )
