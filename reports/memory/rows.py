"""The intermediates of a program, for its memory report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Operation, SSAValue

from ...dialects import cl
from ...dialects.cl.liveness import lifetimes
from ...dialects.cl.ops import byte_count
from ...dialects.cl.placement import roots
from ..commands import title
from .values import BUFFER, IMAGE, IN_PLACE, SEPARATE, MemoryRow


def rows_of(
    program: cl.ProgramOp, ops: Sequence[cl.Command], names: Sequence[str]
) -> list[MemoryRow]:
    """Return the intermediates of `program` by first write; `names` are the names of `ops`."""
    root_of = roots(program)
    arenas = {arena: i for i, arena in enumerate(results_of(program, cl.ArenaOp))}
    kernels: dict[SSAValue, dict[str, None]] = {}
    for op, name in zip(ops, names, strict=True):
        for operand in op.operands:
            kernels.setdefault(root_of[operand], {})[name] = None
    tensors = _opaque_tensors(program, ops, root_of)
    rows: list[MemoryRow] = []
    ends: set[tuple[int, int, int, int]] = set()
    for value, life in lifetimes(program).items():
        view = value.owner
        arena = offset = pitch = None
        size, kind = byte_count(value.type), SEPARATE
        if isinstance(view, cl.BufferViewOp | cl.ImageViewOp):
            arena, offset, kind = arenas[view.arena], view.offset, BUFFER
            if isinstance(view, cl.ImageViewOp):
                pitch, kind = view.pitch, IMAGE
                size = cl.stored_bytes(value.type, pitch)
            elif (arena, offset, size, life.first) in ends:
                kind = IN_PLACE
            ends.add((arena, offset, size, life.last))
        rows.append(
            MemoryRow(
                name=value.name_hint or "value",
                node=title(ops[life.first], names[life.first]),
                type=tensors.get(value, str(value.type)),
                kind=kind,
                bytes=size,
                content=byte_count(value.type),
                first=life.first,
                last=life.last,
                kernels=tuple(kernels[value]),
                arena=arena,
                offset=offset,
                pitch=pitch,
            )
        )
    return rows


def results_of(program: cl.ProgramOp, kind: type[Operation]) -> list[SSAValue]:
    """Return the results of the operations of `kind`, in program order."""
    return [op.results[0] for op in program.body.block.ops if isinstance(op, kind)]


def _opaque_tensors(
    program: cl.ProgramOp, ops: Sequence[cl.Command], root_of: Mapping[SSAValue, SSAValue]
) -> dict[SSAValue, str]:
    """Return the tensors in memories of raw bytes, which only their graphs interpret."""
    graphs = cl.graphs_in(program)
    commands = {name: graph.commands for name, graph in graphs.items()}
    found: dict[SSAValue, str] = {}
    for op in ops:
        if isinstance(op, cl.EnqueueOffloadOp):
            graph, command = graphs[op.graph_name], commands[op.graph_name][op.index]
            # The operands behind those of tensors are scratch.
            for tensor, value in zip(graph.tensors(command).all, op.operands, strict=False):
                if graph.is_opaque(tensor):
                    found[root_of[value]] = str(tensor.type)
    return found
