"""The input of memory planning: a program's intermediates, and the chains computed in place."""

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
    """The bytes that it takes of the arena, pitch included."""
    lifetime: cl.Lifetime


Chain = list[Intermediate]
"""Intermediates that use the same bytes one after the other: the last command that reads one
computes the next in its place."""


def intermediates(program: cl.ProgramOp, target: cl.Target) -> list[Intermediate]:
    """The values that `target` can lay over an arena, in the order of the program.

    These are buffers with elements, and images of kinds that can be views of buffers: not arrays,
    for which neither OpenCL 1.2 nor cl_khr_image2d_from_buffer has such views. Values that no
    command uses are left out.
    """
    lives = cl.lifetimes(program)
    found: list[Intermediate] = []
    for op in program.body.block.ops:
        if isinstance(op, cl.AllocOp) and op.result in lives and can_view(op.result.type, target):
            pitch = row_pitch(op.result.type, target)
            size = stored_bytes(op.result.type, pitch)
            if size:
                found.append(Intermediate(op.result, pitch, size, lives[op.result]))
    return found


def can_view(type_: Attribute, target: cl.Target) -> bool:
    """Whether a value of `type_` can be a view of a buffer."""
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
    """Bytes from one row of a 2-D image over a buffer to the next; None for other values."""
    image = image_of(type_)
    if image is None or image.kind is not tir.ImageKind.Image2D:
        return None
    texel = row_bytes(image) // image.extents[0]
    unit = lcm(texel, max(1, target.device.image_pitch_alignment_bytes))
    return -(-row_bytes(image) // unit) * unit


def chains(
    program: cl.ProgramOp, kernels: Mapping[str, cl.Kernel], target: cl.Target
) -> list[Chain]:
    """The intermediates, grouped by those that share their bytes by computing in place.

    A launch computes in place if its kernel may (`Kernel.in_place`), if it is the first to use the
    output and the last to use the input, and if both are whole buffers of the same size. No other
    argument may lie over these bytes, since it would read overwritten elements.
    """
    known = {item.value: item for item in intermediates(program, target)}
    root_of = cl.roots(program)
    heirs: dict[SSAValue, SSAValue] = {}
    inherits: set[SSAValue] = set()

    def whole_buffer(arg: SSAValue) -> Intermediate | None:
        """The intermediate that `arg` covers as a whole; None if it covers none."""
        item = known.get(root_of[arg])
        if item is None or tir.is_texture(arg.type) or tir.is_texture(item.value.type):
            return None
        return item if byte_count(arg.type) == item.bytes else None

    for time, op in enumerate(cl.commands(program)):
        if not isinstance(op, cl.EnqueueKernelOp):
            continue
        given = Counter(root_of[arg] for arg in op.args)
        for i, o in sorted(kernels[op.kernel_name].in_place):
            source, result = whole_buffer(op.args[i]), whole_buffer(op.args[o])
            if (
                source is not None
                and result is not None
                and source.bytes == result.bytes
                and source.lifetime.last == time == result.lifetime.first
                and given[source.value] == given[result.value] == 1
                and source.value not in heirs
                and result.value not in inherits
            ):
                heirs[source.value] = result.value
                inherits.add(result.value)
    found: list[Chain] = []
    for value in known:
        if value not in inherits:
            chain = [known[value]]
            while (heir := heirs.get(chain[-1].value)) is not None:
                chain.append(known[heir])
            found.append(chain)
    return found
