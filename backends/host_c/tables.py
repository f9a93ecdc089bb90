"""A planned queue program as the tables that the C runtime interprets.

Memory objects of the device are *roots*. A value is a *slot*: bytes of a root, perhaps with an
image over them, or a root that is an image. Chains of views are resolved here, so the runtime does
not need them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import accumulate
from typing import TypeAlias, cast

from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects import cl, tir
from ...dialects.cl.images import image_of, is_over_buffer
from ...dialects.cl.ops import byte_count
from ...dialects.ranged_size import RangedSize
from ...errors import CloptError
from ...weights import Weights
from ..programs import program_of
from ..row_arguments import buffer_of_row, copy_steps, row_arguments
from .names import Names, identifier
from .weights_file import TEXEL_BYTES


class RootKind(Enum):
    """The owner of a root's memory; the values are C's."""

    Parameter = "CLOPT_PARAMETER"
    Arena = "CLOPT_ARENA"
    Constant = "CLOPT_CONSTANT"
    Object = "CLOPT_OBJECT"


@dataclass(frozen=True)
class Root:
    """A memory object of the device."""

    name: str
    kind: RootKind
    bytes: int
    image: tir.Image | None = None
    """None for a buffer."""
    key: str = ""
    """The key of a constant's array in the weights store."""


@dataclass(frozen=True)
class Slot:
    """A value in the form that kernels get it."""

    root: int
    offset: int
    bytes: int
    image: tir.Image | None = None
    pitch: int = 0
    """Bytes from row to row of a 2-D image over an arena, else 0."""
    over_parts: tuple[tir.ImageKind, ...] = ()
    """The kinds of images over the bytes of this value's root, if these bytes are part of an arena.
    """
    object: int = 0
    """The root that replaces those bytes on devices that cannot create such images in an arena."""
    object_offset: int = 0
    """The value's byte offset in that root."""


@dataclass(frozen=True)
class Value:
    """A name for a slot."""

    name: str
    slot: int
    type: MemRefType[Attribute]


@dataclass(frozen=True)
class LaunchRow:
    """The launch of a kernel; `arguments` are numbers of values."""

    kernel: int
    arguments: list[int]
    rows: tuple[tuple[int, int], ...] = ()
    """The start and the step of each row, in elements."""
    sizes: tuple[RangedSize, ...] | None = None
    """The global size for smaller values of the program's symbol; None if it stays the same."""


@dataclass(frozen=True)
class CopyRow:
    """A copy from one value to another."""

    source: int
    destination: int
    steps: tuple[int, int] = (0, 0)
    """The bytes by which both move after each iteration of a repetition."""


@dataclass(frozen=True)
class OffloadRow:
    """A command that a vendor's library computes; `number` counts over all graphs."""

    number: int
    name: str
    arguments: list[int]


Command: TypeAlias = LaunchRow | CopyRow | OffloadRow


@dataclass
class Tables:
    """All tables of a program."""

    program: cl.ProgramOp
    kernels: list[cl.Kernel]
    """The launched kernels, in the order of their first launch."""
    kernel_names: list[str] = field(default_factory=list[str])
    """Identifiers made from the kernels' names."""
    roots: list[Root] = field(default_factory=list[Root])
    slots: list[Slot] = field(default_factory=list[Slot])
    values: list[Value] = field(default_factory=list[Value])
    commands: list[Command] = field(default_factory=list["Command"])
    repetitions: list[cl.Repetition] = field(default_factory=list[cl.Repetition])
    numbers: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    """The roots of the values that are memory objects."""

    @property
    def programs(self) -> dict[str, str]:
        """The file of each program binary by its key; the file name contains a digest."""
        keys = dict.fromkeys(kernel.program for kernel in self.kernels if kernel.program)
        return {key: f"program_{key.removeprefix('w_')}.bin" for key in keys}

    @property
    def arenas(self) -> list[Root]:
        """The arenas."""
        return [root for root in self.roots if root.kind is RootKind.Arena]

    @property
    def pitches(self) -> list[int]:
        """The row pitches of image views."""
        return [slot.pitch for slot in self.slots if slot.pitch]


