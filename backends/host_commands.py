"""The commands of a program that are calls of functions on the host, with their arguments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, SSAValue

from ..dialects import cl
from ..dialects.crossings import MemorySpace
from ..dialects.nn.types import numpy_dtype
from ..dialects.offload import OffloadGraphOp
from .host_calls import CommandCalls, HostCall
from .offload import accelerator_of, commands_of


class HostArgument(NamedTuple):
    """An argument of a function on the host."""

    value: SSAValue | str
    """Its value in the program, or the key of an array in host memory."""
    is_written: bool


@dataclass(frozen=True)
class HostCommand:
    """A command that a function on the host runs, in a program after `with_launches`."""

    graph: OffloadGraphOp
    call: HostCall
    arguments: tuple[HostArgument, ...]

    @property
    def accelerator(self) -> str:
        """The name of the accelerator that has the function."""
        return accelerator_of(self.graph)

    @property
    def is_on_host(self) -> bool:
        """Whether the function gets arrays in host memory."""
        return self.graph.MEMORY is MemorySpace.HOST


def array_type(value: SSAValue) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """Return the dtype and the shape of a buffer as an array."""
    type_ = cast("MemRefType[Attribute]", value.type)
    return numpy_dtype(type_.element_type), tuple(type_.get_shape())


def host_commands(program: cl.ProgramOp) -> dict[cl.EnqueueOffloadOp, HostCommand]:
    """Return the commands of a program that are calls on the host."""
    ops = list(program.body.block.ops)
    # `with_launches` inserts its constants before all others. Those win, because the others may be
    # images.
    constants = {op.key.data: op.result for op in reversed(ops) if isinstance(op, cl.ConstantOp)}
    graphs = cl.graphs_in(program)
    calls: dict[cl.EnqueueOffloadOp, HostCommand] = {}
    for op in ops:
        if not isinstance(op, cl.EnqueueOffloadOp):
            continue
        graph = graphs[op.graph_name]
        if not isinstance(commands := commands_of(accelerator_of(graph)), CommandCalls):
            continue
        call = commands.call(graph, graph.commands[op.index])
        arguments: list[HostArgument] = []
        for argument in call.arguments:
            if isinstance(argument, int):
                arguments.append(HostArgument(op.operands[argument], argument >= len(op.reads)))
            else:
                is_on_host = graph.MEMORY is MemorySpace.HOST
                value = argument if is_on_host else constants[argument]
                arguments.append(HostArgument(value, False))
        calls[op] = HostCommand(graph, call, tuple(arguments))
    return calls
