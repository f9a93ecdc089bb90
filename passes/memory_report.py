"""The memory that a planned program takes on its device, computed from the program alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from xdsl.ir import Operation, SSAValue

from ..dialects import cl, clml, tir
from ..dialects.cl.commands import commands
from ..dialects.cl.image_pool import image_objects
from ..dialects.cl.images import is_over_buffer
from ..dialects.cl.liveness import lifetimes
from ..dialects.cl.ops import byte_count
from ..dialects.cl.placement import roots
from .cl.memory.tensors import Tensor, aligned_bound
from .locations import node_name

BUFFER, IMAGE, IN_PLACE, SEPARATE = KINDS = ("buffer", "image", "in place", "separate")


@dataclass(frozen=True)
class Row:
    """One intermediate: its memory, which its views (`cl.view`) share."""

    name: str
    """Its name in the program's text, without the number that distinguishes equal names."""
    node: str
    """The ONNX node that writes it first; the kernel if the program has no names of nodes."""
    type: str
    kind: str
    """One of `KINDS`: a buffer or an image in an arena; a buffer that takes over the bytes of one
    that the same launch reads for the last time; or a value outside of arenas."""
    bytes: int
    """The bytes that it takes, all rows of an image with their pitch."""
    content: int
    """The bytes of its elements."""
    first: int
    """Index of the first command that writes it; commands are counted from 0."""
    last: int
    """Index of the last command that uses it."""
    kernels: tuple[str, ...]
    """The kernels that use it, in queue order; a copy is `copy`, and a command of a CLML graph
    `clml.pool @clml_0[3]`."""
    arena: int | None = None
    offset: int | None = None
    """The byte of its arena at which it starts."""
    pitch: int | None = None
    """Bytes from a row of a 2-D image in an arena to the next."""


@dataclass(frozen=True)
class Waste:
    """Unused bytes of the arenas at the busiest command, by cause."""

    pitch: int
    """The padding of rows of images that are live at `MemoryReport.busiest`, which is part of the
    lower bound."""
    alignment: int
    """The additional bytes of the arenas because views start at multiples of the target's
    alignment: the most live bytes with all sizes but one rounded up, minus the lower bound."""
    fragmentation: int
    """The rest: arenas - lower bound - alignment."""


@dataclass(frozen=True)
class MemoryReport:
    """Memory of one inference, in bytes.

    `total` is everything that the device holds for the model: the program's own memory, and the
    buffers of its inputs and outputs. It does not count the memory of the driver and of the
    kernels' code.
    """

    rows: tuple[Row, ...]
    """The intermediates by first write."""
    commands: tuple[str, ...]
    """The node of each command, in queue order."""
    live: tuple[int, ...]
    """Bytes of the arenas that are in use at each command. A launch that computes in place has its
    input and output in the same bytes, which count once."""
    arenas: tuple[int, ...]
    """The size of each arena."""
    waste: Waste
    separate: int
    """The number of image objects and buffers outside of arenas."""
    separate_bytes: int
    """Their bytes. Images with equal shapes and texels share an object if they can."""
    without_views: int
    """The bytes of intermediates on a device that cannot lay images over buffers."""
    objects_without_views: int
    """The number of image objects on such a device."""
    weights: int
    graph_weights: int
    """The weights that are constants of CLML graphs. An optimal tensor counts with its
    `planned_bytes`, since only the device knows its size."""
    inputs: int
    outputs: int
    without_reuse: int
    """The bytes of all intermediates if each had separate memory."""

    @property
    def lower_bound(self) -> int:
        """The most bytes live at one command, without alignment: no arena can be smaller."""
        return max(self.live, default=0)

    @property
    def busiest(self) -> int | None:
        """The first command that reaches the lower bound; None without commands."""
        return self.live.index(self.lower_bound) if self.live else None

    @property
    def peak(self) -> int:
        """The bytes of the arenas up to the end of their last values."""
        return _used(self.rows)

    @property
    def arena_bytes(self) -> int:
        """The bytes of all arenas together."""
        return sum(self.arenas)

    @property
    def ratio(self) -> float:
        """The ratio of the arenas to the lower bound, at best 1; also 1 without arenas."""
        return self.arena_bytes / self.lower_bound if self.lower_bound else 1.0

    @property
    def total(self) -> int:
        """Everything that the device holds for the model."""
        made = self.arena_bytes + self.separate_bytes + self.weights
        return made + self.inputs + self.outputs