def make_tables(module: ModuleOp, weights: Weights) -> Tables:
    """Return the tables of the only program of `module`; raise CloptError if it cannot run."""
    return _Maker(program_of(module), cl.kernels_of(module), weights).make()


class _Maker:
    """The construction of one program's tables."""

    def __init__(
        self, program: cl.ProgramOp, kernels: Mapping[str, cl.Kernel], weights: Weights
    ) -> None:
        self.program = program
        self.ports = program.ports
        self.kernels = kernels
        self.weights = weights
        self.tables = Tables(program, [])
        self.parts = cl.parts(program)
        self.over_parts = _images_over_parts(self.parts)
        self.roots = self.tables.numbers
        self.objects: dict[SSAValue, int] = {}
        self.values: dict[SSAValue, int] = {}
        self.slots: dict[Slot, int] = {}
        graphs = cl.graphs_in(program)
        self.operations = {name: graph.commands for name, graph in graphs.items()}
        self.first_numbers = _first_numbers(self.operations)
        self.root_names = Names()
        self.value_names = Names()
        self.kernel_names = Names()

    def make(self) -> Tables:
        for port, arg in zip(self.ports, self.program.body.block.args, strict=True):
            image = image_of(arg.type)
            self.add_root(arg, Root(port.name, RootKind.Parameter, byte_count(arg.type), image))
        ops = list(self.program.body.block.ops)
        for op in ops:
            if isinstance(op, cl.ArenaOp):
                self.add_root(op.result, Root("arena", RootKind.Arena, op.size))
        for op in ops:
            if isinstance(op, cl.ConstantOp):
                self.add_root(op.result, self.constant(op))
        self.add_objects(ops)
        for op in cl.commands(self.program):
            if isinstance(op, cl.EnqueueKernelOp):
                self.launch(op)
            elif isinstance(op, cl.EnqueueCopyOp):
                self.copy(op)
            else:
                self.operation(op)
        self.tables.repetitions += cl.repetitions(cl.enqueued(self.program))
        return self.tables

    def add_root(self, value: SSAValue, root: Root) -> None:
        self.roots[value] = self.new_root(root)

    def new_root(self, root: Root) -> int:
        named = Root(
            self.root_names.add(identifier(root.name)), root.kind, root.bytes, root.image, root.key
        )
        self.tables.roots.append(named)
        return len(self.tables.roots) - 1

    def constant(self, op: cl.ConstantOp) -> Root:
        key, type_ = op.key.data, op.result.type
        size = byte_count(type_)
        if self.weights.get(key).nbytes != size:
            raise CloptError(
                f'The weight "{key}" has {self.weights.get(key).nbytes} bytes, but {type_} needs '
                f"{size}; pass the weights that belong to this module."
            )
        image = None if is_over_buffer(type_) else image_of(type_)
        name = op.result.name_hint or "constant"
        return Root(name, RootKind.Constant, _object_bytes(type_), image, key)

    def add_objects(self, ops: list[Operation]) -> None:
        """Add objects for values outside of arenas, and for values with images over an arena.

        Some devices cannot create images over parts of a buffer, and use the objects instead.
        """
        values: list[SSAValue] = [op.result for op in ops if isinstance(op, cl.AllocOp)]
        values += self.over_parts
        images = [value for value in values if image_of(value.type) is not None]
        numbers = cl.image_objects(self.program, images)
        made: dict[int, int] = {}
        for value in values:
            number = numbers.get(value)
            if number not in made:
                over_buffer = is_over_buffer(value.type)
                image = None if over_buffer else image_of(value.type)
                name = "buffer" if over_buffer else "image"
                size = _object_bytes(value.type)
                index = self.new_root(Root(name, RootKind.Object, size, image))
                if number is not None:
                    made[number] = index
            else:
                index = made[number]
            if isinstance(value.owner, cl.AllocOp):
                self.roots[value] = index
            else:
                self.objects[value] = index

    def launch(self, op: cl.EnqueueKernelOp) -> None:
        kernel = self.kernels[op.kernel_name]
        if kernel.global_size is None:
            raise CloptError(
                f"The kernel @{kernel.name} has no NDRange yet; run the pipeline opencl first."
            )
        if 0 in kernel.global_size:
            return
        if kernel not in self.tables.kernels:
            self.tables.kernels.append(kernel)
            self.tables.kernel_names.append(self.kernel_names.add(identifier(kernel.name)))
        arguments = [self.value(buffer_of_row(arg)) for arg in op.args]
        rows = tuple((start, step) for _, start, step in row_arguments(kernel, op.args))
        number = self.tables.kernels.index(kernel)
        self.tables.commands.append(LaunchRow(number, arguments, rows, op.ranged_sizes))

    def copy(self, op: cl.EnqueueCopyOp) -> None:
        if byte_count(op.source.type):
            values = self.value(op.source), self.value(op.destination)
            command = CopyRow(*values, copy_steps(op))
            self.tables.commands.append(command)

    def operation(self, op: cl.EnqueueOffloadOp) -> None:
        number = self.first_numbers[op.graph_name] + op.index
        kind = self.operations[op.graph_name][op.index].name
        name = f"{kind} @{op.graph_name}[{op.index}]"
        arguments = [self.value(operand) for operand in op.operands]
        self.tables.commands.append(OffloadRow(number, name, arguments))

    def value(self, value: SSAValue) -> int:
        """Return the number of a value; a new value gets a name and a slot."""
        if value not in self.values:
            slot = self.slot(value)
            if slot not in self.slots:
                self.slots[slot] = len(self.tables.slots)
                self.tables.slots.append(slot)
            self.values[value] = len(self.tables.values)
            type_ = cast("MemRefType[Attribute]", value.type)
            name = self.value_names.add(identifier(self.hint(value)))
            self.tables.values.append(Value(name, self.slots[slot], type_))
        return self.values[value]

    def slot(self, value: SSAValue) -> Slot:
        part = self.parts[value]
        extent = cl.extent(value, part)
        root = self.roots[extent.memory]
        image = image_of(value.type)
        size = extent.end - extent.begin
        if not size or self.tables.roots[root].image:
            size = self.tables.roots[root].bytes
        owner = part.root.owner
        pitch = owner.pitch if isinstance(owner, cl.ImageViewOp) else None
        slot = Slot(root, extent.begin, size, image, pitch or 0)
        if part.root not in self.objects:
            return slot
        kinds = self.over_parts[part.root]
        return replace(
            slot, over_parts=kinds, object=self.objects[part.root], object_offset=part.offset
        )

    def hint(self, value: SSAValue) -> str:
        """Return a name for a value: the user's name for inputs, outputs and constants."""
        if value in self.roots and isinstance(value.owner, cl.ConstantOp):
            return self.tables.roots[self.roots[value]].name
        args = self.program.body.block.args
        if value in args:
            return self.ports[args.index(value)].name
        return value.name_hint or "value"


def _images_over_parts(
    parts: Mapping[SSAValue, cl.MemorySlice],
) -> dict[SSAValue, tuple[tir.ImageKind, ...]]:
    """Return the kinds of images over each part of an arena that has any."""
    kinds_of: dict[SSAValue, tuple[tir.ImageKind, ...]] = {}
    for value, part in parts.items():
        image = image_of(value.type)
        if image is not None and isinstance(part.root.owner, cl.BufferViewOp | cl.ImageViewOp):
            kinds = kinds_of.get(part.root, ())
            kinds_of[part.root] = kinds if image.kind in kinds else (*kinds, image.kind)
    return kinds_of


def _first_numbers(operations: Mapping[str, Sequence[Operation]]) -> dict[str, int]:
    """Return the number of each graph's first operation."""
    counts = map(len, operations.values())
    return dict(zip(operations, accumulate(counts, initial=0), strict=False))


def _object_bytes(type_: Attribute) -> int:
    """Return the bytes of a buffer's object; an empty one under an image has one texel."""
    size = byte_count(type_)
    return max(size, TEXEL_BYTES) if image_of(type_) is not None else size
