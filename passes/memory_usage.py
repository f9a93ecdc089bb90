"""The memory that the intermediate results of finished programs use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from ..dialects import cl, tir
from ..dialects.cl.image_pool import image_objects
from ..dialects.cl.images import image_of
from ..dialects.cl.ops import byte_count
from ..dialects.cl.placement import Extent, extent
from ..dialects.node_names import operation_number
from .locations import node_name


@dataclass(frozen=True)
class Stored:
    """A value that occupies a whole memory object while it is live, not a part of an arena."""

    operation: int | None
    """The number of the operation that writes it."""
    bytes: int
    first: int
    """The command that writes it."""
    last: int
    """The last command that uses it."""
    shape: tir.Image | None = None
    """The shape of an image; None for a buffer."""


@dataclass(frozen=True)
class MemoryUsage:
    """The memory of all programs of a module, as plain data that outlasts the module."""

    bytes: int
    """Bytes of the largest program, with arenas and the values outside of them."""
    live: Sequence[int]
    """Bytes needed at each command: live values, fragmentation and whole objects."""
    operations: Sequence[frozenset[int]]
    """The numbers of the operations that each command and its live values stem from."""
    stored: Sequence[Stored]
    """The values in whole objects."""
    has_arenas: bool
    """Whether buffers are parts of arenas, rather than whole objects that they use in turn."""
    busiest: Sequence[str]
    """The node of the command with the most live bytes, and those of other results live there."""

    def commands_of(self, operations: frozenset[int]) -> frozenset[int]:
        """Return the commands at which results of some operations are live."""
        return frozenset(i for i, live in enumerate(self.operations) if live & operations)

    def stored_of(self, operations: frozenset[int], most: int) -> list[Stored]:
        """Return the values of at most some bytes that operations write to whole objects."""
        return [each for each in self.stored if each.operation in operations and each.bytes <= most]


def usage_of(module: ModuleOp) -> MemoryUsage:
    """Return the memory of a module whose programs have a memory plan."""
    has_arenas, begin = cl.target_of(module).device.sub_buffers, 0
    programs: list[_PlannedProgram] = []
    for op in module.ops:
        if isinstance(op, cl.ProgramOp):
            programs.append(_PlannedProgram(op, has_arenas, begin))
            begin += len(programs[-1].commands)
    largest = max(programs, key=lambda program: program.bytes)
    return MemoryUsage(
        largest.bytes,
        [live for program in programs for live in program.needed],
        [numbers for program in programs for numbers in program.operations],
        [value for program in programs for value in program.stored],
        has_arenas,
        largest.busiest,
    )


@dataclass(frozen=True, eq=False)
class _PlannedProgram:
    """A planned program, whose commands are numbered from `begin` on."""

    op: cl.ProgramOp
    has_arenas: bool
    begin: int

    @cached_property
    def commands(self) -> Sequence[cl.Command]:
        """Return the commands."""
        return list(cl.commands(self.op))

    @cached_property
    def bytes(self) -> int:
        """Return the bytes of all arenas and of the values outside of them."""
        arenas = (op for op in self.op.body.block.ops if isinstance(op, cl.ArenaOp))
        return sum(byte_count(op.result.type) for op in arenas) + self._outside

    @property
    def needed(self) -> list[int]:
        """Return the bytes needed at each command, so that the largest are those of the program."""
        if not self.has_arenas:
            return [self.bytes] * len(self.commands)
        fragmentation = self.bytes - max(self._live, default=self.bytes)
        return [live + fragmentation for live in self._live]

    @property
    def operations(self) -> list[frozenset[int]]:
        """Return the numbers of the operations that write live values, and of each command."""
        found = [{number} for number in self._numbers]
        for life in self._lives.values():
            for time in range(life.first, life.last + 1):
                found[time].add(self._numbers[life.first])
        return [frozenset(n for n in each if n is not None) for each in found]

    @property
    def stored(self) -> Iterator[Stored]:
        """Yield the images outside of arenas, and buffers without arenas."""
        for value, life in self._lives.items():
            is_outside = isinstance(value.owner, cl.AllocOp)
            image = image_of(value.type) if is_outside else None
            if image is not None or not (is_outside or self.has_arenas):
                first, last = self.begin + life.first, self.begin + life.last
                size = byte_count(value.type)
                yield Stored(self._numbers[life.first], size, first, last, image)

    @property
    def busiest(self) -> list[str]:
        """Return the node of the busiest command, then the nodes of other live results."""
        time = self._live.index(max(self._live)) if self._live else 0
        names = [node_name(op) for op in self.commands]
        others = [
            names[life.first]
            for value, life in self._lives.items()
            if isinstance(value.owner, cl.AllocOp) or life.first <= time <= life.last
        ]
        return list(dict.fromkeys((*names[time : time + 1], *others)))

    @cached_property
    def _live(self) -> list[int]:
        """Return the live bytes at each command; values outside of arenas are always live."""
        sizes: list[dict[Extent, int]] = [{} for _ in self.commands]
        places = cl.parts(self.op)
        for value, life in self._lives.items():
            if not isinstance(value.owner, cl.AllocOp):
                place = extent(value, places[value])
                for time in range(life.first, life.last + 1):
                    # Values computed in place share one extent, which counts once.
                    sizes[time][place] = place.end - place.begin
        return [sum(extents.values()) + self._outside for extents in sizes]

    @cached_property
    def _numbers(self) -> list[int | None]:
        """Return the number of each command's operation."""
        return list(map(operation_number, self.commands))

    @cached_property
    def _lives(self) -> dict[SSAValue, cl.Lifetime]:
        return cl.lifetimes(self.op)

    @cached_property
    def _outside(self) -> int:
        values = [op.result for op in self.op.body.block.ops if isinstance(op, cl.AllocOp)]
        images = [value for value in values if tir.is_texture(value.type)]
        shared = {n: byte_count(v.type) for v, n in image_objects(self.op, images).items()}
        buffers = sum(byte_count(value.type) for value in values if not tir.is_texture(value.type))
        return buffers + sum(shared.values())
