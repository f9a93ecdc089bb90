"""The commands of a queue program for a call of an accelerator's graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from xdsl.dialects.builtin import MemRefType, UnknownLoc
from xdsl.ir import Operation, SSAValue

from ....dialects import cl
from ....dialects.offload import OffloadCallOp, OffloadGraphOp


def call_commands(
    call: OffloadCallOp, graph: OffloadGraphOp, memory_of: Callable[[SSAValue], SSAValue]
) -> Iterator[Operation]:
    """Yield the commands of `graph`, each after the allocations of its results and scratch.

    Nothing is copied at the boundary: the graph's arguments and results use the buffers of the
    call's operands and results, from `memory_of`, or views of them if shapes differ. The graph's
    inner tensors get memory of their own.
    """
    memories: dict[SSAValue, SSAValue] = {}
    inside = (*graph.inputs, *graph.outputs)
    for tensor, value in zip(inside, (*call.operands, *call.results), strict=True):
        memory, type_ = memory_of(value), graph.memory_type(tensor)
        if memory.type != type_:
            view = cl.ViewOp(memory, type_)
            view.result.name_hint = value.name_hint
            yield view
            memory = view.result
        memories[tensor] = memory
    for number, command in enumerate(graph.commands):
        tensors = graph.tensors(command)
        for tensor in tensors.writes:
            if tensor not in memories:
                alloc = _alloc(graph.memory_type(tensor), tensor.name_hint)
                yield alloc
                memories[tensor] = alloc.result
        scratch = [_alloc(type_, "scratch") for type_ in graph.scratch(command)]
        yield from scratch
        writes = [*(memories[tensor] for tensor in tensors.writes), *(op.result for op in scratch)]
        reads = [memories[tensor] for tensor in tensors.reads]
        op = cl.EnqueueOffloadOp(call.graph_name, number, reads, writes)
        unknown = isinstance(command.location, UnknownLoc)
        op.location = call.location if unknown else command.location
        yield op


def _alloc(type_: MemRefType, name: str | None) -> cl.AllocOp:
    alloc = cl.AllocOp(type_)
    alloc.result.name_hint = name
    return alloc
