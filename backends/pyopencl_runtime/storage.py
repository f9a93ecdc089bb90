"""The memory of a queue program's values: arenas, separate buffers and images, weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyopencl as cl
from xdsl.ir import Attribute, SSAValue

from ...dialects import tir
from ...dialects.cl import (
    AllocOp,
    ArenaOp,
    BufferViewOp,
    ConstantOp,
    ImageViewOp,
    MemorySlice,
    ProgramOp,
    extent,
    image_objects,
    parts,
)
from ...dialects.cl.images import image_of, is_over_buffer
from ...dialects.cl.memory import texel_bytes
from ...dialects.cl.ops import byte_count
from ...errors import CloptError
from ...weights import Weights
from .arrays import DeviceMemory
from .bindings import arena_memories
from .cache import BinaryCache
from .constants import constant_memory
from .image_views import ImageViews, View, choose_image_views
from .images import Images
from .memory import BufferMemory, check_size, make_memory
from .shared_arenas import SharedArenas


@dataclass(frozen=True)
class MemorySlot:
    """A place in a buffer: of a parameter, by its number, or of memory of the program's own."""

    memory: int | BufferMemory
    offset: int


Place: TypeAlias = "MemorySlot | cl.Image"
"""The place of a value in memory."""


@dataclass(frozen=True)
class Storage:
    """The memory of a program and the place of each value in it."""

    places: Mapping[SSAValue, Place]
    arenas: tuple[BufferMemory, ...]
    arena_bytes: tuple[int, ...]
    """The bytes in use of each arena: fewer than planned if images lie outside of it."""
    image_views: Mapping[tir.ImageKind, ImageViews]
    """How each kind of image lies in planned memory."""
    device_bytes: int
    """The bytes of arenas, of buffers and images outside of them, and of weights."""


@dataclass(frozen=True)
class StorageOptions:
    """The caller's choices about a program's memory."""

    arenas: Sequence[DeviceMemory] | SharedArenas | None = None
    image_views: ImageViews | None = None


def make_storage(
    program: ProgramOp,
    weights: Weights,
    images: Images,
    cache: BinaryCache,
    options: StorageOptions,
) -> Storage:
    """Allocate the buffers and images of `program` and upload its constants."""
    return _StorageFactory(program, weights, images, cache, options).run()


