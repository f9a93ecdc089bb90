"""Random planned programs as plain data, which tests can damage before they become IR."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from xdsl.dialects.builtin import MemRefType, ModuleOp, f32
from xdsl.ir import Operation, SSAValue

from clopt.dialects import cl, tir

BASE = 128
"""Where views start in the arena, in bytes; also the granule of slices."""
PITCH = 64
TARGET = cl.Target.from_facts(
    "phone",
    {
        "images": True,
        "max_image_width": 64,
        "max_image_height": 64,
        "max_image_layers": 64,
        "max_image_buffer_texels": 4096,
        "max_read_images": 8,
        "max_write_images": 8,
        "image1d_buffer": True,
        "image_from_buffer": True,
        "image_pitch_alignment_bytes": PITCH,
        "image_base_alignment_bytes": BASE,
        "max_alloc_bytes": 1 << 20,
    },
)
TARGET_ATTRIBUTE = cl.TargetAttr.from_target(TARGET)
BUFFER, TEXELS, IMAGE = "buffer", "texels", "image"
INPUT, OUTPUT = -1, -2
"""The parameters of every program, buffers of 32 floats, by number."""
PARAMETER_BYTES = 128


@dataclass(frozen=True)
class Value:
    """A buffer of `width` floats, `width` texels in a row, or `height` rows of `width` texels."""

    kind: str
    width: int
    height: int = 1
    pitch: int | None = None
    offset: int = 0
    slices: tuple[tuple[int, int], ...] = ()
    """(first byte, bytes) of the parts in which it is written, where it is in parts."""

    @property
    def row(self) -> int:
        return self.width * (4 if self.kind == BUFFER else 16)

    @property
    def bytes(self) -> int:
        return (self.pitch or self.row) * self.height

    @property
    def end(self) -> int:
        return self.offset + self.bytes

    @property
    def type(self) -> MemRefType:
        if self.kind == BUFFER:
            return MemRefType(f32, [self.width])
        separators = [1] if self.kind == IMAGE else []
        shape = [self.height, self.width, 4] if self.kind == IMAGE else [self.width, 4]
        return MemRefType(f32, shape, memory_space=tir.ScopeAttr(tir.Scope.Texture, separators))


Use: TypeAlias = "tuple[int, int | None]"
"""(number of a value, number of one of its slices or None for all of it)."""


@dataclass(frozen=True)
class Launch:
    """A launch of a kernel of its own."""

    reads: tuple[Use, ...]
    write: Use
    in_place: frozenset[int] = frozenset()
    """Positions of the reads that the kernel lets be the same bytes as what it writes."""


@dataclass(frozen=True)
class Plan:
    """A program over one arena."""

    values: tuple[Value, ...]
    launches: tuple[Launch, ...]
    arena: int
    partners: tuple[tuple[int, int], ...] = field(default=())
    """Pairs of values where the second is computed in place of the first."""

    def lifetime(self, number: int) -> tuple[int, int]:
        """The first and the last launch that touch a value."""
        touching = [
            i
            for i, launch in enumerate(self.launches)
            if number in {use[0] for use in (*launch.reads, launch.write)}
        ]
        return touching[0], touching[-1]

    def with_value(self, number: int, **changes: object) -> Plan:
        """This plan with a value changed, and an arena that it fits in."""
        values = list(self.values)
        values[number] = replace(values[number], **changes)
        arena = max(self.arena, values[number].end)
        return replace(self, values=tuple(values), arena=arena)

    def with_launch(self, number: int, **changes: object) -> Plan:
        """This plan with a launch changed."""
        launches = list(self.launches)
        launches[number] = replace(launches[number], **changes)
        return replace(self, launches=tuple(launches))

    def free(self) -> int:
        """A free place: behind the arena, where a view may start."""
        return -(-self.arena // BASE) * BASE


def random_plan(rng: random.Random) -> Plan:
    """A correct program: every value is written before it is read, and live ones lie apart."""
    values: list[Value] = []
    launches: list[Launch] = []
    for _ in range(rng.randint(4, 14)):
        number = len(values)
        readable = [*range(max(0, number - 4), number), INPUT]
        value = _random_value(rng, [values[i] for i in readable if i != INPUT])
        values.append(value)
        parts = range(len(value.slices)) if value.slices else (None,)
        for part in parts:
            reads = rng.sample(readable, min(len(readable), rng.randint(1, 2)))
            pointwise = {
                i
                for i, read in enumerate(reads)
                if read != INPUT and _pointwise(values[read], value)
            }
            allowed = frozenset(pointwise) if part is None else frozenset[int]()
            launches.append(Launch(tuple((r, None) for r in reads), (number, part), allowed))
    launches.append(Launch(((len(values) - 1, None),), (OUTPUT, None)))
    return _place(rng, Plan(tuple(values), tuple(launches), 0))


def _random_value(rng: random.Random, others: list[Value]) -> Value:
    if others and rng.random() < 0.5:  # of the same type, so that it can be computed in place
        return replace(rng.choice(others), slices=())
    match rng.choice((BUFFER, BUFFER, "sliced", TEXELS, IMAGE)):
        case "sliced":
            counts = [rng.randint(1, 3) * BASE for _ in range(rng.randint(2, 3))]
            slices = tuple((sum(counts[:i]), count) for i, count in enumerate(counts))
            return Value(BUFFER, sum(counts) // 4, slices=slices)
        case kind if kind == IMAGE:
            width = rng.randint(1, 12)
            return Value(IMAGE, width, rng.randint(1, 5), -(-width * 16 // PITCH) * PITCH)
        case kind:
            return Value(kind, rng.randint(1, 100))


def _pointwise(given: Value, result: Value) -> bool:
    return given.kind == result.kind == BUFFER and given.bytes == result.bytes


def _place(rng: random.Random, plan: Plan) -> Plan:
    """First fit in a random order; some values in place of an input that nobody needs again."""
    lives = [plan.lifetime(i) for i in range(len(plan.values))]
    home = list(range(len(plan.values)))
    partners: list[tuple[int, int]] = []
    for at, launch in enumerate(plan.launches):
        written = launch.write[0]
        for position in sorted(launch.in_place):
            read = launch.reads[position][0]
            taken = {first for first, _ in partners} | {second for _, second in partners}
            free = read not in {first for first, _ in partners} and written not in taken
            if free and lives[read][1] == at == lives[written][0] and rng.random() < 0.7:
                home[written] = home[read]
                partners.append((read, written))
    offsets: dict[int, int] = {}
    for root in rng.sample(range(len(home)), len(home)):
        if home[root] != root:
            continue
        size = plan.values[root].bytes
        group = [i for i in range(len(home)) if home[i] == root]
        span = lives[group[0]][0], lives[group[-1]][1]
        taken = sorted(
            (offsets[i], offsets[i] + plan.values[i].bytes)
            for i in offsets
            if lives[i][0] <= span[1] and span[0] <= lives[i][1]
        )
        offset = 0
        for begin, end in taken:
            if begin < offset + size and offset < end:
                offset = -(-end // BASE) * BASE
        offsets |= dict.fromkeys(group, offset)
    values = [replace(value, offset=offsets[i]) for i, value in enumerate(plan.values)]
    arena = max(value.end for value in values)
    return replace(plan, values=tuple(values), arena=arena, partners=tuple(partners))


def name(number: int) -> str:
    """How messages call a value."""
    return f"%v{number}"


def build(plan: Plan) -> ModuleOp:
    """The module of a plan; values are called `v0`, `v1`, …, and the arena `arena`."""
    port = cl.Port("x", f32, (PARAMETER_BYTES // 4,))
    program = cl.ProgramOp("main", [port, replace(port, name="y")], 1)
    x, y = program.body.block.args
    arena = cl.ArenaOp(plan.arena)
    arena.result.name_hint = "arena"
    ops: list[Operation] = [arena]
    operands: dict[Use, SSAValue] = {(INPUT, None): x, (OUTPUT, None): y}
    for number, value in enumerate(plan.values):
        if value.kind == BUFFER:
            view = cl.BufferViewOp(arena.result, value.offset, value.type)
        else:
            view = cl.ImageViewOp(arena.result, value.offset, value.type, value.pitch)
        ops.append(view)
        operands[number, None] = view.result
        for part, (first, size) in enumerate(value.slices):
            ops.append(cl.ViewOp(view.result, MemRefType(f32, [size // 4]), first))
            operands[number, part] = ops[-1].results[0]
        for op in ops[-1 - len(value.slices) :]:
            op.results[0].name_hint = name(number)[1:]
    kernels: list[Operation] = []
    for i, launch in enumerate(plan.launches):
        args = [operands[use] for use in (*launch.reads, launch.write)]
        last = len(args) - 1
        types, pairs = [arg.type for arg in args], [(read, last) for read in launch.in_place]
        kernels.append(cl.KernelOp(f"k{i}", types, [last], [1], [1], (), pairs))
        ops.append(cl.EnqueueKernelOp(f"k{i}", args))
    program.body.block.add_ops([*ops, cl.ReturnOp()])
    return ModuleOp([*kernels, program], {"cl.target": TARGET_ATTRIBUTE})
