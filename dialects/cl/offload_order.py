"""Verification of `cl.enqueue_offload`: order and memory of the commands of graphs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ..offload import OffloadGraphOp, Tensors
from .commands import Command, commands
from .enqueue_offload import EnqueueOffloadOp
from .labels import label, title
from .ops import byte_count
from .placement import Extent, MemorySlice

if TYPE_CHECKING:
    from .program import ProgramOp


def graphs_in(program: ProgramOp) -> dict[str, OffloadGraphOp]:
    """Return the graphs whose commands `program` enqueues, by name, in queue order."""
    module = program.parent_op()
    known = graphs_of(module) if isinstance(module, ModuleOp) else {}
    names = (op.graph_name for op in program.body.block.ops if isinstance(op, EnqueueOffloadOp))
    return {name: known[name] for name in names if name in known}


def graphs_of(module: ModuleOp) -> dict[str, OffloadGraphOp]:
    """Return every accelerator graph of `module` by name, in one pass over its operations."""
    return {op.sym_name.data: op for op in module.body.block.ops if isinstance(op, OffloadGraphOp)}


@dataclass
class _Use:
    """The first use of a tensor: its memory, and the number of writes to that memory until then."""

    value: SSAValue
    at: Extent
    writes: int


@dataclass
class _Graph:
    """A graph with the lookups that its verification needs repeatedly."""

    op: OffloadGraphOp
    commands: Sequence[Operation] = field(init=False)
    tensors: list[Tensors] = field(init=False)
    writer: dict[SSAValue, int] = field(init=False)
    """The number of the command that writes each tensor."""
    enqueued: set[int] = field(default_factory=set[int])

    def __post_init__(self) -> None:
        self.commands = self.op.commands
        self.tensors = [self.op.tensors(command) for command in self.commands]
        self.writer = {
            tensor: i
            for i, command_tensors in enumerate(self.tensors)
            for tensor in command_tensors.writes
        }


@dataclass
class OffloadOrder:
    """The state of a walk in queue order over the graphs of a program."""

    graphs: Mapping[str, OffloadGraphOp]
    part_of: Mapping[SSAValue, MemorySlice]
    extent_of: Callable[[SSAValue], Extent]
    entered: dict[str, _Graph] = field(default_factory=dict[str, _Graph])
    """The graphs with an enqueued command."""
    uses: dict[SSAValue, _Use] = field(default_factory=dict[SSAValue, _Use])
    opaque: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """By root: the opaque tensor whose memory it is."""
    writes: defaultdict[SSAValue, list[tuple[Command, Extent]]] = field(
        default_factory=lambda: defaultdict[SSAValue, list[tuple[Command, Extent]]](list)
    )
    """The writes to each root, in queue order."""

    def accelerator_of(self, op: EnqueueOffloadOp) -> str:
        """Return the display name of the accelerator that runs a command."""
        return self._graph(op).op.ACCELERATOR

    def wrote(self, op: Command, value: SSAValue) -> None:
        """Record that a command of any kind writes a value."""
        self.writes[self.part_of[value].root].append((op, self.extent_of(value)))

    def enqueue(self, op: EnqueueOffloadOp) -> None:
        """Verify the next command of a graph, whose writes have been recorded."""
        graph = self._graph(op)
        if op.index in graph.enqueued:
            raise VerifyException(
                f"{title(op)} is enqueued twice, but a graph runs once per inference; give "
                "each call its own graph"
            )
        tensors, command = graph.tensors[op.index], graph.commands[op.index]
        scratch = graph.op.scratch(command)
        reads, writes = len(tensors.reads), len(tensors.writes) + len(scratch)
        if (len(op.reads), len(op.writes)) != (reads, writes):
            rest = f", {len(scratch)} of them scratch" if scratch else ""
            raise VerifyException(
                f"{title(op)} is given {len(op.reads)} memories to read and {len(op.writes)} to "
                f"write, but {command.name} has {reads} non-constant tensors to read and "
                f"{writes} to write{rest}"
            )
        for tensor, value in zip(tensors.all, op.operands, strict=False):
            _check_type(op, str(tensor.type), graph.op.memory_type(tensor), value)
            self._memory(op, tensor, value)
        for wanted, value in zip(scratch, op.operands[len(tensors.all) :], strict=True):
            _check_type(op, "its scratch", wanted, value)
        for tensor in tensors.reads:
            self._data(op, tensor)
        graph.enqueued.add(op.index)

    def finish(self, program: ProgramOp) -> None:
        """Verify the rules that need the whole queue."""
        for op in commands(program):
            tensors = self._tensors_of(op)
            for value, tensor in zip(op.operands, chain(tensors, repeat(None)), strict=False):
                holder = self.opaque.get(self.part_of[value].root)
                if holder is not None and holder is not tensor:
                    raise VerifyException(
                        f"{title(op)} uses {label(value)}, the memory of another tensor, "
                        f"{holder.type}, which only commands of its graph can read or write; let "
                        "the graph copy it to a plain tensor, or use other memory"
                    )
        for name, graph in self.entered.items():
            for number, command in enumerate(graph.commands):
                if number not in graph.enqueued:
                    raise VerifyException(
                        f"command {number} of the graph @{name}, {command.name}, is not enqueued, "
                        "but other commands are; a graph must run as a whole"
                    )

    def _tensors_of(self, op: Command) -> Sequence[SSAValue]:
        if not isinstance(op, EnqueueOffloadOp):
            return ()
        return self._graph(op).tensors[op.index].all

    def _graph(self, op: EnqueueOffloadOp) -> _Graph:
        name = op.graph_name
        if name not in self.entered:
            if name not in self.graphs:
                raise VerifyException(f"{title(op)}: the module has no such graph")
            self.entered[name] = _Graph(self.graphs[name])
        known = len(self.entered[name].commands)
        if not 0 <= op.index < known:
            raise VerifyException(f"{title(op)}: the graph has {known} commands, from 0")
        return self.entered[name]

    def _memory(self, op: EnqueueOffloadOp, tensor: SSAValue, value: SSAValue) -> None:
        """Verify that all commands of a graph use the same bytes for a tensor."""
        root, at = self.part_of[value].root, self.extent_of(value)
        known = self.uses.setdefault(tensor, _Use(value, at, len(self.writes[root])))
        if known.at != at:
            raise VerifyException(
                f"{title(op)} is given {label(value)} as the memory of {tensor.type}, which was "
                f"{label(known.value)} in another command of @{op.graph_name}; a tensor must "
                "have one memory"
            )
        if self.entered[op.graph_name].op.is_opaque(tensor):
            self.opaque.setdefault(root, tensor)

    def _data(self, op: EnqueueOffloadOp, tensor: SSAValue) -> None:
        """Verify that the graph computed a tensor before this command reads it unchanged."""
        graph = self.entered[op.graph_name]
        number = graph.writer.get(tensor)
        if number is not None and number not in graph.enqueued:
            raise VerifyException(
                f"{title(op)} needs the result of command {number} of its graph, "
                f"{graph.commands[number].name}, which is not enqueued before it"
            )
        use = self.uses[tensor]
        for other, at in self.writes[self.part_of[use.value].root][use.writes :]:
            if at.overlaps(use.at):
                raise VerifyException(
                    f"{title(op)} reads {label(use.value)}, but {title(other)} has overwritten it "
                    f"since @{op.graph_name} used it first; give them different bytes"
                )


def _check_type(op: EnqueueOffloadOp, what: str, wanted: MemRefType, value: SSAValue) -> None:
    """Verify that a value is a plain buffer of the wanted element type and size."""
    given = cast("MemRefType[Attribute]", value.type)
    plain = given == MemRefType(wanted.element_type, given.get_shape())
    if not plain or byte_count(given) != byte_count(wanted):
        raise VerifyException(
            f"{title(op)} is given {label(value)}, {given}, as the memory of {what}; "
            f"that is {wanted}, or the same bytes in another shape"
        )
