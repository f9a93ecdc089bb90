"""The caller's buffers and images, checked and assigned to the inputs and outputs of a program."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from itertools import combinations
from typing import cast

import pyopencl as cl
import pyopencl.array as cla

from ...errors import CloptError
from ...messages.arguments import type_name
from ...tensor_info import TensorInfo
from .arrays import Bindable, DeviceMemory, PortMemory
from .given_images import check_image, refuse_image
from .images import Images
from .inputs import check_form
from .memory import BufferMemory, make_memory, whole_of
from .shared_arenas import SharedArenas


def bound_memory(
    ports: Sequence[TensorInfo],
    sizes: Sequence[int],
    inputs: int,
    given: Sequence[Bindable],
    context: cl.Context,
    overwritten: Mapping[int, int],
) -> tuple[PortMemory, ...]:
    """Return the buffers and images for `ports`, of which the first `inputs` are inputs.

    `overwritten` has the outputs that may share the memory of an input, and that input.
    Raises CloptError for a buffer or image that does not fit its port, and for an output that
    kernels cannot write or that shares bytes with another port.
    """
    written = set(overwritten.values())
    bound = tuple(
        given_memory(port, memory, size, index >= inputs or index in written, context)
        for index, (port, memory, size) in enumerate(zip(ports, given, sizes, strict=True))
    )
    spans = [span_of(buffer, size) for buffer, size in zip(bound, sizes, strict=True)]
    outputs = range(inputs, len(ports))
    check_apart(dict(enumerate(ports)), outputs, dict(enumerate(spans)), overwritten)
    return bound


def given_memory(
    port: TensorInfo, memory: object, size: int, is_output: bool, context: cl.Context
) -> PortMemory:
    """Return the caller's buffer or image for a port; CloptError for one that does not fit."""
    if port.image is not None:
        return check_image(port, memory, is_output, context)
    return _checked_buffer(port, memory, size, is_output, context)


def check_apart(
    ports: Mapping[int, TensorInfo],
    outputs: Container[int],
    spans: Mapping[int, tuple[int, int, int]],
    overwritten: Mapping[int, int],
) -> None:
    """CloptError for an output that shares bytes with another port; `spans` are by port.

    It may have the memory of the input that it overwrites.
    """
    together: dict[int, list[int]] = {}
    for i in sorted(spans):
        together.setdefault(spans[i][0], []).append(i)
    for i, j in (pair for group in together.values() for pair in combinations(group, 2)):
        (_, begin, end), (_, start, stop) = spans[i], spans[j]
        if overwritten.get(j) == i and begin == start:
            continue
        if j in outputs and begin < stop and start < end:
            raise CloptError(
                f'The output "{ports[j].name}" shares its memory with "{ports[i].name}", and '
                "kernels may read one after writing the other; give it memory of its own."
            )


def _checked_buffer(
    port: TensorInfo, memory: object, size: int, is_output: bool, context: cl.Context
) -> cl.Buffer:
    if isinstance(memory, cl.Image):
        raise refuse_image(port)
    if isinstance(memory, cla.Array):
        check_form(port, memory.dtype, memory.shape)
    elif not isinstance(memory, cl.Buffer):
        raise CloptError(
            f'"{port.name}" needs a pyopencl.Buffer or pyopencl.array.Array, not '
            f"{type_name(memory)}; to pass numpy arrays, call run."
        )
    buffer = buffer_of(memory, f'"{port.name}"')
    if buffer.context != context:
        raise CloptError(
            f'The buffer for "{port.name}" belongs to another context than the program; compile '
            "the model for a queue of its context, device=clopt.Place(queue=queue)."
        )
    if buffer.size < size:
        raise CloptError(f'The buffer for "{port.name}" has {buffer.size} bytes, but needs {size}.')
    if is_output and buffer.flags & cl.mem_flags.READ_ONLY:
        raise CloptError(f'Kernels cannot write the read-only buffer for "{port.name}".')
    return buffer


def buffer_of(given: DeviceMemory, what: str) -> cl.Buffer:
    """Return the buffer of `given`, or a sub-buffer if an array starts inside its buffer."""
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
            "device cannot start a sub-buffer; copy it."
        ) from error


def span_of(memory: PortMemory, size: int) -> tuple[int, int, int]:
    """Return the number of the whole buffer or image, and the first byte and the end in it."""
    if isinstance(memory, cl.Image):
        under = cast("cl.Buffer | None", memory.get_info(cl.mem_info.ASSOCIATED_MEMOBJECT))
        return (memory.int_ptr, 0, size) if under is None else span_of(under, under.size)
    whole, start = whole_of(memory)
    return whole.int_ptr, start, start + size


def arena_memories(
    sizes: Sequence[int],
    images: Images,
    given: Sequence[DeviceMemory] | SharedArenas | None,
    on_host: bool = False,
) -> list[BufferMemory]:
    """Return memories for arenas of these sizes: the caller's buffers, or new ones.

    The caller may pass more and larger buffers than needed. Raises CloptError if they do not fit.
    """
    if isinstance(given, SharedArenas) and not on_host:
        return given.memories(sizes, images)
    if given is None or isinstance(given, SharedArenas):
        return [make_memory(images, size, on_host) for size in sizes]
    given = [buffer_of(memory, "an arena") for memory in given]
    _check_arenas(sizes, images, given)
    return [BufferMemory(buffer, images, buffer.size) for buffer in given[: len(sizes)]]


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
                "The given arena belongs to another context than the program; use that context or "
                "a queue of it."
            )
