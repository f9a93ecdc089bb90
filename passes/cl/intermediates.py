"""The input of memory planning: intermediates with lifetimes, and in-place chains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import lcm

from xdsl.ir import Attribute, SSAValue

from ...dialects import cl, tir
from ...dialects.cl.images import image_of
from ...dialects.cl.memory import row_bytes, stored_bytes
from ...dialects.cl.ops import byte_count


@dataclass(frozen=True)
class Intermediate:
    """A result of a `cl.alloc` that can be a view of an arena, with its lifetime."""

    value: SSAValue
    pitch: int | None
    """Bytes from one row of a 2-D image to the next; None for buffers and `image1d_buffer`s."""
    bytes: int
    """The bytes that it occupies in the arena, including the padding of rows to `pitch`."""
    lifetime: cl.Lifetime


Chain = list[Intermediate]
"""Intermediates that use the same bytes in turn: the last reader of one writes the next."""


def intermediates(program: cl.ProgramOp, target: cl.Target) -> list[Intermediate]:
    """Return the values that `target` can place in an arena, in program order.

    These are buffers with elements, and images that can be views of buffers. Image arrays cannot:
    neither OpenCL 1.2 nor cl_khr_image2d_from_buffer provides such views. Unused values are left
    out.
    """
    lives = cl.lifetimes(program)
    result: list[Intermediate] = []
    for op in program.body.block.ops:
        if isinstance(op, cl.AllocOp) and op.result in lives and can_view(op.result.type, target):
            pitch = row_pitch(op.result.type, target)
            size = stored_bytes(op.result.type, pitch)
            if size:
                result.append(Intermediate(op.result, pitch, size, lives[op.result]))
    return result


def can_view(type_: Attribute, target: cl.Target) -> bool:
    """Return whether a value of `type_` can be a view of a buffer."""
    image = image_of(type_)
    if image is None:
        return True
    match image.kind:
        case tir.ImageKind.Buffer:
            return target.device.image1d_buffer
        case tir.ImageKind.Image2D:
            return target.device.image_from_buffer
        case tir.ImageKind.Array2D:
            return False


def row_pitch(type_: Attribute, target: cl.Target) -> int | None:
    """Return the bytes from one row of a 2-D image view to the next; None for other values."""
    image = image_of(type_)
    if image is None or image.kind is not tir.ImageKind.Image2D:
        return None
    texel = row_bytes(image) // image.extents[0]
    unit = lcm(texel, max(1, target.device.image_pitch_alignment_bytes))
    return -(-row_bytes(image) // unit) * unit


def chains(
    program: cl.ProgramOp, kernels: Mapping[str, cl.Kernel], target: cl.Target
) -> list[Chain]:
    """Return the intermediates, grouped into chains that share bytes by computing in place.

    A launch computes in place if its kernel allows it (`Kernel.in_place`). It must be the first
    command to use the output and the last to use the input, and both must be whole buffers of the
    same size. No other argument may overlap these bytes, since the kernel would read overwritten
    elements.
    """
    items = {item.value: item for item in intermediates(program, target)}
    root_of = cl.roots(program)
    successors: dict[SSAValue, SSAValue] = {}
    has_predecessor: set[SSAValue] = set()

    def whole_buffer(arg: SSAValue) -> Intermediate | None:
        """Return the intermediate that `arg` covers completely, or None."""
        item = items.get(root_of[arg])
        if item is None or tir.is_texture(arg.type) or tir.is_texture(item.value.type):
            return None
        return item if byte_count(arg.type) == item.bytes else None

    for time, op in enumerate(cl.commands(program)):
        if not isinstance(op, cl.EnqueueKernelOp):
            continue
        uses = Counter(root_of[arg] for arg in op.args)
        for i, o in sorted(kernels[op.kernel_name].in_place):
            source, result = whole_buffer(op.args[i]), whole_buffer(op.args[o])
            if (
                source is not None
                and result is not None
                and source.bytes == result.bytes
                and source.lifetime.last == time == result.lifetime.first
                and not (source.lifetime.is_held or result.lifetime.is_held)
                and uses[source.value] == uses[result.value] == 1
                and source.value not in successors
                and result.value not in has_predecessor
            ):
                successors[source.value] = result.value
                has_predecessor.add(result.value)
    in_place: list[Chain] = []
    for value in items:
        if value not in has_predecessor:
            chain = [items[value]]
            while (successor := successors.get(chain[-1].value)) is not None:
                chain.append(items[successor])
            in_place.append(chain)
    return in_place
