"""Reductions to values in blocks of channels on a CPU: convolutions and pools.

A work-item computes some blocks of channels at some columns of a row, a vector of accumulators for
each. In a convolution each element of the operand is multiplied by vectors of weights, so nothing
is gathered, and borders need no copy: they are tests of scalars, which the loop over the channels
of a block leaves outside. The form is that of Georganas et al. ("Anatomy of High-Performance Deep
Learning Convolutions on SIMD Architectures", 2018).
"""

from __future__ import annotations

from dataclasses import dataclass

from ....dialects import cl, tir
from ..schedule import Schedule
from .channel_tiles import Problem, Shape, Tile, reduce_in_tiles
from .contraction import NO_CONTRACTION
from .grid import DEFAULT_LOCAL_SIZE, LOCAL_SIZE, bind_grid, join_grid, local_size_parameter
from .naive_kernel import NaiveKernel
from .rule import Kernels, Rule
from .space import Choice, Misfit, Order, Parameter, Params, Range, Space
from .streams import AHEAD, AHEAD_PARAMETER, Streams, fetch_ahead


@dataclass(frozen=True)
class _Problem(Problem):
    """The choice of a tile, and of the weights that are fetched meanwhile."""

    weights: Streams


def _shape_of(kernel: NaiveKernel) -> Shape | Misfit:
    contraction = kernel.contraction
    return Misfit(NO_CONTRACTION) if contraction is None else Shape.of(contraction)


def _fit(kernel: NaiveKernel, target: cl.Target) -> Space[_Problem] | Misfit:
    shape = kernel.once(_shape_of)
    if isinstance(shape, Misfit):
        return shape
    block = shape.contraction.stage.block
    problem = _Problem(shape, target, Streams.of(kernel.func, block, target))

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


def _tile(params: Params) -> Tile:
    return Tile(params.number("blocks"), params.number("columns"))


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
            AHEAD: problem.weights.ahead(tile.blocks),
        }
    )


def _apply(schedule: Schedule, kernel: NaiveKernel, params: Params) -> None:
    shape, tile = kernel.once(_shape_of), _tile(params)
    assert isinstance(shape, Shape), "the rule fits"
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
    reduce_in_tiles(schedule, shape, schedule.compute_at(block, around), params.number("window"))
    for loop in (*columns, blocks):
        schedule.unroll(loop)
    schedule.vectorize(lanes)
    schedule.keep_private(block)
    fetch_ahead(schedule, block, params)
    join_grid(schedule, kernel.borders, shape.contraction.output)


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