def memory_report(program: cl.ProgramOp, target: cl.Target) -> MemoryReport:
    """Count the memory of `program`, which `cl-plan-memory` has planned for `target`.

    In a program that is not planned all intermediates are separate.
    """
    ops = commands(program)
    names = _names(program, ops)
    rows = _rows(program, ops, names)
    arenas = tuple(byte_count(value.type) for value in _results(program, cl.ArenaOp))
    tensors = [
        Tensor(rows[0].bytes, rows[0].first, rows[-1].last, target.image_base_alignment_bytes)
        for rows in _in_same_bytes(rows)
    ]
    live = _live(tensors, len(ops))
    allocs = _results(program, cl.AllocOp)
    buffers = [byte_count(value.type) for value in allocs if not tir.is_texture(value.type)]
    images = [value for value in allocs if tir.is_texture(value.type)]
    objects = _objects(program, images)
    views = [v for v in _results(program, cl.ImageViewOp) if not is_over_buffer(v.type)]
    all_objects = _objects(program, [*images, *views])
    ports = [byte_count(arg.type) for arg in program.body.block.args]
    graph_weights = sum(map(_graph_weights, cl.ml_graphs(program).values()))
    return MemoryReport(
        rows=tuple(rows),
        commands=tuple(map(_title, ops, names)),
        live=live,
        arenas=arenas,
        waste=_waste(rows, live, sum(arenas), tensors),
        separate=len(buffers) + len(objects),
        separate_bytes=sum(buffers) + sum(objects),
        without_views=_used(r for r in rows if r.pitch is None) + sum(buffers) + sum(all_objects),
        objects_without_views=len(all_objects),
        weights=sum(byte_count(value.type) for value in _results(program, cl.ConstantOp))
        + graph_weights,
        graph_weights=graph_weights,
        inputs=sum(ports[: program.input_count]),
        outputs=sum(ports[program.input_count :]),
        without_reuse=sum(row.bytes for row in rows),
    )


def _used(rows: Iterable[Row]) -> int:
    """The bytes of all arenas up to the ends of the last of `rows`."""
    ends: dict[int, int] = {}
    for row in rows:
        if row.arena is not None and row.offset is not None:
            ends[row.arena] = max(ends.get(row.arena, 0), row.offset + row.bytes)
    return sum(ends.values())


def _results(program: cl.ProgramOp, kind: type[Operation]) -> list[SSAValue]:
    return [op.results[0] for op in program.body.block.ops if isinstance(op, kind)]


def _graph_weights(graph: clml.GraphOp) -> int:
    constants = (op for op in graph.body.block.ops if isinstance(op, clml.ConstantOp))
    return sum(op.result.type.planned_bytes for op in constants)


def _names(program: cl.ProgramOp, ops: Sequence[cl.Command]) -> list[str]:
    """The name of each command: a kernel, a copy, `clml.pool @clml_0[3]`."""
    graphs = {name: graph.commands for name, graph in cl.ml_graphs(program).items()}
    names: list[str] = []
    for op in ops:
        match op:
            case cl.EnqueueKernelOp():
                names.append(op.kernel_name)
            case cl.EnqueueCopyOp():
                names.append("copy")
            case cl.EnqueueMLOp():
                command = graphs[op.graph_name][op.index]
                names.append(f"{command.name} @{op.graph_name}[{op.index}]")
    return names


def _rows(program: cl.ProgramOp, ops: Sequence[cl.Command], names: Sequence[str]) -> list[Row]:
    root_of = roots(program)
    arenas = {arena: i for i, arena in enumerate(_results(program, cl.ArenaOp))}
    kernels: dict[SSAValue, dict[str, None]] = {}
    for op, name in zip(ops, names, strict=True):
        for operand in op.operands:
            kernels.setdefault(root_of[operand], {})[name] = None
    tensors = _optimal_tensors(program, ops, root_of)
    rows: list[Row] = []
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
            Row(
                name=value.name_hint or "value",
                node=_title(ops[life.first], names[life.first]),
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


def _optimal_tensors(
    program: cl.ProgramOp, ops: Sequence[cl.Command], root_of: Mapping[SSAValue, SSAValue]
) -> dict[SSAValue, str]:
    """The tensors in memories that are rows of bytes, which only CLML graphs can interpret."""
    graphs = {name: graph.commands for name, graph in cl.ml_graphs(program).items()}
    found: dict[SSAValue, str] = {}
    for op in ops:
        if isinstance(op, cl.EnqueueMLOp):
            tensors = cl.ml_tensors(graphs[op.graph_name][op.index])
            for tensor, value in zip(tensors, op.operands, strict=True):
                if clml.ml_tensor(tensor).layout is clml.Layout.OPTIMAL:
                    found[root_of[value]] = str(tensor.type)
    return found


def _in_same_bytes(rows: Iterable[Row]) -> list[list[Row]]:
    """The rows in arenas, grouped by those that take over each other's bytes in place."""
    chains: dict[tuple[int, int, int, int], list[Row]] = {}
    for row in rows:
        if row.arena is None or row.offset is None:
            continue
        chain: list[Row] = []
        if row.kind == IN_PLACE:
            chain = chains.pop((row.arena, row.offset, row.bytes, row.first))
        chains[row.arena, row.offset, row.bytes, row.last] = [*chain, row]
    return list(chains.values())


def _live(tensors: Iterable[Tensor], count: int) -> tuple[int, ...]:
    """Bytes in use at each of `count` commands."""
    changes = [0] * (count + 1)
    for tensor in tensors:
        changes[tensor.first] += tensor.size
        changes[tensor.last + 1] -= tensor.size
    return tuple(accumulate(changes))[:count]


def _waste(
    rows: Sequence[Row], live: Sequence[int], arena_bytes: int, tensors: Sequence[Tensor]
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
    """Bytes of each object of the pool that `images` share."""
    sizes = {
        number: byte_count(value.type) for value, number in image_objects(program, images).items()
    }
    return list(sizes.values())


def _title(op: Operation, kernel: str) -> str:
    """The name of a command's node, else that of its kernel."""
    name = node_name(op)
    return kernel if name == op.name else name
