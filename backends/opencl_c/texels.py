"""Reads and writes of whole texels: images, and packed buffers as arrays of vectors.

The IR operations access one element of a texel. Reads from one texel share a single read, of which
each picks a component or the lane of the vectorized loop. Elements that are written one by one are
collected until the texel is complete.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import Float16Type, IntegerType, Signedness
from xdsl.ir import SSAValue

from ...dialects import tir
from ...dialects.tir.affine import Linear
from ...errors import CloptError
from ...machine.target import Target
from .builtins import Sign
from .coordinates import Coordinates
from .expressions import Expressions
from .index import constant, constant_of
from .memory import KernelMemory, form_key
from .storage import layout_of, memref_type
from .types import BOOL, CType, value_type
from .values import Array, Block, Node, TexelStore, Texture

_SAMPLER = CType("sampler_t")
_READ_IMAGES, _WRITE_IMAGES = 128, 64
"""Image arguments of a kernel on targets without these facts: OpenCL 1.2's full profile guarantees
128 read images; Adreno and the CPU runtimes support 64 written images."""


@dataclass
class _Pending:
    """A texel of which some elements have been written."""

    buffer: Array | Texture
    coords: list[Linear]
    lanes: dict[int, Node] = field(default_factory=dict[int, Node])


class Texels:
    """The texel accesses of one kernel."""

    def __init__(
        self, func: tir.FuncOp, expressions: Expressions, memory: KernelMemory, target: Target
    ):
        self.func = func
        self.ex = expressions
        self.graph = expressions.graph
        self.memory = memory
        self.target = target
        self.coordinates = Coordinates(expressions)
        self._sampler = self.graph.node("sampler", _SAMPLER, hint="border")
        self._pending: dict[Block, dict[object, _Pending]] = {}

    # Parameters

    def parameter(self, value: SSAValue, hint: str, written: bool) -> Texture:
        """Declare a parameter in the texture scope."""
        if written and any(isinstance(use.operation, tir.TexelReadOp) for use in value.uses):
            raise CloptError(
                f"kernel {self.func.sym_name.data} reads and writes the image {hint}: "
                "an OpenCL 1.2 kernel can do only one of these, give the result an image of its own"
            )
        type_ = memref_type(value)
        ctype = value_type(type_.element_type, self.target)
        if isinstance(type_.element_type, Float16Type) and _is_widened(value):
            ctype = CType("float")
        texture = Texture(hint, tir.image_of(type_), ctype, written)
        self.memory.buffers[value] = texture
        return texture

    def check_limits(self, parameters: Sequence[Array | Texture]) -> None:
        """Raise CloptError if the kernel has more image parameters than the target allows."""
        for written, limit, fallback in (
            (False, self.target.device.max_read_images, _READ_IMAGES),
            (True, self.target.device.max_write_images, _WRITE_IMAGES),
        ):
            count = sum(isinstance(p, Texture) and p.written is written for p in parameters)
            if count > (limit or fallback):
                raise CloptError(
                    f"kernel {self.func.sym_name.data} {'writes' if written else 'reads'} {count} "
                    f"images, more than the {limit or fallback} that {self.target.name} allows: "
                    "fuse fewer operations"
                )

    # Reads

    def read(self, op: tir.TexelReadOp, coords: Sequence[Linear], lane: Linear) -> Node | None:
        """Return the element, or None if each lane of the vectorized loop must read separately."""
        if any(map(self.ex.space.is_varying, coords)):
            return None
        if not self.ex.space.is_varying(lane):
            return self._component(op, coords, lane)
        lanes = [constant_of(self.ex.at_lane(lane, i)) for i in range(self.ex.lane_width)]
        picked = [at for at in lanes if at is not None]
        if len(picked) < len(lanes):
            return None
        texel = self._texel(op, coords)
        return texel if picked == list(range(tir.TEXEL)) else self.ex.pick(texel, picked)

    def _component(self, op: tir.TexelReadOp, coords: Sequence[Linear], lane: Linear) -> Node:
        """Return one component, selected at run time if an image's lane is not constant."""
        number, buffer = constant_of(lane), self.memory.buffers[op.source]
        if number is None and isinstance(buffer, Array):
            return self.memory.load_element(buffer, coords[0].scaled(tir.TEXEL) + lane)
        texel = self._texel(op, coords)
        if number is not None:
            return self.ex.lane(texel, number)
        x, y, z, w = (self.ex.lane(texel, i) for i in range(tir.TEXEL))
        below = [self.ex.compare_index("<", lane, constant(i)) for i in (1, 2, 3)]
        low, high = self.ex.select(below[0], x, y), self.ex.select(below[2], z, w)
        return self.ex.select(below[1], low, high)

    def _texel(self, op: tir.TexelReadOp, coords: Sequence[Linear]) -> Node:
        """Return the whole texel, in the type that the kernel computes with."""
        buffer = self.memory.buffers[op.source]
        if isinstance(buffer, Texture):
            return self._sample(buffer, coords, op.border is not None)
        assert isinstance(buffer, Array)
        self._count(op.source, buffer)
        element = buffer.ctype if buffer.ctype.base != "bool" else CType(buffer.storage)
        node = self.graph.node(
            "texel", element.of_width(tir.TEXEL), self.coordinates(coords), buffer,
            hint=buffer.hint, reads=buffer,
        )  # fmt: skip
        return self.ex.convert(node, BOOL) if buffer.ctype.base == "bool" else node

    def _sample(self, texture: Texture, coords: Sequence[Linear], border: bool) -> Node:
        kind = texture.image.kind
        if border and kind is tir.ImageKind.Buffer:
            return self._sample_clamped(texture, coords[0])
        if border and kind is tir.ImageKind.Array2D:
            coords = self._layer_outside(texture, coords)
        as_floats = border and self.target.compiler.float_coordinates
        operands = (self.coordinates.floats if as_floats else self.coordinates)(coords)
        if border:
            operands.append(self._sampler)
        ctype = self._texel_type(texture, texture.ctype)
        node = self.graph.node("texel", ctype, operands, texture, hint=texture.hint, reads=texture)
        element = self._as_element(node, texture.ctype)
        element.hint = texture.hint
        return element

    def _sample_clamped(self, texture: Texture, at: Linear) -> Node:
        """Read an `image1d_buffer_t`, which has no border: select zero if `at` is outside."""
        inside = self._is_inside(at, texture.image.width)
        safe = self.ex.select(inside, self.ex.index(at), self.ex.index(constant(0)))
        texel = self._sample(texture, [self.ex.to_form(safe)], border=False)
        zero = self.ex.constant(0.0 if texel.ctype.is_float else 0, texel.ctype.of_width(1))
        return self.ex.select(inside, texel, zero)

    def _layer_outside(self, texture: Texture, coords: Sequence[Linear]) -> list[Linear]:
        """Return coordinates whose row is outside the image if the layer is.

        Samplers clamp a layer to the nearest one instead of returning the border (OpenCL 1.2,
        section 8.4).
        """
        column, row, layer = coords
        inside = self._is_inside(layer, texture.image.layers)
        chosen = self.ex.select(inside, self.ex.index(row), self.ex.index(constant(-1)))
        return [column, self.ex.to_form(chosen), layer]

    def _is_inside(self, at: Linear, extent: int) -> Node:
        low = self.ex.compare_index(">=", at, constant(0))
        high = self.ex.compare_index("<", at, constant(extent))
        return self.ex.logic("&&", low, high)

    def _texel_type(self, texture: Texture, element: CType) -> CType:
        """Return the vector type of the image built-ins for elements of a type."""
        match texture.image.element_type:
            case IntegerType() as type_:
                unsigned = type_.signedness.data is Signedness.UNSIGNED
                return CType("uint" if unsigned else "int", tir.TEXEL)
            case _:
                half = element.base == "half" and self.target.device.read_imageh
                return CType("half" if half else "float", tir.TEXEL)

    def _as_element(self, texel: Node, ctype: CType) -> Node:
        """Return a texel read from an image, converted to the elements' type."""
        if texel.ctype.is_unsigned:
            texel = self.ex.convert(texel, ctype.unsigned())
            return self.ex.reinterpret(texel, ctype.of_width(tir.TEXEL))
        return self.ex.convert(texel, ctype)

    # Writes

    def write(
        self, op: tir.TexelWriteOp, coords: Sequence[Linear], lane: Linear, value: Node
    ) -> bool:
        """Write a texel or collect an element; return False if each lane must write separately."""
        space = self.ex.space
        if any(map(space.is_varying, coords)):
            return False
        if not space.is_varying(lane):
            self._write_element(op, coords, lane, value)
            return True
        lanes = [constant_of(self.ex.at_lane(lane, i)) for i in range(self.ex.lane_width)]
        if lanes != list(range(tir.TEXEL)):
            return False
        self._store(self._destination(op), coords, self.ex.broadcast(value, tir.TEXEL))
        return True

    def _destination(self, op: tir.TexelWriteOp) -> Array | Texture:
        buffer = self.memory.buffers[op.destination]
        assert isinstance(buffer, Array | Texture)
        if isinstance(buffer, Array):
            self._count(op.destination, buffer)
        return buffer

    def _write_element(
        self, op: tir.TexelWriteOp, coords: Sequence[Linear], lane: Linear, value: Node
    ) -> None:
        buffer, at = self._destination(op), constant_of(lane)
        if isinstance(buffer, Texture) and at is None:
            raise self._incomplete(buffer)
        if isinstance(buffer, Array) and (at is None or not _is_only_written(op.destination)):
            self._store_element(buffer, coords[0], lane, value)
            return
        assert at is not None
        pending = self._pending.setdefault(self.graph.block, {})
        key = (buffer, *(form_key(form) for form in coords))
        texel = pending.setdefault(key, _Pending(buffer, list(coords), {}))
        texel.lanes[at] = value
        if sorted(texel.lanes) == list(range(tir.TEXEL)):
            del pending[key]
            self._store(buffer, coords, self._whole([texel.lanes[i] for i in range(tir.TEXEL)]))

    def _whole(self, lanes: Sequence[Node]) -> Node:
        """Return the vector of four elements, or the vector from which all four were taken."""
        source = lanes[0].operands[0] if lanes[0].kind == "lane" else None
        if (
            source is not None
            and source.ctype.width == len(lanes)
            and all(
                node.kind == "lane" and node.operands[0] is source and node.payload == i
                for i, node in enumerate(lanes)
            )
        ):
            return source
        return self.ex.build(lanes)

    def finish(self) -> None:
        """End the current block; raise CloptError if an image texel was only partly written."""
        for texel in self._pending.pop(self.graph.block, {}).values():
            if isinstance(texel.buffer, Texture):
                raise self._incomplete(texel.buffer)
            for lane, value in texel.lanes.items():
                self._store_element(texel.buffer, texel.coords[0], constant(lane), value)

    def _incomplete(self, texture: Texture) -> CloptError:
        return CloptError(
            f"kernel {self.func.sym_name.data} writes only part of a texel of {texture.hint}: "
            "write whole texels, by a vectorized or unrolled loop over their four lanes"
        )

    def _store_element(self, array: Array, texel: Linear, lane: Linear, value: Node) -> None:
        self.memory.store_element(array, texel.scaled(tir.TEXEL) + lane, value)

    def _store(self, buffer: Array | Texture, coords: Sequence[Linear], value: Node) -> None:
        if isinstance(buffer, Texture):
            value = self._as_pixel(buffer, value)
        else:
            value = self.memory.as_stored(buffer, value, tir.TEXEL)
        operands = (value, *self.coordinates(coords))
        changed = buffer.names if isinstance(buffer, Array) else frozenset((buffer,))
        self.graph.add(TexelStore(self.graph.block, operands, changed, buffer))

    def _as_pixel(self, texture: Texture, value: Node) -> Node:
        """Return a vector of elements in the type that the image built-ins write."""
        if value.kind == "convert" and value.ctype.base == "half":
            # Writing the image rounds to half, so the conversion would be redundant.
            (value,) = value.operands
        ctype = self._texel_type(texture, value.ctype)
        # Image writes saturate: an unsigned 200 would become 127 in an image of signed bytes,
        # instead of -56.
        value = self.ex.with_sign(value, Sign.UNSIGNED if ctype.is_unsigned else Sign.SIGNED)
        return self.ex.convert(value, ctype)

    def _count(self, value: SSAValue, array: Array) -> None:
        """Record an access to whole texels of a buffer, which must be dense."""
        shape, strides, offset = layout_of(memref_type(value))
        if offset or any(s != prod(shape[i + 1 :]) for i, s in enumerate(strides)):
            raise CloptError(
                f"kernel {self.func.sym_name.data} accesses texels of {array.hint}, which is "
                f"{memref_type(value)}: only dense buffers have texels"
            )
        array.has_texels = True


def _is_only_written(buffer: SSAValue) -> bool:
    """Return whether the kernel never reads a buffer, so that texel writes may be delayed."""
    return all(isinstance(use.operation, tir.TexelWriteOp) for use in buffer.uses)


def _is_widened(value: SSAValue) -> bool:
    """Return whether all uses of an image's halves widen them, which the read itself can do."""
    users = (
        user.operation
        for use in value.uses
        if isinstance(use.operation, tir.TexelReadOp)
        for user in use.operation.result.uses
    )
    return all(isinstance(user, arith.ExtFOp | tir.TexelWriteOp) for user in users)
