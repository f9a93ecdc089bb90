"""Kernels on a CPU that read an operand across its rows: a work-item moves a tile."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import cast

from xdsl.dialects.builtin import FixedBitwidthType

from .....dialects import cl, tir
from .....machine.core import LINE_BYTES
from ...schedule import Schedule
from ...schedule.analysis import memref_of
from ..naive_kernel import NaiveKernel
from ..rule import Needs, Rule
from ..shared.grid import DEFAULT_LOCAL_SIZE, LOCAL_SIZE, bind_grid, local_sizes
from ..shared.pieces import Pieces, collapse, contiguous_groups
from ..space import Choice, Domains, NotApplicable, Params, Range, Space, number
from ..stages import Access, KernelStage
from .beliefs import ITEMS_PER_CORE

_LEAST = 4
"""Fewer rows or columns use too little of each line."""
_ITEM_VECTORS = 64
"""Vectors of a work-item: a tile of 64 x 8 elements has its lines in the L1 cache."""

ROWS = number("rows", "rows of the result in a tile, whose elements share lines of the operand")
WIDTH = number("width", "lanes of a vector along a row of the result")
CHUNK = number("chunk", "vectors of a row in a tile")


@dataclass(frozen=True)
class Transposition:
    """A kernel that writes rows, and reads columns of an operand."""

    pieces: Pieces
    """The stages of the kernel, of which there is one."""
    row: int
    """The loop, after neighbouring ones were fused, along which the operand is contiguous."""
    line: int
    """The elements of a line of the operand."""

    @staticmethod
    def of(kernel: NaiveKernel) -> Transposition | NotApplicable:
        """Return the loops of a kernel that reads an operand across its rows."""
        pieces = kernel.once(Pieces)
        if len(kernel.outputs) > 1 or not pieces.pieces or pieces.lanes[0] is not None:
            return NotApplicable("its result is not one tensor in plain memory")
        (stage,), (sizes,) = pieces.pieces, pieces.sizes
        groups = contiguous_groups(stage)
        loads = (_crossed(stage, load, groups) for load in stage.block.loads())
        found = {crossed for crossed in loads if crossed is not None}
        if len(found) != 1:
            return NotApplicable("it reads no operand across its rows, or several in two ways")
        ((row, line),) = found
        if sizes[row] < _LEAST or sizes[-1] < _LEAST:
            return NotApplicable("its rows or columns are too short for a tile")
        return Transposition(pieces, row, line)

    @property
    def sizes(self) -> list[int]:
        """The size of each loop."""
        return self.pieces.sizes[0]

    def vectors(self, width: int) -> int:
        """Return the vectors of a row."""
        return -(-self.sizes[-1] // width)


def _crossed(stage: KernelStage, load: Access, groups: list[list[int]]) -> tuple[int, int] | None:
    """Return the fused loop along which a load is contiguous, and the elements of a line.

    None if the last loop walks along lines or not at all.
    """
    moves = stage.strides[load]
    element = cast("FixedBitwidthType", memref_of(load.memref).element_type)
    line = LINE_BYTES // element.size
    steps = [_step(stage, moves, group) for group in groups]
    last = steps[-1]
    if last is None or abs(last) < line or 1 not in steps:
        return None
    return steps.index(1), line


def _step(stage: KernelStage, moves: list[int | None], group: list[int]) -> int | None:
    """Return the elements by which an access moves in a step of the fused loops of a group."""
    return next((moves[i] for i in reversed(group) if stage.loops[i].size > 1), 0)


def _domains(found: Transposition, target: cl.Target) -> Domains:
    def chunks(params: Params) -> Range:
        return Range(1, found.vectors(params.number(WIDTH.name)))

    return {
        LOCAL_SIZE.name: local_sizes(target),
        WIDTH.name: Choice(found.pieces.widths(0)),
        ROWS.name: Range(1, min(found.sizes[found.row], found.line)),
        CHUNK.name: chunks,
    }


def _default(space: Space[Transposition]) -> Params:
    """Return tiles of whole lines that balance the cores."""
    found, machine = space.structure, space.target.machine
    width = max(w for w in found.pieces.widths(0) if w <= machine.vector_width)
    rows = min(found.sizes[found.row], found.line)
    tiles = prod(found.sizes[:-1]) // rows * found.vectors(width)
    items = space.target.device.compute_units * ITEMS_PER_CORE
    chunk = max(1, min(_ITEM_VECTORS // rows, found.vectors(width), tiles // items))
    return Params(
        {
            LOCAL_SIZE.name: DEFAULT_LOCAL_SIZE,
            WIDTH.name: width,
            ROWS.name: rows,
            CHUNK.name: chunk,
        }
    )


def _apply(schedule: Schedule, found: Transposition, params: Params) -> None:
    """Move the lines that a few vectors need before the next ones."""
    schedule.local_size(*params.numbers(LOCAL_SIZE.name))
    width, chunk = params.number(WIDTH.name), params.number(CHUNK.name)
    loops = collapse(schedule, found.pieces.pieces[0])
    tile = list[tir.ForOp]()
    loops[found.row], row = schedule.split(loops[found.row], params.number(ROWS.name), overlap=True)
    if width > 1:
        loops[-1], lanes = schedule.split(loops[-1], width, overlap=True)
        schedule.vectorize(lanes)
        tile.append(lanes)
    loops[-1], vector = schedule.split(loops[-1], chunk)
    schedule.reorder(*loops, vector, row, *tile)
    bind_grid(schedule, loops)


TRANSPOSITION = Rule(
    "cpu-transposition",
    1,
    Needs(device="cpu", texels=False, reductions=False),
    (LOCAL_SIZE, WIDTH, ROWS, CHUNK),
    Transposition.of,
    _domains,
    _default,
    _apply,
)
"""Each line of the operand is read once, by all rows of the tile that need its elements."""
