"""The rules of `cl.enqueue_ml_op`: order and memory of the commands of CLML graphs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import MemRefType, ModuleOp, i8
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from .. import clml
from .commands import Command, commands
from .labels import label, title
from .ml_op import EnqueueMLOp
from .ops import byte_count
from .placement import Extent, Part

if TYPE_CHECKING:
    from .program import ProgramOp


def ml_graphs(program: ProgramOp) -> dict[str, clml.GraphOp]:
    """The CLML graphs whose commands `program` enqueues, by name, in the order of the queue."""
    module = program.parent_op()
    known = graphs_of(module) if isinstance(module, ModuleOp) else {}
    names = (op.graph_name for op in program.body.block.ops if isinstance(op, EnqueueMLOp))
    return {name: known[name] for name in names if name in known}


def graphs_of(module: ModuleOp) -> dict[str, clml.GraphOp]:
    """Every CLML graph of `module` by name, in one pass over its operations."""
    return {op.sym_name.data: op for op in module.body.block.ops if isinstance(op, clml.GraphOp)}


def ml_tensors(command: Operation) -> tuple[SSAValue, ...]:
    """The tensors of a graph's command that have memory in a program: all except its constants.

    They are in the order of the operands of `cl.enqueue_ml_op`: operands, then the result.
    """
    operands = (v for v in command.operands if not isinstance(v.owner, clml.ConstantOp))
    return (*operands, *command.results)


def ml_memory_type(tensor: clml.MLTensorType) -> MemRefType:
    """The memory of a tensor: its bytes if it is optimal, else a dense buffer of its shape.

    A shape of as many elements serves as well.
    """
    if tensor.layout is clml.Layout.OPTIMAL:
        return MemRefType(i8, [tensor.planned_bytes])
    n, c, h, w = tensor.get_shape()
    shape = [n, h, w, c] if tensor.layout is clml.Layout.NHWC else [n, c, h, w]
    return MemRefType(tensor.element_type, shape)


@dataclass
class _Use:
    """The first use of a tensor: its memory, and the number of writes to that memory so far."""

    value: SSAValue
    at: Extent
    writes: int


@dataclass
class MLOrder:
    """The state of a walk in queue order over the graphs of a program."""

    graphs: Mapping[str, clml.GraphOp]
    part_of: Mapping[SSAValue, Part]
    extent_of: Callable[[SSAValue], Extent]
    numbered: dict[str, list[Operation]] = field(default_factory=dict[str, list[Operation]])
    enqueued: set[Operation] = field(default_factory=set[Operation])
    tensors: dict[SSAValue, _Use] = field(default_factory=dict[SSAValue, _Use])
    optimal: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """The optimal tensor of each root that is the memory of one."""
    writes: defaultdict[SSAValue, list[tuple[Command, Extent]]] = field(
        default_factory=lambda: defaultdict[SSAValue, list[tuple[Command, Extent]]](list)
    )
    """The writes to each root, in queue order."""

    def wrote(self, op: Command, value: SSAValue) -> None:
        """Note that a command of any kind writes a value."""
        self.writes[self.part_of[value].root].append((op, self.extent_of(value)))

    def enqueue(self, op: EnqueueMLOp) -> None:
        """Check the next command of a graph, whose writes have been noted."""
        command = self._command(op)
        if command in self.enqueued:
            raise VerifyException(
                f"{title(op)} is enqueued twice, but a graph runs once for every inference; give "
                "each call a graph of its own"
            )
        tensors = ml_tensors(command)
        reads = len(tensors) - len(command.results)
        if (len(op.reads), len(op.writes)) != (reads, len(command.results)):
            raise VerifyException(
                f"{title(op)} is given {len(op.reads)} memories to read and {len(op.writes)} to "
                f"write, but {command.name} has {reads} tensors to read that are no constants, and "
                f"{len(command.results)} to write"
            )
        for tensor, value in zip(tensors, op.operands, strict=True):
            self._type(op, tensor, value)
            self._memory(op, tensor, value)
        for tensor in tensors[:reads]:
            self._data(op, tensor)
        self.enqueued.add(command)

    def finish(self, program: ProgramOp) -> None:
        """Check the rules that need the whole queue."""
        for op in commands(program):
            command = self._command(op) if isinstance(op, EnqueueMLOp) else None
            tensors: Sequence[SSAValue | None] = (
                ml_tensors(command) if command else [None] * len(op.operands)
            )
            for value, tensor in zip(op.operands, tensors, strict=True):
                holder = self.optimal.get(self.part_of[value].root)
                if holder is not None and holder is not tensor:
                    raise VerifyException(
                        f"{title(op)} uses {label(value)}, the memory of another optimal tensor, "
                        f"{holder.type}, which nothing else can read or write; copy the tensor to "
                        "one in the layout NCHW in its graph, or use other memory"
                    )
        for name in self.numbered:
            for number, command in enumerate(self._commands(name)):
                if command not in self.enqueued:
                    raise VerifyException(
                        f"command {number} of the graph @{name}, {command.name}, is not enqueued, "
                        "but others of it are; a graph runs as a whole"
                    )

    def _commands(self, graph: str) -> list[Operation]:
        if graph not in self.numbered:
            self.numbered[graph] = self.graphs[graph].commands
        return self.numbered[graph]

    def _command(self, op: EnqueueMLOp) -> Operation:
        if op.graph_name not in self.graphs:
            raise VerifyException(f"{title(op)}: the module has no such clml.graph")
        known = self._commands(op.graph_name)
        if not 0 <= op.index < len(known):
            raise VerifyException(f"{title(op)}: the graph has {len(known)} commands, from 0")
        return known[op.index]

    def _type(self, op: EnqueueMLOp, tensor: SSAValue, value: SSAValue) -> None:
        """Require a plain buffer with as many elements of the same type."""
        wanted = ml_memory_type(clml.ml_tensor(tensor))
        given = cast("MemRefType", value.type)
        plain = given == MemRefType(wanted.element_type, given.get_shape())
        if not plain or byte_count(given) != byte_count(wanted):
            raise VerifyException(
                f"{title(op)} is given {label(value)}, {given}, as the memory of {tensor.type}; "
                f"that is {wanted}, or the same bytes in another shape"
            )

    def _memory(self, op: EnqueueMLOp, tensor: SSAValue, value: SSAValue) -> None:
        """Require the same bytes in all commands of a graph, and its own for an optimal tensor."""
        root, at = self.part_of[value].root, self.extent_of(value)
        known = self.tensors.setdefault(tensor, _Use(value, at, len(self.writes[root])))
        if known.at != at:
            raise VerifyException(
                f"{title(op)} is given {label(value)} as the memory of {tensor.type}, which was "
                f"{label(known.value)} in another command of @{op.graph_name}; a tensor has one "
                "memory"
            )
        if clml.ml_tensor(tensor).layout is clml.Layout.OPTIMAL:
            self.optimal.setdefault(root, tensor)

    def _data(self, op: EnqueueMLOp, tensor: SSAValue) -> None:
        """Require that the graph computed a tensor before it reads it and changed it no more."""
        writer = tensor.owner
        if isinstance(writer, Operation) and writer not in self.enqueued:
            number = self._commands(op.graph_name).index(writer)
            raise VerifyException(
                f"{title(op)} needs the result of command {number} of its graph, {writer.name}, "
                "which is not enqueued before it"
            )
        use = self.tensors[tensor]
        for other, at in self.writes[self.part_of[use.value].root][use.writes :]:
            if at.overlaps(use.at):
                raise VerifyException(
                    f"{title(op)} reads {label(use.value)}, but {title(other)} has overwritten it "
                    f"since @{op.graph_name} used it first; give them different bytes"
                )
