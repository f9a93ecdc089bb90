"""Loads and stores: each becomes a scalar, vector or register access, or one access per lane."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import FixedBitwidthType, MemRefType
from xdsl.ir import Attribute, SSAValue

from ...dialects import tir
from ...dialects.tir.affine import Linear
from ...errors import CloptError
from ...machine.target import Target
from .expressions import Expressions
from .index import constant, constant_of
from .storage import VECTOR_WIDTHS, RegisterFile, Storages, layout_of, memref_type, scope_of
from .types import BOOL, CType, storage_type, value_type
from .values import (
    Array,
    Assign,
    Block,
    Declare,
    DeclareArray,
    ElementStore,
    ExpressionGraph,
    Fetch,
    Node,
    Register,
    Statement,
    Storage,
    Texture,
)

Buffer = Array | RegisterFile | Texture

_SPACES = {
    tir.Scope.Global: "global",
    tir.Scope.Constant: "constant",
    tir.Scope.Local: "local",
    tir.Scope.Private: "private",
}


class KernelMemory:
    """The buffers of one kernel and the accesses to them."""

    def __init__(self, expressions: Expressions, storages: Storages, target: Target):
        self.ex = expressions
        self.graph: ExpressionGraph = expressions.graph
        self.storages = storages
        self.target = target
        self.buffers: dict[SSAValue, Buffer] = {}
        self._strides: dict[SSAValue, tuple[tuple[int, ...], int]] = {}
        self._fetched: dict[Block, set[object]] = {}

    # Declarations

    def parameter(self, value: SSAValue, hint: str, written: bool) -> Array:
        """Declare a kernel parameter in global or constant memory."""
        type_ = memref_type(value)
        ctype = value_type(type_.element_type, self.target)
        array = self._array(type_, hint, ctype, written)
        if array.space not in ("global", "constant"):
            raise CloptError(
                f"parameter {hint} of a kernel is in {array.space} memory: make it global"
            )
        if written and array.space == "constant":
            raise CloptError(f"the kernel writes its parameter {hint}, which is constant")
        self.buffers[value] = array
        return array

    def share(self, first: SSAValue, second: SSAValue) -> None:
        """Record that two parameters may be the same memory."""
        one, other = self._addressed(first), self._addressed(second)
        assert isinstance(one, Array), "a parameter is no register"
        assert isinstance(other, Array), "a parameter is no register"
        one.in_place.append(other)
        other.in_place.append(one)

    def _array(self, type_: MemRefType[Attribute], hint: str, ctype: CType, written: bool) -> Array:
        shape, strides, offset = layout_of(type_)
        size = 1 + offset + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
        space = _SPACES[scope_of(type_)]
        storage = storage_type(type_.element_type, self.target)
        if space in ("local", "private") and storage == "half":
            storage = ctype.text
        return Array(hint, space, storage, ctype, size, written)

    def allocate(self, value: SSAValue, hint: str) -> None:
        """Declare a local or private buffer; local ones are declared at the start of the kernel."""
        type_ = memref_type(value)
        scope = scope_of(type_)
        if scope not in (tir.Scope.Private, tir.Scope.Local):
            raise CloptError(
                f"the kernel allocates {hint} in {scope.value} memory: make it private or local"
            )
        ctype = value_type(type_.element_type, self.target)
        lanes = self.storages.lane_loop(value)
        if lanes is not None:
            ctype = ctype.of_width(lanes.size)
        layout = self.storages.register_layout(value) if scope is tir.Scope.Private else None
        if layout is None:
            array = self._array(type_, hint, ctype, True)
            if lanes is not None:
                array.storage = ctype.text
            self.buffers[value] = array
            block = self.graph.root if scope is tir.Scope.Local else self.graph.block
            self._declare_array(DeclareArray(block, (), frozenset(), array))
            return
        self._declare_registers(value, hint, ctype, layout)

    def _declare_registers(
        self, value: SSAValue, hint: str, ctype: CType, layout: tuple[int, int]
    ) -> None:
        axis, width = layout
        if width > 1:
            ctype = ctype.of_width(width)
        file = RegisterFile.of(hint, memref_type(value).get_shape(), ctype, axis, width)
        self.buffers[value] = file
        registers = tuple(file.registers.values())
        self.graph.add(Declare(self.graph.block, (), frozenset(), registers))
        self.graph.invalidate(frozenset(registers))

    def _declare_array(self, statement: DeclareArray) -> None:
        if statement.block is self.graph.root:
            items = statement.block.items
            items.insert(sum(isinstance(item, DeclareArray) for item in items), statement)
        else:
            self.graph.add(statement)
            self.graph.invalidate(frozenset((statement.array,)))

    def storages_of(self, values: frozenset[SSAValue]) -> frozenset[Storage]:
        """Return the storages that a store to one of these memrefs may change."""
        storages: set[Storage] = set()
        for value in values:
            match self.buffers.get(value):
                case Array() as array:
                    storages |= array.names
                case Texture() as texture:
                    storages.add(texture)
                case RegisterFile() as file:
                    storages.update(file.registers.values())
                case None:
                    pass
        return frozenset(storages)

    def shared(self) -> frozenset[Storage]:
        """Return the memory that other work-items may write, so that it changes at a barrier."""
        return frozenset(
            buffer
            for buffer in self.buffers.values()
            if isinstance(buffer, Array) and buffer.written and buffer.space != "private"
        )

    # Accesses

    def _addressed(self, value: SSAValue) -> Array | RegisterFile:
        """Return the buffer of a load or store; raise CloptError for a texture."""
        buffer = self.buffers[value]
        if isinstance(buffer, Texture):
            raise CloptError(
                f"the kernel accesses the texture {buffer.hint} like memory: "
                "run tir-lower-textures before it is printed"
            )
        return buffer

    def _flat(self, value: SSAValue, indices: Sequence[Linear]) -> Linear:
        """Return the element number of an access."""
        if value not in self._strides:
            self._strides[value] = layout_of(memref_type(value))[1:]
        strides, offset = self._strides[value]
        total = constant(offset)
        for form, stride in zip(indices, strides, strict=True):
            total = total + form.scaled(stride)
        return self.ex.space.normal(total)

    def load(self, value: SSAValue, indices: Sequence[Linear], hint: str) -> Node | None:
        """Return the loaded value, or None if each lane must load separately."""
        buffer = self._addressed(value)
        if isinstance(buffer, RegisterFile):
            return self._load_registers(buffer, indices)
        form = self._flat(value, indices)
        hint = hint or buffer.hint
        if not self.ex.space.is_varying(form):
            return self._load_element(buffer, form, hint)
        stride = self.ex.space.lane_stride(form)
        return None if stride is None else self._load_strided(buffer, form, stride, hint)

    def load_quads(self, value: SSAValue, indices: Sequence[Linear]) -> Node | None:
        """Return four bytes per lane as an int, or None if each lane must load separately."""
        array = self._addressed(value)
        assert isinstance(array, Array), "quads lie in global or local memory"
        form, width = self._flat(value, indices), 1
        if self.ex.space.is_varying(form):
            if self.ex.space.lane_stride(form) != tir.QUAD:
                return None
            form, width = self.ex.at_lane(form, 0), self.ex.lane_width
        array.has_elements = True
        return self.graph.node(
            "quads", CType("int", width), self.ex.address(form), (array, form, width),
            key=form_key(form), hint=array.hint, reads=array, needs=self.ex.space.blocks_of(form),
        )  # fmt: skip

    def fetch(self, value: SSAValue, indices: Sequence[Linear], distance: int) -> None:
        """Prefetch the address `distance` bytes behind an element, once per block."""
        array = self._addressed(value)
        assert isinstance(array, Array), "a parameter is no register"
        element_bytes = cast(FixedBitwidthType, memref_type(value).element_type).size
        form = self._flat(value, indices)
        if self.ex.space.is_varying(form):
            form = self.ex.at_lane(form, 0)
        key = array, form_key(form)
        if key in self._fetched.setdefault(self.graph.block, set()):
            return
        self._fetched[self.graph.block].add(key)
        ahead = form + constant(distance // element_bytes)
        operands = tuple(self.ex.address(ahead))
        self.graph.add(Fetch(self.graph.block, operands, frozenset(), array, ahead))

    def _load_strided(self, array: Array, form: Linear, stride: int, hint: str) -> Node | None:
        """Load a vector that spans the lanes, and pick every `stride`-th element of it.

        The load also reads the elements in between, so it must provably stay inside the array.
        Return None if that is not certain.
        """
        lanes, step = self.ex.lane_width, abs(stride)
        first = self.ex.at_lane(form, 0 if stride > 0 else lanes - 1)
        shift = self._shift(array, first, step) if step > 1 else 0
        if shift is None:
            return None
        picked = [shift + i * step for i in range(lanes)]
        if stride < 0:
            picked.reverse()
        return self._load_vector(array, first + constant(-shift), lanes * step, picked, hint)

    def _shift(self, array: Array, first: Linear, step: int) -> int | None:
        """Return how far before the first lane a vector inside the array can start, or None.

        The preferred distance lets loads of neighbouring elements share one vector.
        """
        width = self.ex.lane_width * step
        low, high = self.ex.space.bounds(first)
        if width not in VECTOR_WIDTHS or low is None or high is None:
            return None
        shared = first.constant % step
        for shift in (shared, *range(step)):
            if 0 <= low - shift and high - shift + width <= array.size:
                return shift
        return None

    def load_element(self, array: Array, form: Linear) -> Node:
        """Return the element with this number."""
        return self._load_element(array, form, array.hint)

    def store_element(self, array: Array, form: Linear, stored: Node) -> None:
        """Store one element by its number."""
        self._store(array, form, stored, array.ctype.width)

    def _load_element(self, array: Array, form: Linear, hint: str) -> Node:
        array.has_elements = True
        return self.graph.node(
            "load", array.ctype, self.ex.address(form), (array, form, array.ctype.width),
            key=form_key(form), hint=hint, reads=array, needs=self.ex.space.blocks_of(form),
        )  # fmt: skip

    def _load_vector(
        self, array: Array, form: Linear, width: int, lanes: Sequence[int], hint: str
    ) -> Node:
        element = array.ctype if array.ctype.base != "bool" else CType(array.storage)
        ctype = element.resized(width)
        array.has_elements = True
        node = self.graph.node(
            "load", ctype, self.ex.address(form), (array, form, width),
            key=form_key(form), hint=hint, reads=array, needs=self.ex.space.blocks_of(form),
        )  # fmt: skip
        if list(lanes) != list(range(width)):
            node = self.ex.pick(node, lanes)
        return self.ex.convert(node, BOOL) if array.ctype.base == "bool" else node

    def _load_registers(self, file: RegisterFile, indices: Sequence[Linear]) -> Node | None:
        place = self._registers(file, indices)
        if place is None:
            return None
        register, lane = place
        node = self.graph.read(register)
        return node if lane is None else self.ex.lane(node, lane)

    def _registers(
        self, file: RegisterFile, indices: Sequence[Linear]
    ) -> tuple[Register, int | None] | None:
        """Return the register of an access and its lane in it (None for all lanes), or None."""
        space = self.ex.space
        varying = [d for d, form in enumerate(indices) if space.is_varying(form)]
        if not varying:
            register, lane = file.find([_constant(form) for form in indices])
            return register, (lane if file.width > 1 else None)
        if varying != [file.axis] or space.lane_stride(indices[file.axis]) != 1:
            return None
        first = [_constant(self.ex.at_lane(form, 0)) for form in indices]
        if self.ex.lane_width != file.width or first[file.axis] % file.width:
            return None
        return file.find(first)[0], None

    def store(self, value: SSAValue, indices: Sequence[Linear], stored: Node) -> bool:
        """Add a store statement; return False if each lane must store separately."""
        buffer = self._addressed(value)
        if isinstance(buffer, RegisterFile):
            place = self._registers(buffer, indices)
            if place is None:
                return False
            register, lane = place
            if lane is None:
                stored = self.ex.as_type(stored, register.ctype)
            self.graph.add(
                Assign(self.graph.block, (stored,), frozenset((register,)), register, lane)
            )
            return True
        form = self._flat(value, indices)
        width = buffer.ctype.width
        if self.ex.space.is_varying(form):
            if self.ex.space.lane_stride(form) != 1:
                return False
            form, width = self.ex.at_lane(form, 0), self.ex.lane_width
        self._store(buffer, form, stored, width)
        return True

    def _store(self, array: Array, form: Linear, stored: Node, width: int) -> None:
        array.has_elements = True
        stored = self.as_stored(array, stored, width)
        operands: tuple[Node, ...] = (stored, *self.ex.address(form))
        statement: Statement = ElementStore(self.graph.block, operands, array.names, array, form)
        self.graph.add(statement)

    def as_stored(self, array: Array, stored: Node, width: int) -> Node:
        """Return a value of `width` elements, converted to the array's type in memory."""
        if width > 1:
            stored = self.ex.broadcast(stored, width)
        ctype = array.ctype
        if ctype.base == "bool" and width > 1:
            ctype = CType(array.storage)
        if ctype.mask:
            stored = self.ex.mask(stored, ctype.bits)
        elif stored.ctype.signed() != ctype._replace(width=width):
            stored = self.ex.convert(stored, ctype)
        elif width > 1 and stored.ctype.is_unsigned:
            stored = self.ex.reinterpret(stored, stored.ctype.signed())
        return stored


def form_key(form: Linear) -> tuple[object, ...]:
    """Return a hashable key that identifies a form."""
    return frozenset(form.terms.items()), form.constant


def _constant(form: Linear) -> int:
    value = constant_of(form)
    assert value is not None, "indices into registers are constants"
    return value