class _StorageFactory:
    """The allocation of one program's memory."""

    def __init__(
        self,
        program: ProgramOp,
        weights: Weights,
        images: Images,
        cache: BinaryCache,
        options: StorageOptions,
    ):
        self.program = program
        self.weights = weights
        self.images = images
        self.parts = parts(program)
        are_given = isinstance(options.arenas, Sequence)
        self.ways = choose_image_views(
            views_of(self.parts), images, cache, options.image_views, are_given
        )
        self.on_host = ImageViews.Host in self.ways.values()
        self.outside = self._outside()
        self.sizes = self._arena_sizes()
        pooled = [value for value in self.outside if image_of(value.type) is not None]
        self.objects = image_objects(program, pooled)
        self.made: dict[int, Place] = {}
        sizes = list(self.sizes.values())
        memories = arena_memories(sizes, images, options.arenas, self.on_host)
        self.arenas = dict(zip(self.sizes, memories, strict=True))
        self.device_bytes = sum(sizes)

    def run(self) -> Storage:
        roots: dict[SSAValue, Place] = {}
        for argument in self.program.body.block.args:
            roots[argument] = MemorySlot(argument.index, 0)
        for op in self.program.body.block.ops:
            match op:
                case ConstantOp():
                    roots[op.result] = self._upload(op)
                case AllocOp() | BufferViewOp() | ImageViewOp() if op.result in self.outside:
                    roots[op.result] = self._object(op.result)
                case BufferViewOp():
                    roots[op.result] = MemorySlot(self.arenas[op.arena], op.offset)
                case ImageViewOp():
                    roots[op.result] = self._image_view(op)
                case _:
                    pass
        places = {
            value: _moved(roots[part.root], part.offset)
            for value, part in self.parts.items()
            if part.root in roots
        }
        arenas, sizes = tuple(self.arenas.values()), tuple(self.sizes.values())
        return Storage(places, arenas, sizes, self.ways, self.device_bytes)

    def _outside(self) -> dict[SSAValue, None]:
        """Return the roots outside of arenas, in order.

        These are values without a planned place, and images that the device cannot have in an
        arena.
        """
        outside: dict[SSAValue, None] = {}
        for value, part in self.parts.items():
            image = image_of(value.type)
            way = None if image is None else self.ways.get(image.kind)
            is_planned = isinstance(part.root.owner, BufferViewOp | ImageViewOp)
            if isinstance(part.root.owner, AllocOp) or (is_planned and way is ImageViews.Object):
                outside[part.root] = None
        return outside

    def _arena_sizes(self) -> dict[SSAValue, int]:
        """Return the bytes of each arena up to the end of its last value."""
        ops = self.program.body.block.ops
        sizes: dict[SSAValue, int] = {op.result: 0 for op in ops if isinstance(op, ArenaOp)}
        for value, part in self.parts.items():
            if isinstance(value.owner, BufferViewOp | ImageViewOp) and value not in self.outside:
                span = extent(value, part)
                sizes[span.memory] = max(sizes[span.memory], span.end)
        return sizes

    def _image_view(self, op: ImageViewOp) -> Place:
        arena = self.arenas[op.arena]
        if op.pitch is None:
            return MemorySlot(arena, op.offset)
        return arena.image(op.result.type, op.offset, op.pitch)

    def _object(self, value: SSAValue) -> Place:
        """Return separate memory for a value; images of the same form may share it."""
        number = self.objects.get(value)
        if number is None:
            return self._alloc(value.type)
        if number not in self.made:
            self.made[number] = self._alloc(value.type)
        return self.made[number]

    def _alloc(self, type_: Attribute) -> Place:
        size = byte_count(type_)
        self.device_bytes += size
        if is_over_buffer(type_):
            return MemorySlot(make_memory(self.images, size, self.on_host), 0)
        check_size(self.images.device, size)
        return self.images.make(type_, cl.mem_flags.READ_WRITE)

    def _upload(self, op: ConstantOp) -> Place:
        """Return memory that holds a constant."""
        type_, array = op.result.type, np.asarray(self.weights.get(op.key.data), order="C")
        size = byte_count(type_)
        if array.nbytes != size:
            raise CloptError(
                f'The weight "{op.key.data}" has {array.nbytes} bytes, but {type_} needs '
                f"{size}; pass the weights that belong to this module."
            )
        if not size:
            return self._alloc(type_)
        self.device_bytes += size
        check_size(self.images.device, size)
        if not is_over_buffer(type_):
            return self.images.make(type_, cl.mem_flags.READ_ONLY, hostbuf=array)
        return MemorySlot(constant_memory(self.images, op.key.data, array), 0)


def views_of(values: Mapping[SSAValue, MemorySlice]) -> Iterator[View]:
    """Yield the images over parts of the program's own buffers."""
    for value, part in values.items():
        image, owner = image_of(value.type), part.root.owner
        if image is None or image.kind is tir.ImageKind.Array2D:
            continue
        texel = texel_bytes(image)
        match owner:
            case ImageViewOp():
                yield View(image, texel, owner.offset + part.offset, owner.pitch)
            case BufferViewOp():
                yield View(image, texel, owner.offset + part.offset, None)
            case AllocOp() if byte_count(value.type) != byte_count(part.root.type):
                yield View(image, texel, part.offset, None)
            case _:
                pass


def _moved(place: Place, offset: int) -> Place:
    return (
        MemorySlot(place.memory, place.offset + offset) if isinstance(place, MemorySlot) else place
    )
