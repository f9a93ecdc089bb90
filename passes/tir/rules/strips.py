"""Products with a value that the same kernel computes, a strip of rows at a time, on a CPU.

A work-item computes some rows of the value, all channels of them, into memory of its own that the
caches hold, and multiplies them by the weights: a depthwise convolution and the 1x1 convolution
behind it. Nothing is computed twice, and the value is in no buffer. `tir-join-strips` makes such
kernels of two.
"""

from __future__ import annotations

from math import prod

from ....dialects import cl, tir
from ..schedule import Schedule
from .channel_tiles import Tile, reduce_in_tiles
from .contraction import element_bytes
from .grid import DEFAULT_LOCAL_SIZE, LOCAL_SIZE, bind_grid, local_size_parameter
from .naive_kernel import NaiveKernel
from .rule import Kernels, Rule
from .space import Choice, Misfit, Parameter, Params, Range, Space
from .streams import AHEAD, AHEAD_PARAMETER, Streams, fetch_ahead
from .strips_costs import ROW, Strips, StripsProblem, StripsShape


def _fit(kernel: NaiveKernel, target: cl.Target) -> Space[StripsProblem] | Misfit:
    shape = kernel.once(StripsShape.of)
    if isinstance(shape, Misfit):
        return shape
    contraction = shape.product.contraction
    if target.multiplies_bytes and any(element_bytes(load) == 1 for load in contraction.loads):
        return Misfit("the device multiplies four bytes at a time where a kernel has no strip")
    block = contraction.stage.block
    problem = StripsProblem(shape, target, Streams.of(kernel.func, block, target))
    if not problem.most_rows():
        return Misfit("the second cache does not hold a row of what it multiplies")
    most = problem.product.most

    def rows(params: Params) -> Range:
        return Range(1, problem.most_rows(prod(params.numbers(LOCAL_SIZE))))

    def tile_rows(params: Params) -> Range:
        return Range(1, min(params.number("rows"), most // params.number("blocks")))

    def columns(params: Params) -> Range:
        used = params.number("blocks") * params.number("tile_rows")
        return Range(1, min(shape.width, most // used))

    def window(params: Params) -> Choice:
        return Choice(_windows(shape, params.number("lead_columns")))

    widest = 1 if problem.lead is None else min(shape.width, problem.lead.most)
    parameters = (
        local_size_parameter(target, problem.bytes(1)),
        Parameter("rows", "rows of a strip", rows),
        Parameter(
            "blocks",
            "blocks of channels of a tile of products",
            Range(1, problem.product.most_blocks),
        ),
        Parameter("tile_rows", "rows of such a tile", tile_rows),
        Parameter("columns", "columns of such a tile", columns),
        Parameter("lead_columns", "columns of a tile of the strip", Range(1, widest)),
        Parameter("window", "innermost loops of the strip's window that are unrolled", window),
        AHEAD_PARAMETER,
    )
    return Space(parameters, problem)


def _windows(shape: StripsShape, columns: int) -> tuple[int, ...]:
    """How many loops of the window around a tile of the strip may be unrolled."""
    lead = shape.lead
    if lead is None:
        return (0,)
    return tuple(n for n in range(len(lead.window) + 1) if lead.has_room(Tile(1, columns), n))


def _default(space: Space[StripsProblem]) -> Params:
    problem = space.facts
    columns = problem.lead_columns
    return Params(
        {
            LOCAL_SIZE: DEFAULT_LOCAL_SIZE,
            **vars(problem.best),
            "lead_columns": columns,
            AHEAD: problem.streams.ahead(problem.best.blocks),
            "window": max(_windows(problem.shape, columns)),
        }
    )


def _apply(schedule: Schedule, kernel: NaiveKernel, params: Params) -> None:
    shape, choice = kernel.once(StripsShape.of), Strips.of(params)
    assert isinstance(shape, StripsShape), "the rule fits"
    schedule.local_size(*params.numbers(LOCAL_SIZE))
    product = shape.product
    n, o, h, w = product.contraction.output.loops
    o, lanes = schedule.split(o, product.lanes)
    group, block = schedule.split(o, choice.blocks, overlap=True)
    strip, h = schedule.split(h, choice.rows, overlap=True)
    tile_row, row = schedule.split(h, choice.tile_rows, overlap=True)
    tile, column = schedule.split(w, choice.columns, overlap=True)
    schedule.reorder(n, strip, group, tile_row, tile, row, column, block, lanes)
    bind_grid(schedule, [n, strip])
    sums = product.contraction.stage.block
    loops = schedule.compute_at(sums, tile)
    reduce_in_tiles(schedule, product, loops, 0, row=ROW if choice.tile_rows > 1 else None)
    for loop in (row, column, block):
        schedule.unroll(loop)
    schedule.vectorize(lanes)
    item = group.parent_op()
    assert isinstance(item, tir.ForOp), "the strips are loops around the groups"
    _compute_strip(schedule, shape, item, params)
    for each in (sums, shape.strip.block):
        schedule.keep_private(each)
    fetch_ahead(schedule, sums, params)


def _compute_strip(schedule: Schedule, shape: StripsShape, item: tir.ForOp, params: Params) -> None:
    """All channels of a strip, tile by tile; vectors where it is no sum."""
    n, channel, row, column = schedule.compute_at(shape.strip.block, item)
    channel, lanes = schedule.split(channel, shape.product.lanes)
    tile, column = schedule.split(column, params.number("lead_columns"), overlap=True)
    schedule.reorder(n, channel, row, tile, column, lanes)
    if shape.lead is not None:
        sums = shape.lead.contraction.stage.block
        loops = schedule.compute_at(sums, tile)
        reduce_in_tiles(schedule, shape.lead, loops, params.number("window"))
        schedule.keep_private(sums)
    schedule.unroll(column)
    schedule.vectorize(lanes)


STRIPS = Rule(
    "strips",
    1,
    Kernels(device="cpu", texels=False, reductions=True),
    _fit,
    _default,
    _apply,
    lambda space, params: space.facts.cost(Strips.of(params)),
)
"""The last strip of an image overlaps the one before it where strips do not divide the rows."""
