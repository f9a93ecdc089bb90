"""Interface between accelerators' graphs and calls and the rest: `cl` and passes see only this.

An accelerator computes parts of a network instead of OpenCL kernels. Each part becomes a graph: an
operation of the module with the accelerator's own types inside. A call among the nn operations
replaces the operations that the graph computes. On the queue, a graph is a few commands. They run
in an order that respects the dependences between their tensors, each once per inference.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

from xdsl.dialects.builtin import (
    FlatSymbolRefAttrConstr,
    MemRefType,
    NoneAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    TensorType,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation, prop_def, traits_def, var_operand_def, var_result_def
from xdsl.traits import (
    IsolatedFromAbove,
    Pure,
    SymbolOpInterface,
    SymbolTable,
    SymbolUserOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from .crossings import Fence, MemorySpace


@dataclass(frozen=True)
class Tensors:
    """The tensors of a command that have memory in the program, without constants and scratch."""

    reads: tuple[SSAValue, ...]
    writes: tuple[SSAValue, ...]

    @property
    def all(self) -> tuple[SSAValue, ...]:
        """Return the tensors that the command reads, then the tensors that it writes."""
        return (*self.reads, *self.writes)


@dataclass(frozen=True)
class CommandWork:
    """The amount of computation and data movement of a command."""

    multiply_adds: int
    bytes: int
    """Each tensor counted once, constants included."""


class OffloadGraphOp(IRDLOperation, ABC):
    """A part of a network that an accelerator computes: commands on tensors of its own types.

    A command is an operation of the graph's body, or the graph itself if it is a single command.
    Its tensors are values of the body; graphs share no values.
    """

    ACCELERATOR: ClassVar[str]
    """The display name of the accelerator."""
    FENCE: ClassVar[Fence] = Fence.QUEUE
    """Other fences are for commands that are host calls."""
    MEMORY: ClassVar[MemorySpace] = MemorySpace.BUFFERS
    """HOST is for host calls and requires the fence FINISH."""

    sym_name = prop_def(SymbolNameConstraint())
    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())

    @property
    @abstractmethod
    def commands(self) -> Sequence[Operation]:
        """Return the commands in order; the index in this list is a command's number."""

    @property
    @abstractmethod
    def inputs(self) -> Sequence[SSAValue]:
        """Return the input tensors of the graph, which none of its commands writes."""

    @property
    @abstractmethod
    def outputs(self) -> Sequence[SSAValue]:
        """Return the output tensors of the graph, which its commands write."""

    @property
    def copies(self) -> int:
        """Return the number of commands that only change layouts."""
        return 0

    @abstractmethod
    def tensors(self, command: Operation) -> Tensors:
        """Return the tensors that a command reads and writes."""

    @abstractmethod
    def memory_type(self, tensor: SSAValue) -> MemRefType:
        """Return the type of the dense buffer for a tensor; any shape of equal size is accepted."""

    def is_opaque(self, tensor: SSAValue) -> bool:
        """Return whether only commands of this graph can interpret the bytes of a tensor."""
        del tensor
        return False

    def scratch(self, command: Operation) -> Sequence[MemRefType]:
        """Return the scratch buffers of a command, whose contents are dead once it has run."""
        del command
        return ()

    @property
    @abstractmethod
    def weight_keys(self) -> Iterable[str]:
        """Return the keys of the graph's arrays in the weights store."""

    @property
    @abstractmethod
    def constant_bytes(self) -> int:
        """Return an estimate of the bytes that the graph's constants occupy on the device."""

    @abstractmethod
    def work(self, command: Operation) -> CommandWork:
        """Return the work of a command, for profiles."""


class _CallsGraph(SymbolUserOpInterface):
    """Verifies that a call matches the type of the graph that it names."""

    def verify(self, op: Operation) -> None:
        call = cast("OffloadCallOp", op)
        graph = SymbolTable.lookup_symbol(op, call.graph)
        if not isinstance(graph, call.GRAPH):
            raise VerifyException(f"the module has no {call.GRAPH.name} @{call.graph_name}")
        for what, values, tensors in (
            ("takes", call.inputs, graph.inputs),
            ("returns", call.results, graph.outputs),
        ):
            if len(values) != len(tensors):
                raise VerifyException(
                    f"@{call.graph_name} {what} {len(tensors)} tensors; the call has {len(values)}"
                )
            for value, tensor in zip(values, tensors, strict=True):
                if not _same_buffer(value.type, graph.memory_type(tensor)):
                    raise VerifyException(
                        f"@{call.graph_name} {what} {tensor.type}, not {value.type}"
                    )


def _same_buffer(plain: Attribute, memory: MemRefType) -> bool:
    """Return whether both types describe the same elements in row-major order, in any shape."""
    type_ = cast("TensorType[Attribute]", plain)
    return (
        isinstance(type_.encoding, NoneAttr)
        and type_.element_type == memory.element_type
        and type_.element_count() == memory.element_count()
    )


class OffloadCallOp(IRDLOperation, ABC):
    """A call, among nn operations, that yields the values computed by a graph.

    Operands and results are plain tensors with the elements of the graph's tensors; shapes may
    differ.
    """

    GRAPH: ClassVar[type[OffloadGraphOp]]
    """The class of graphs that it calls."""

    graph = prop_def(FlatSymbolRefAttrConstr)
    inputs = var_operand_def(TensorType)
    res = var_result_def(TensorType)
    traits = traits_def(Pure(), _CallsGraph())
    assembly_format = "$graph `(` $inputs `)` attr-dict `:` functional-type($inputs, $res)"

    def __init__(self, graph: str, inputs: Sequence[SSAValue], result_types: Sequence[Attribute]):
        super().__init__(
            operands=[inputs],
            properties={"graph": SymbolRefAttr(graph)},
            result_types=[result_types],
        )

    @property
    def graph_name(self) -> str:
        """Return the name of the graph."""
        return self.graph.root_reference.data
