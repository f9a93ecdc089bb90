"""Reductions to values in blocks of channels on a CPU: convolutions and pools.

A work-item computes some blocks of channels at some columns of a row, a vector of accumulators for
each. In a convolution each element of the operand is multiplied by vectors of weights, so nothing
is gathered, and borders need no copy: they are tests of scalars, which the loop over the channels
of a block leaves outside. The form is that of Georganas et al. ("Anatomy of High-Performance Deep
Learning Convolutions on SIMD Architectures", 2018).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import cast

from xdsl.dialects.builtin import FixedBitwidthType

from ....dialects import cl, tir
from ..schedule import Schedule
from ..schedule.analysis import memref_of
from .contraction import NO_CONTRACTION, Contraction, Load
from .grid import DEFAULT_LOCAL_SIZE, LOCAL_SIZE, bind_grid, join_grid, local_size_parameter
from .naive_kernel import NaiveKernel
from .rule import Kernels, Rule
from .space import Choice, Misfit, Order, Parameter, Params, Range, Space
from .stages import Stage, blocked_variable, lane_step
from .streams import AHEAD, AHEAD_PARAMETER, default_ahead, fetch_ahead

_MOST_ACCUMULATORS = 16
"""More than that, and compilers spill some of them: they move loads up."""
_OTHER_REGISTERS = 4
"""Vector registers that hold operands while the others accumulate."""
_MOST_COPIES = 512
"""Multiply-adds in the text of an unrolled window at the most; more only slows compilers down."""


@dataclass(frozen=True)
class _Tile:
    """What a work-item accumulates: vectors of `blocks` blocks at `columns` points of a row."""

    blocks: int
    columns: int


@dataclass(frozen=True)
class _Shape:
    """What the tiles of a kernel depend on, whatever the target is."""

    contraction: Contraction
    lane: int
    """The variable whose values lie in blocks."""
    lanes: int
    """The size of these blocks."""
    term: int | None
    """The variable of the reduction along which an operand lies in blocks, too."""

    @staticmethod
    def of(kernel: NaiveKernel) -> _Shape | Misfit:
        contraction = kernel.contraction
        if contraction is None:
            return Misfit(NO_CONTRACTION)
        output, stage = contraction.output, contraction.stage
        (store,) = output.block.stores()
        blocks = [blocked_variable(stage, load.op) for load in contraction.loads]
        found = blocked_variable(output, store)
        if found is None:
            # Weights in blocks of both have vectors, too; a plain result takes them apart.
            sizes = {b[1] for b in blocks if b is not None and b[0] in stage.reduce}
            filled = (b for b in blocks if b is not None and b[1] in sizes and _fills(stage, *b))
            found = next(filled, None)
        if found is None:
            return Misfit("neither its result nor weights lie in blocks of channels")
        lane, lanes = found
        for load in contraction.loads:
            if lane_step(stage.block, load.op, lane, lanes) not in (0, 1):
                return Misfit("the channels of a block read elements that are no neighbours")
        whole = (i for i in stage.reduce if stage.block.iter_extents[i] % lanes == 0)
        term = next((i for i in whole if (i, lanes) in blocks), None)
        return _Shape(contraction, lane, lanes, term)

    @property
    def extents(self) -> tuple[int, ...]:
        """The extents of the spatial variables."""
        return self.contraction.extents

    @cached_property
    def column(self) -> int | None:
        """The variable of the columns; None where the result has only channels."""
        others = [i for i, n in enumerate(self.extents) if i != self.lane and n > 1]
        return others[-1] if others else None

    @property
    def width(self) -> int:
        """Columns of a row."""
        return 1 if self.column is None else self.extents[self.column]

    @property
    def count(self) -> int:
        """Blocks of channels."""
        return -(-self.extents[self.lane] // self.lanes)

    @cached_property
    def window(self) -> list[int]:
        """The variables of the reduction beside the channels that take several values."""
        extents = self.contraction.stage.block.iter_extents
        return [i for i in self.contraction.stage.reduce if i != self.term and extents[i] > 1]

    def unrolled(self, window: int) -> list[int]:
        """So many innermost variables of the window."""
        return self.window[len(self.window) - window :]

    def has_room(self, tile: _Tile, window: int) -> bool:
        """Whether the text may have a copy of the tile for each step of an unrolled window."""
        extents = self.contraction.stage.block.iter_extents
        copies = prod(extents[i] for i in self.unrolled(window)) * tile.blocks * tile.columns
        return window == 0 or copies <= _MOST_COPIES

    def chunks(self, tile: _Tile) -> tuple[int, ...]:
        """Tiles of a row for a work-item: divisors, so that none is a rest."""
        return _divisors(-(-self.width // tile.columns))


def _fills(stage: Stage, variable: int, lanes: int) -> bool:
    """Whether blocks along a variable of the result have no tail."""
    return variable in stage.spatial and stage.block.iter_extents[variable] % lanes == 0


@dataclass(frozen=True)
class _Problem:
    """The choice of a tile."""

    shape: _Shape
    target: cl.Target
    ahead: int
    """The bytes at which constants are fetched ahead of their use."""

    @property
    def most(self) -> int:
        """Accumulators of a tile."""
        return max(1, min(self.target.vector_registers - _OTHER_REGISTERS, _MOST_ACCUMULATORS))

    @cached_property
    def best(self) -> _Tile:
        """The cheapest tile."""
        return min(self._candidates(), key=self.cost)

    @property
    def most_blocks(self) -> int:
        """Blocks of a tile at the most."""
        return min(self.most, self.shape.count)

    def cycles(self, tile: _Tile) -> float:
        """Cycles of one tile."""
        shape, target = self.shape, self.target
        loads, sums, traffic = 0, tile.blocks * tile.columns, 0.0
        depth = shape.contraction.depth
        for load in shape.contraction.loads:
            of_column = shape.column is not None and load.steps[shape.column] != 0
            of_block = load.steps[shape.lane] != 0
            each = (tile.blocks if of_block else 1) * (tile.columns if of_column else 1)
            loads += each
            # What a tile reads once over the whole reduction comes from the second level.
            size = each * element_bytes(load) * (shape.lanes if of_block else 1)
            if size * depth > target.l1_cache_bytes / 2:
                traffic += size
        step = max(
            sums / target.mads_per_cycle,
            loads / target.loads_per_cycle,
            traffic / target.l2_bytes_per_cycle,
            target.mad_cycles,
        )
        return depth * step + sums + target.tile_cycles

    def cost(self, tile: _Tile) -> float:
        """Cycles of all tiles."""
        shape = self.shape
        tiles = -(-shape.count // tile.blocks) * -(-shape.width // tile.columns)
        rows = prod(shape.extents) / (shape.extents[shape.lane] * shape.width)
        return rows * tiles * self.cycles(tile)

    def _candidates(self) -> Iterator[_Tile]:
        for blocks in range(1, self.most_blocks + 1):
            for columns in range(1, min(self.shape.width, self.most // blocks) + 1):
                yield _Tile(blocks, columns)


def element_bytes(load: Load) -> int:
    """The bytes of an element that a load reads."""
    return cast(FixedBitwidthType, memref_of(load.op.memref).element_type).size


def _divisors(number: int) -> tuple[int, ...]:
    return tuple(n for n in range(1, number + 1) if number % n == 0)


def _fit(kernel: NaiveKernel, target: cl.Target) -> Space[_Problem] | Misfit:
    shape = _Shape.of(kernel)
    if isinstance(shape, Misfit):
        return shape
    block = shape.contraction.stage.block
    problem = _Problem(shape, target, default_ahead(kernel.func, block, target))

    def columns(params: Params) -> Range:
        return Range(1, min(shape.width, problem.most // params.number("blocks")))

    def chunk(params: Params) -> Choice:
        return Choice(shape.chunks(_tile(params)))

    def window(params: Params) -> Choice:
        counts = range(len(shape.window) + 1)
        return Choice(tuple(n for n in counts if shape.has_room(_tile(params), n)))

    parameters = (
        local_size_parameter(target),
        Parameter("blocks", "blocks of channels of a tile", Range(1, problem.most_blocks)),
        Parameter("columns", "columns of a tile", columns),
        Parameter("chunk", "tiles of a row that a work-item computes", chunk),
        Parameter("window", "innermost loops of the window that are unrolled", window),
        Parameter(
            "order", "the variables as work-items run through them", Order(len(shape.extents))
        ),
        AHEAD_PARAMETER,
    )
    return Space(parameters, problem)


def _tile(params: Params) -> _Tile:
    return _Tile(params.number("blocks"), params.number("columns"))


def _default(space: Space[_Problem]) -> Params:
    problem = space.facts
    shape, tile = problem.shape, problem.best
    # Where the channels are a loop in the window, tests of borders stay outside of that.
    window = 1 if shape.term is not None else len(shape.window)
    window = max(n for n in range(min(window, len(shape.window)) + 1) if shape.has_room(tile, n))
    wanted = problem.target.item_cycles / problem.cycles(tile)
    order = sorted(range(len(shape.extents)), key=lambda i: (i != 0, i != shape.lane, i))
    return Params(
        {
            LOCAL_SIZE: DEFAULT_LOCAL_SIZE,
            "blocks": tile.blocks,
            "columns": tile.columns,
            "chunk": min(shape.chunks(tile), key=lambda n: abs(n - wanted)),
            "window": window,
            "order": tuple(order),
            AHEAD: problem.ahead,
        }
    )


def _apply(schedule: Schedule, kernel: NaiveKernel, params: Params) -> None:
    shape, tile = _Shape.of(kernel), _tile(params)
    assert isinstance(shape, _Shape), "the rule fits"
    schedule.local_size(*params.numbers(LOCAL_SIZE))
    loops = dict(enumerate(shape.contraction.output.loops))
    loops[shape.lane], lanes = schedule.split(loops[shape.lane], shape.lanes)
    loops[shape.lane], blocks = schedule.split(loops[shape.lane], tile.blocks, overlap=True)
    chunk: list[tir.ForOp] = []
    columns: list[tir.ForOp] = []
    if shape.column is not None:
        tiles, column = schedule.split(loops[shape.column], tile.columns, overlap=True)
        loops[shape.column], rest = schedule.split(tiles, params.number("chunk"))
        chunk, columns = [rest], [column]
    grid = [loops[i] for i in params.numbers("order")]
    schedule.reorder(*grid, *chunk, *columns, blocks, lanes)
    bind_grid(schedule, grid)
    block = shape.contraction.stage.block
    around = (*columns, blocks)[0].parent_op()
    assert isinstance(around, tir.ForOp), "the variables are loops around the tile"
    _reduce(schedule, shape, schedule.compute_at(block, around), params)
    for loop in (*columns, blocks):
        schedule.unroll(loop)
    schedule.vectorize(lanes)
    schedule.keep_private(block)
    fetch_ahead(schedule, block, params)
    join_grid(schedule, kernel.borders, shape.contraction.output)


def _reduce(schedule: Schedule, shape: _Shape, loops: list[tir.ForOp], params: Params) -> None:
    """The channels of a block are the innermost loop around the tile, which lies in registers."""
    count = len(shape.extents)
    spatial, reduce = dict(enumerate(loops[:count])), dict(enumerate(loops[count:], count))
    blocks, lanes = schedule.split(spatial.pop(shape.lane), shape.lanes)
    tile = [blocks]
    if shape.column is not None:
        tile.insert(0, spatial.pop(shape.column))
    window = [reduce.pop(i) for i in shape.unrolled(params.number("window"))]
    channels: list[tir.ForOp] = []
    if shape.term is not None:
        reduce[shape.term], inner = schedule.split(reduce[shape.term], shape.lanes)
        channels = [inner]
    schedule.reorder(*spatial.values(), *reduce.values(), *window, *channels, *tile, lanes)
    for loop in (*window, *tile):
        schedule.unroll(loop)
    schedule.vectorize(lanes)


CHANNEL_BLOCKS = Rule(
    "channel-blocks",
    2,
    Kernels(device="cpu", texels=False, reductions=True),
    _fit,
    _default,
    _apply,
    lambda space, params: space.facts.cost(_tile(params)),
)
"""The layouts of the operands say which loop of the reduction is innermost."""
