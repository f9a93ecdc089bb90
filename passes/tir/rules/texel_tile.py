"""Kernels over packed tensors: four channels at a time, in images as in buffers.

A work-item of a contraction computes a texel, four channels of the output, at a few neighbouring
columns. Each step of the reduction reads a few texels of activations and of weights and multiplies
them all, so that every texel is used several times: 18 reads feed 192 multiply-adds of a 3x3
convolution. The same kernel reads images or buffers; what differs is made by the lowering.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from ....dialects import cl, tir
from ....dialects.tir import TEXEL
from ..schedule import Schedule
from ..schedule.analysis import written
from .grid import join_grid_of_texels
from .naive_kernel import NaiveKernel
from .rule import Kernels, Rule
from .space import Choice, Misfit, Parameter, Params, Range, Space
from .stages import Stage, reads_in_place, split_channels
from .work_items import Shapes, bind_items

_ACCUMULATORS = 16
"""Texels that a work-item computes at the most."""
_MOST_COLUMNS = 8
"""Columns of the result for a work-item at the most."""
_MOST_COLUMNS_OF_CHANNEL = 4
"""The same for windows over one channel, in pools and depthwise convolutions: they have so little
to do for each texel they read that work-items in flight matter more."""
_MOST_TAPS = 16
"""Columns of a window that are worth unrolling."""
_MOST_COPIES = 1024
"""Multiply-adds in the text of an unrolled step of a reduction; more only slows compilers down."""


@dataclass(frozen=True)
class TexelTile:
    """What a work-item computes: `blocks` texels at `columns` points of a variable."""

    columns: int
    blocks: int = 1


@dataclass(frozen=True)
class _Shape:
    """What a tile depends on, asked of a reduction once for all candidates."""

    stage: Stage
    extents: tuple[int, ...]
    """Of the result."""
    lane: int
    """The variable of the result that walks the lanes of texels."""
    shares_texels: bool
    channels: int
    """Steps of the reduction that one texel of activations feeds."""
    taps: int
    """Steps of the reduction beside the channels that a work-item takes at once."""
    stride: int
    """Columns of the operand between two of the result."""

    @staticmethod
    def of(kernel: NaiveKernel) -> _Shape | None:
        """None for a kernel of another shape."""
        if len(kernel.producers) != 1:
            return None
        (stage,), output = kernel.producers, kernel.main
        lane = output.lane
        if lane is None:
            lane = stage.lane
        if lane is None or lane >= len(output.loops) or not stage.reduce:
            return None
        if stage.spatial != list(range(len(output.loops))) or not reads_in_place(stage, output):
            return None
        extents = output.block.iter_extents
        channels = TEXEL if stage.reduce_lane is not None else 1
        shares, stride = _shares_texels(stage, lane), _stride(stage, _column(extents, lane))
        return _Shape(stage, extents, lane, shares, channels, _taps(stage), stride)

    @property
    def column(self) -> int | None:
        """The variable of the result whose points a tile has several of; None if all are one."""
        return _column(self.extents, self.lane)

    @property
    def texels(self) -> int:
        """Texels of the result along `lane`."""
        return -(-self.extents[self.lane] // TEXEL)

    @property
    def most_columns(self) -> int:
        most = _MOST_COLUMNS if self.shares_texels else _MOST_COLUMNS_OF_CHANNEL
        return 1 if self.column is None else min(self.extents[self.column], most)

    def blocks(self, columns: int) -> tuple[int, ...]:
        """Which numbers of texels a tile of some columns can have."""
        return tuple(
            blocks
            for blocks in ((1, 2, 4) if self.shares_texels else (1,))
            if self.texels % blocks == 0 and columns * blocks <= _ACCUMULATORS
        )

    def step(self, tile: TexelTile) -> _Step:
        """One step of the reduction for a tile."""
        columns = (tile.columns - 1) * min(self.stride, self.taps) + self.taps
        weights = self.channels * self.taps * tile.blocks
        return _Step(columns, weights, weights * tile.columns)

    def grid(self, tile: TexelTile) -> list[int]:
        """The loops over tiles, outermost first."""
        sizes = list(self.extents)
        sizes[self.lane] = self.texels // tile.blocks
        if self.column is not None:
            sizes[self.column] = -(-sizes[self.column] // tile.columns)
        return sizes

    @cached_property
    def running(self) -> list[int]:
        """The loops of the reduction that run more than once, without the lanes of its texels."""
        sizes = [self.stage.block.iter_extents[i] for i in self.stage.reduce]
        lane = self.stage.reduce_lane
        if lane is not None and self.stage.block.iter_extents[lane] % TEXEL == 0:
            sizes[self.stage.reduce.index(lane)] //= TEXEL
        return [size for size in sizes if size > 1]

    def copies(self, tile: TexelTile) -> int:
        """Multiply-adds in the text of one step without its window."""
        lane = self.stage.reduce_lane
        whole = lane is not None and self.stage.block.iter_extents[lane] % TEXEL == 0
        return tile.blocks * tile.columns * (TEXEL if whole else 1) * TEXEL


def _column(extents: Sequence[int], lane: int) -> int | None:
    return max((i for i in range(len(extents)) if i != lane and extents[i] > 1), default=None)


@dataclass(frozen=True)
class _Step:
    """What a work-item reads in one step of a reduction, in texels, and adds up."""

    activations: int
    weights: int
    products: int

    def slots(self, target: cl.Target) -> float:
        """Issue slots for each multiply-add."""
        reads = self.activations + self.weights
        return 1 + target.texel_cost * reads / (TEXEL * self.products)


def _candidates(shape: _Shape) -> Iterator[TexelTile]:
    """The possible tiles; there is always one."""
    for columns in range(1, shape.most_columns + 1):
        for blocks in shape.blocks(columns):
            yield TexelTile(columns, blocks)


def _shares_texels(stage: Stage, lane: int) -> bool:
    """Whether other lanes of the result read some of the same: a contraction, no depthwise one."""
    stored = written(stage.block)
    return any(moves[lane] == 0 for op, moves in stage.strides.items() if op.memref not in stored)


def _is_depthwise(stage: Stage, lane: int) -> bool:
    """Whether a reduction multiplies the elements of each channel by those of another operand."""
    stored = written(stage.block)
    operands = {op.memref for op in stage.block.loads() if op.memref not in stored}
    return len(operands) > 1 and not _shares_texels(stage, lane)


def _taps(stage: Stage) -> int:
    """The size of the innermost loop of a window, where that is worth unrolling."""
    sizes = [stage.block.iter_extents[i] for i in stage.reduce]
    running = [size for size in sizes if size > 1]
    return running[-1] if len(running) > 1 and running[-1] <= _MOST_TAPS else 1


def _stride(stage: Stage, column: int | None) -> int:
    """How many columns of the operand there are between two of the result."""
    extents = stage.block.iter_extents
    taps = [i for i in stage.reduce if extents[i] > 1]
    for moves in stage.strides.values():
        if column is not None and taps:
            step, tap = moves[column], moves[taps[-1]]
            if step and tap and step % tap == 0:
                return step // tap
    return 1


def _cost(shape: _Shape, tile: TexelTile, target: cl.Target) -> float:
    """Issue slots per useful multiply-add, times what few waves and few work-items leave idle."""
    step, extents = shape.step(tile), shape.extents
    width = 1 if shape.column is None else extents[shape.column]
    tiles = -(-width // tile.columns)
    items = prod(extents) // (extents[shape.lane] * width) * tiles * shape.texels // tile.blocks
    wanted = target.compute_units * target.preferred_work_group
    idle = max(1.0, wanted / items)
    registers = tile.columns * tile.blocks + step.activations + step.weights
    slots = step.slots(target) * tiles * tile.columns / width
    return slots * idle * _crowd(shape.taps, registers, target)


def _crowd(taps: int, registers: int, target: cl.Target) -> float:
    """What it costs that a work-item with so many registers leaves room for few others.

    Where a step reads one tap only, two waves keep the device as busy as four.
    """
    available = target.registers
    if registers >= available // 2:
        return target.one_wave_cost
    # What is read last needs no register of its own: it can take that of what is not needed again.
    crowded = registers - 1 > available // 4 and taps > 1
    return target.two_waves_cost if crowded else 1.0


@dataclass(frozen=True)
class _Facts:
    shape: _Shape
    target: cl.Target

    @cached_property
    def best(self) -> TexelTile:
        return min(_candidates(self.shape), key=lambda t: _cost(self.shape, t, self.target))


def has_few_texels(kernel: NaiveKernel, target: cl.Target) -> bool:
    """Whether the best tile is a texel: there are too few of them for the device."""
    shape = _Shape.of(kernel)
    return shape is not None and _Facts(shape, target).best == TexelTile(1, 1)


def _fit(kernel: NaiveKernel, target: cl.Target) -> Space[_Facts] | Misfit:
    shape = _Shape.of(kernel)
    if shape is None:
        return Misfit("it is not one reduction to texels that an output reads element by element")

    def window(params: Params) -> Choice:
        """As many of the innermost loops as the text may have copies of."""
        counts = range(len(shape.running) + 1)
        most = _MOST_COPIES // shape.copies(_tile(params))
        return Choice(
            tuple(n for n in counts if prod(shape.running[len(shape.running) - n :]) <= most)
        )

    def rolled(params: Params) -> Choice:
        return Choice((0, 1) if params.number("window") < len(shape.running) else (0,))

    return Space(
        (
            Parameter("columns", "columns of a tile", Range(1, shape.most_columns)),
            Parameter(
                "blocks", "texels of a column", lambda p: Choice(shape.blocks(p.number("columns")))
            ),
            Parameter(
                "group", "work-items of a group", lambda p: Shapes(shape.grid(_tile(p)), target)
            ),
            Parameter("window", "innermost loops of the reduction that are unrolled", window),
            Parameter("rolled", "loops whose bound is hidden from the device's compiler", rolled),
        ),
        _Facts(shape, target),
    )


def _tile(params: Params) -> TexelTile:
    return TexelTile(params.number("columns"), params.number("blocks"))


def _default(space: Space[_Facts]) -> Params:
    facts = space.facts
    shape, tile = facts.shape, facts.best
    window = _window(shape, tile)
    rolled = facts.target.rolled_loops and window < len(shape.running)
    return Params(
        {
            "columns": tile.columns,
            "blocks": tile.blocks,
            "group": Shapes(shape.grid(tile), facts.target).best(),
            "window": window,
            "rolled": int(rolled),
        }
    )


def _window(shape: _Shape, tile: TexelTile) -> int:
    """The innermost loop of a reduction over a window: its taps share what they read.

    All loops of a small window of one channel: that is too little work for a loop.
    """
    running = shape.running
    most = min(_MOST_TAPS, _MOST_COPIES // shape.copies(tile))
    if _is_depthwise(shape.stage, shape.lane) and prod(running) <= most:
        return len(running)
    return 1 if len(running) > 1 and running[-1] <= most else 0


def _apply(schedule: Schedule, kernel: NaiveKernel, params: Params) -> None:
    """One tile for each work-item; neighbours compute neighbouring columns."""
    shape = _Shape.of(kernel)
    assert shape is not None, "the rule fits"
    tile, lane, column = _tile(params), shape.lane, shape.column
    loops = list(kernel.main.loops)
    loops[lane], lanes = schedule.split(loops[lane], TEXEL)
    inside: list[tir.ForOp] = []
    if tile.blocks > 1:
        loops[lane], blocks = schedule.split(loops[lane], tile.blocks)
        inside.append(blocks)
    if column is not None:
        loops[column], columns = schedule.split(loops[column], tile.columns, overlap=True)
        inside.append(columns)
    schedule.reorder(*loops, *inside, lanes)
    local = bind_items(schedule, loops, params.numbers("group"))
    inner = schedule.compute_at(shape.stage.block, local)
    _tile_reduction(schedule, shape, inner, params)
    for loop in inside:
        schedule.unroll(loop)
    schedule.vectorize(lanes)
    schedule.keep_private(shape.stage.block)
    join_grid_of_texels(schedule, kernel.borders, kernel.main)


def _tile_reduction(
    schedule: Schedule, shape: _Shape, loops: list[tir.ForOp], params: Params
) -> None:
    """The reduction outside of the tile: input channels, rows, then what is unrolled around it."""
    rank = len(shape.extents)
    spatial, reduce = loops[:rank], loops[rank:]
    blocks, lanes = schedule.split(spatial[shape.lane], TEXEL)
    columns = [] if shape.column is None else [spatial[shape.column]]
    single = [loop for i, loop in enumerate(spatial) if i not in (shape.lane, shape.column)]
    channels = split_channels(schedule, shape.stage, reduce)
    running = [loop for loop in reduce if loop.size > 1]
    window = running[len(running) - params.number("window") :]
    serial = [loop for loop in reduce if loop not in window]
    expanded = [*window, blocks, *columns, *channels]
    schedule.reorder(*single, *serial, *expanded, lanes)
    for loop in expanded:
        schedule.unroll(loop)
    schedule.vectorize(lanes)
    if params.number("rolled"):
        schedule.roll(next(loop for loop in reversed(serial) if loop.size > 1))


def _cost_at(space: Space[_Facts], params: Params) -> float:
    return _cost(space.facts.shape, _tile(params), space.facts.target)


TEXEL_TILE = Rule(
    "texel-tile", 1, Kernels(texels=True, reductions=True), _fit, _default, _apply, _cost_at
)
"""Which variables are texels and columns follows from the layout."""
