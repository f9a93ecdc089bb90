"""The memory use of a planned program, computed from the program without the device."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate

from xdsl.ir import SSAValue

from ...dialects import cl, tir
from ...dialects.cl.commands import commands
from ...dialects.cl.image_pool import image_objects
from ...dialects.cl.images import is_over_buffer
from ...dialects.cl.ops import byte_count
from ...passes.cl.memory.tensors import LiveTensor, aligned_bound
from ..commands import names_of, title
from .rows import results_of, rows_of
from .values import IN_PLACE, MemoryReport, MemoryRow, Waste, used_bytes


def memory_report(program: cl.ProgramOp, target: cl.Target) -> MemoryReport:
    """Count the memory of `program`, which `cl-plan-memory` has planned for `target`.

    In a program that is not planned all intermediates are separate.
    """
    ops = commands(program)
    names = names_of(program, ops)
    rows = rows_of(program, ops, names)
    arenas = tuple(byte_count(value.type) for value in results_of(program, cl.ArenaOp))
    tensors = [
        LiveTensor(
            rows[0].bytes, rows[0].first, rows[-1].last, target.device.image_base_alignment_bytes
        )
        for rows in _in_same_bytes(rows)
    ]
    live = _live(tensors, len(ops))
    allocs = results_of(program, cl.AllocOp)
    buffers = [byte_count(value.type) for value in allocs if not tir.is_texture(value.type)]
    images = [value for value in allocs if tir.is_texture(value.type)]
    objects = _objects(program, images)
    views = [v for v in results_of(program, cl.ImageViewOp) if not is_over_buffer(v.type)]
    all_objects = _objects(program, [*images, *views])
    ports = [byte_count(arg.type) for arg in program.body.block.args]
    graph_weights = sum(graph.constant_bytes for graph in cl.graphs_in(program).values())
    return MemoryReport(
        rows=tuple(rows),
        commands=tuple(map(title, ops, names)),
        live=live,
        arenas=arenas,
        waste=_waste(rows, live, sum(arenas), tensors),
        separate=len(buffers) + len(objects),
        separate_bytes=sum(buffers) + sum(objects),
        without_views=used_bytes(r for r in rows if r.pitch is None)
        + sum(buffers)
        + sum(all_objects),
        objects_without_views=len(all_objects),
        weights=sum(byte_count(value.type) for value in results_of(program, cl.ConstantOp))
        + graph_weights,
        graph_weights=graph_weights,
        inputs=sum(ports[: program.input_count]),
        outputs=sum(ports[program.input_count :]),
        without_reuse=sum(row.bytes for row in rows),
    )


def _in_same_bytes(rows: Iterable[MemoryRow]) -> list[list[MemoryRow]]:
    """Return the rows in arenas, grouped by in-place chains that share bytes."""
    chains: dict[tuple[int, int, int, int], list[MemoryRow]] = {}
    for row in rows:
        if row.arena is None or row.offset is None:
            continue
        chain: list[MemoryRow] = []
        if row.kind == IN_PLACE:
            chain = chains.pop((row.arena, row.offset, row.bytes, row.first))
        chains[row.arena, row.offset, row.bytes, row.last] = [*chain, row]
    return list(chains.values())


def _live(tensors: Iterable[LiveTensor], count: int) -> tuple[int, ...]:
    """Return the bytes in use at each of `count` commands."""
    changes = [0] * (count + 1)
    for tensor in tensors:
        changes[tensor.first] += tensor.size
        changes[tensor.last + 1] -= tensor.size
    return tuple(accumulate(changes))[:count]


def _waste(
    rows: Sequence[MemoryRow], live: Sequence[int], arena_bytes: int, tensors: Sequence[LiveTensor]
) -> Waste:
    lower_bound = max(live, default=0)
    busiest = live.index(lower_bound) if live else 0
    over = arena_bytes - lower_bound
    # With several arenas the topmost view of each needs no rounding, and the bound is too high.
    alignment = min(over, aligned_bound(tensors) - lower_bound)
    pitch = sum(
        row.bytes - row.content
        for row in rows
        if row.arena is not None and row.first <= busiest <= row.last
    )
    return Waste(pitch, alignment, over - alignment)


def _objects(program: cl.ProgramOp, images: Sequence[SSAValue]) -> list[int]:
    """Return the bytes of each object in the pool that `images` share."""
    sizes = {
        number: byte_count(value.type) for value, number in image_objects(program, images).items()
    }
    return list(sizes.values())
