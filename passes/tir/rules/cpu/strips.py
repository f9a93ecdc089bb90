"""Products whose operand the same kernel computes, a strip of rows at a time, on a CPU.

A work-item computes all channels of a few rows of the operand in private memory that fits the
caches, and multiplies them by the weights: a depthwise convolution and the 1x1 convolution after
it. Nothing is computed twice, and the operand needs no buffer. `tir-join-strips` fuses such pairs
of kernels.
"""

from __future__ import annotations

from math import prod

from .....dialects import cl, tir
from .....targets import multiplies_bytes
from ...schedule import Schedule
from ..rule import Needs, Rule
from ..shared.contraction import element_bytes
from ..shared.grid import DEFAULT_LOCAL_SIZE, LOCAL_SIZE, bind_grid, local_sizes
from ..space import Choice, Domains, NotApplicable, Params, Range, Space, number
from .beliefs import MOST_SUMS
from .channel_tiles import reduce_in_tiles
from .streams import AHEAD, AHEAD_DOMAIN, fetch_ahead
from .strips_model import ROW, FusedPixels, StripSizes, StripsModel

PARAMETERS = (
    LOCAL_SIZE,
    number("rows", "rows of a strip"),
    number("blocks", "blocks of channels of a tile of products"),
    number("tile_rows", "rows of such a tile"),
    number("columns", "columns of such a tile"),
    number("lead_columns", "columns of a tile of the strip"),
    number("window", "innermost loops of the strip's window that are unrolled"),
    AHEAD,
)


def _domains(shape: FusedPixels, target: cl.Target) -> Domains | NotApplicable:
    if not shape.most_rows(1):
        return NotApplicable("a work-item has no memory for a row of what it multiplies")

    def tile_rows(params: Params) -> Range:
        return Range(1, min(params.number("rows"), MOST_SUMS // params.number("blocks")))

    def columns(params: Params) -> Range:
        return shape.product.most_columns(params.number("blocks") * params.number("tile_rows"))

    widest = 1 if shape.lead is None else min(shape.width, MOST_SUMS)
    return {
        LOCAL_SIZE.name: local_sizes(target, shape.bytes(1)),
        "rows": lambda params: Range(1, shape.most_rows(prod(params.numbers(LOCAL_SIZE.name)))),
        "blocks": shape.product.most_blocks(),
        "tile_rows": tile_rows,
        "columns": columns,
        "lead_columns": Range(1, widest),
        "window": lambda params: Choice(shape.windows(params.number("lead_columns"))),
        AHEAD.name: AHEAD_DOMAIN,
    }


def _objection(space: Space[FusedPixels]) -> str | None:
    loads = space.structure.product.contraction.loads
    if multiplies_bytes(space.target) and any(element_bytes(load) == 1 for load in loads):
        return "the device multiplies four bytes at a time if a kernel has no strip"
    if not space.model(StripsModel).near_rows:
        return "the second cache does not hold a row of what it multiplies"
    return None


def _default(space: Space[FusedPixels]) -> Params:
    model = space.model(StripsModel)
    columns = model.lead_columns
    return Params(
        {
            LOCAL_SIZE.name: DEFAULT_LOCAL_SIZE,
            **vars(model.best),
            "lead_columns": columns,
            AHEAD.name: model.ahead,
            "window": max(space.structure.windows(columns)),
        }
    )


def _apply(schedule: Schedule, shape: FusedPixels, params: Params) -> None:
    choice = StripSizes.of(params)
    schedule.local_size(*params.numbers(LOCAL_SIZE.name))
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


def _compute_strip(schedule: Schedule, shape: FusedPixels, item: tir.ForOp, params: Params) -> None:
    """Compute all channels of a strip, tile by tile; use vectors if it has no sums."""
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
    Needs(device="cpu", texels=False, reductions=True),
    PARAMETERS,
    FusedPixels.of,
    _domains,
    _default,
    _apply,
    _objection,
)
"""The last strip of an image overlaps the one before it if strips do not divide the rows."""
