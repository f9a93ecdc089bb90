"""The layouts that a value may have: plain, or packed by four in a buffer or a fitting image."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import MemRefType

from ....dialects import cl, nn, tir
from ....dialects.nn import LayoutAttr
from ....targets import multiplies_bytes


@dataclass(frozen=True)
class Candidate:
    """A layout (None is plain), with a remark on why the first choice was not possible."""

    layout: LayoutAttr | None
    remark: str = ""

    @property
    def axis(self) -> int | None:
        """Return the packed axis, or None."""
        return packed_axis(self.layout)

    @property
    def is_texture(self) -> bool:
        """Return whether the value is stored in an image."""
        return is_texture(self.layout)


PLAIN = Candidate(None)


def packed_axis(layout: LayoutAttr | None) -> int | None:
    """Return the axis whose elements share a block of lanes: the last that the layout divides."""
    return None if layout is None else layout.blocks[-1][0]


def is_texture(layout: LayoutAttr | None) -> bool:
    """Return whether a tensor with this layout is stored in an image."""
    return layout is not None and isinstance(layout.memory, tir.ScopeAttr)


def candidates(
    type_: nn.Tensor,
    target: cl.Target,
    axes: Sequence[int] | None = None,
    *,
    is_excess: bool = False,
) -> list[Candidate]:
    """Return the candidates for a value between kernels, best memory first.

    A packed candidate packs one of `axes`, by default channels or the last axis, since contractions
    walk those. `texture="prefer"` drops the buffers of a value that fits an image. If
    `is_excess`, no image may hold the value: one of its readers may read all its images already.
    """
    shape = type_.get_shape()
    if 0 in shape or not tir.is_texel_type(type_.element_type):
        return [PLAIN]
    if not target.uses_textures:
        return _of_blocks(shape, target)
    limit = f"a kernel that reads it can read {target.device.max_read_images} images: buffer"
    textures: list[Candidate] = []
    buffers: list[Candidate] = []
    for axis in packable_axes(shape) if axes is None else axes:
        blocks = [(axis, target.lanes)]
        packed = Candidate(LayoutAttr(blocks), limit)
        image = packed if is_excess else texture_for(type_, blocks, len(shape) - 1, target)
        buffers.append(Candidate(LayoutAttr(blocks), "" if image.is_texture else image.remark))
        if image.is_texture:
            textures.append(image)
    if multiplies_bytes(target) and _is_byte(type_):
        # Dot products need the four bytes of a texel as one word; samplers would separate them.
        return [*buffers, PLAIN]
    if target.policy.texture == "prefer" and textures:
        return textures
    return [*textures, *buffers, PLAIN]


def _is_byte(type_: nn.Tensor) -> bool:
    element = type_.element_type
    return nn.is_integer(element) and nn.numpy_dtype(element).itemsize == 1


def _of_blocks(shape: Sequence[int], target: cl.Target) -> list[Candidate]:
    """Return the candidates in plain buffers of a CPU: blocks of channels, if one block is full."""
    if len(shape) < 3 or shape[1] < target.lanes:
        return [PLAIN]
    blocks = Candidate(LayoutAttr([(1, target.lanes)]))
    return [blocks] if target.policy.blocks == "prefer" else [blocks, PLAIN]


def packable_axes(shape: Sequence[int]) -> list[int]:
    """Return the axes worth packing: channels and the last axis, if they exceed one element."""
    rank = len(shape)
    axes = dict.fromkeys([1, rank - 1] if rank > 2 else [rank - 1])
    return [axis for axis in axes if rank > 1 and shape[axis] > 1]


def texture_for(
    type_: nn.Tensor, blocks: Sequence[tuple[int, int]], row: int, target: cl.Target
) -> Candidate:
    """Return the first kind of image that holds a tensor with these blocks, else a packed buffer.

    It tries, in this order: a 2-D image whose columns are axis `row` and the axes after it, 2-D
    images split elsewhere into rows and columns, an array of images, and an image over a buffer.
    """
    shape = LayoutAttr(blocks).physical_shape(type_.get_shape())
    if not tir.is_texel_type(type_.element_type):
        return Candidate(LayoutAttr(blocks), f"{target.name} has no images of {type_.element_type}")
    refusals: list[str] = []
    for separators in _separators(len(shape) - 1, row):
        scope = tir.ScopeAttr(tir.Scope.Texture, separators)
        image = tir.image_of(MemRefType(type_.element_type, shape, memory_space=scope))
        refusal = _refusal(image, target)
        if refusal:
            refusals.append(refusal)
            continue
        layout = LayoutAttr(blocks, scope)
        return Candidate(layout, f"{refusals[0]}: {image.kind.value}" if refusals else "")
    return Candidate(LayoutAttr(blocks), f"{refusals[0]}: buffer")


def _separators(axes: int, row: int) -> Iterator[tuple[int, ...]]:
    """Yield the ways to split `axes` axes before the texel into coordinates, best first."""
    cuts = [cut for cut in range(axes - 1, 0, -1)]
    if 0 < row < axes:
        yield (row,)
    yield from ((cut,) for cut in cuts if cut != row)
    yield from ((layer, cut) for cut in cuts for layer in range(cut - 1, 0, -1))
    yield ()


def _refusal(image: tir.Image, target: cl.Target) -> str:
    """Return why the device cannot have such an image, with numbers; "" if it can."""
    if not target.device.images:
        return f"{target.name} has no images"
    if image.kind is tir.ImageKind.Buffer:
        if not target.device.image1d_buffer:
            return f"{target.name} has no images over buffers"
        limits = {"texels": (image.width, target.device.max_image_buffer_texels)}
    else:
        limits = {
            "columns": (image.width, target.device.max_image_width),
            "rows": (image.height, target.device.max_image_height),
            "layers": (image.layers, target.device.max_image_layers),
        }
    for name, (extent, limit) in limits.items():
        if extent > limit:
            shown = "x".join(map(str, image.extents))
            return f"{image.kind.value} of {shown} texels has more than {limit} {name}"
    return ""
