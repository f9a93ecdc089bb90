"""A call of a CLML graph as commands of a queue program."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from xdsl.dialects.builtin import MemRefType, UnknownLoc
from xdsl.ir import Operation, SSAValue

from ....dialects import cl, clml


def call_commands(
    call: clml.CallOp, graph: clml.GraphOp, memory_of: Callable[[SSAValue], SSAValue]
) -> Iterator[Operation]:
    """The commands of `graph`, each after the allocation of its result.

    Nothing is copied at the boundary: the graph's arguments and results lie in the buffers of the
    call's operands and results, which `memory_of` gives, or in views of them if shapes differ. The
    graph's inner tensors get memory of their own.
    """
    memories: dict[SSAValue, SSAValue] = {}
    inside = (*graph.inputs, *graph.outputs)
    for tensor, value in zip(inside, (*call.operands, *call.results), strict=True):
        memory, type_ = memory_of(value), _memory_type(tensor)
        if memory.type != type_:
            view = cl.ViewOp(memory, type_)
            view.result.name_hint = value.name_hint
            yield view
            memory = view.result
        memories[tensor] = memory
    for number, command in enumerate(graph.commands):
        (result,) = command.results
        if result not in memories:
            alloc = cl.AllocOp(_memory_type(result))
            alloc.result.name_hint = result.name_hint
            yield alloc
            memories[result] = alloc.result
        *reads, write = (memories[tensor] for tensor in cl.ml_tensors(command))
        op = cl.EnqueueMLOp(call.graph_name, number, reads, [write])
        unknown = isinstance(command.location, UnknownLoc)
        op.location = call.location if unknown else command.location
        yield op


def _memory_type(tensor: SSAValue) -> MemRefType:
    return cl.ml_memory_type(clml.ml_tensor(tensor))
