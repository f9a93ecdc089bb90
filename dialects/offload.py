"""The interface of an accelerator's graphs and of their calls: all that `cl` and passes see.

An accelerator computes parts of a network in place of our kernels. A part is a graph, an operation
of the module with the accelerator's own types inside, and one call among operations of nn stands in
the place of what the graph computes. On the queue the graph is a few commands, which run in the
order that their tensors ask for, each once in an inference.
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
    """The tensors of a command that have memory in a program; constants and scratch have not."""

    reads: tuple[SSAValue, ...]
    writes: tuple[SSAValue, ...]

    @property
    def all(self) -> tuple[SSAValue, ...]:
        """Those that it reads, then those that it writes."""
        return (*self.reads, *self.writes)


@dataclass(frozen=True)
class CommandWork:
    """What a command computes and moves."""

    multiply_adds: int
    bytes: int
    """Each tensor once, constants included."""


class OffloadGraphOp(IRDLOperation, ABC):
    """A part of a network that an accelerator computes: commands on tensors of its own types.

    A command is an operation of the graph's body, or the graph itself where that is one command.
    Its tensors are values of the body. Values of one graph are no tensors of another.
    """

    ACCELERATOR: ClassVar[str]
    """The accelerator's name for people."""
    FENCE: ClassVar[Fence] = Fence.QUEUE
    """Another one is for commands that are calls on the host."""
    MEMORY: ClassVar[MemorySpace] = MemorySpace.BUFFERS
    """The host's is for calls on the host, with the fence FINISH."""

    sym_name = prop_def(SymbolNameConstraint())
    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())

    @property
    @abstractmethod
    def commands(self) -> Sequence[Operation]:
        """The commands in their order; a command's number is its index here."""

    @property
    @abstractmethod
    def inputs(self) -> Sequence[SSAValue]:
        """The tensors that the graph takes: no command writes them."""

    @property
    @abstractmethod
    def outputs(self) -> Sequence[SSAValue]:
        """The tensors that the graph returns: its commands write them."""

    @property
    def copies(self) -> int:
        """The number of its commands that only change layouts."""
        return 0

    @abstractmethod
    def tensors(self, command: Operation) -> Tensors:
        """The tensors that a command reads and writes."""

    @abstractmethod
    def memory_type(self, tensor: SSAValue) -> MemRefType:
        """The memory of a tensor: a dense buffer; one of as many elements serves as well."""

    def is_opaque(self, tensor: SSAValue) -> bool:
        """Whether commands of this graph alone can interpret the bytes of a tensor."""
        del tensor
        return False

    def scratch(self, command: Operation) -> Sequence[MemRefType]:
        """Memory that a command uses and leaves with no meaning: nothing reads it after it."""
        del command
        return ()

    @property
    @abstractmethod
    def weight_keys(self) -> Iterable[str]:
        """The arrays of the weights store that the graph names."""

    @property
    @abstractmethod
    def constant_bytes(self) -> int:
        """The bytes that the graph's constants take on the device, at least by estimate."""

    @abstractmethod
    def work(self, command: Operation) -> CommandWork:
        """The work of a command, for a profile."""


class _CallsGraph(SymbolUserOpInterface):
    """Verifies that a call agrees with the graph that it names."""

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
                    f"@{call.graph_name} {what} {len(tensors)} tensors, not {len(values)}"
                )
            for value, tensor in zip(values, tensors, strict=True):
                if not _same_buffer(value.type, graph.memory_type(tensor)):
                    raise VerifyException(
                        f"@{call.graph_name} {what} {tensor.type}, which is no {value.type}"
                    )


def _same_buffer(plain: Attribute, memory: MemRefType) -> bool:
    """Whether both types describe the same elements in row-major order, in any shape."""
    type_ = cast("TensorType[Attribute]", plain)
    return (
        isinstance(type_.encoding, NoneAttr)
        and type_.element_type == memory.element_type
        and type_.element_count() == memory.element_count()
    )


class OffloadCallOp(IRDLOperation, ABC):
    """The values that a graph computes, among operations of nn.

    Operands and results are plain tensors with the elements of the graph's; shapes may differ.
    """

    GRAPH: ClassVar[type[OffloadGraphOp]]
    """The graphs that it calls."""

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
        """The name of the graph."""
        return self.graph.root_reference.data
