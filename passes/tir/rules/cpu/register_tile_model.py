"""The tiles of `register-tile`, and a model of their cycles: loads, multiply-adds and stores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, gcd, prod

from .....dialects import cl
from .....machine.core import (
    L1_WAY_BYTES,
    LANE_CYCLES,
    LINE_BYTES,
    LOADS_PER_CYCLE,
    MAD_CYCLES,
    MEMORY_BYTES_PER_CYCLE,
    l2_bytes_per_cycle,
    mads_per_cycle,
)
from ..images import ImageRange
from ..shared.contraction import Contraction, OperandLoad, element_bytes, is_packed
from ..space import Params
from ..stages import lane_step
from .beliefs import (
    ITEM_CYCLES,
    ITEMS_PER_CORE,
    TILE_CYCLES,
    accumulators,
    divisors,
    mad_cycles,
    near_bytes,
)
from .panels import PANEL, copy_cycles, is_far, is_near, panel_load
from .partial_sums import PARTS, parts_domain

_WIDEST = 16
"""Lanes of the widest vector of OpenCL C."""
_HALVES = 4.0
"""Loads that take as long as a vector of every other element: two, across lines, and a shuffle.

3 makes the first convolution of a ResNet 10 % slower (measured).
"""
_SUMS_SHARE = 8
"""Sums in memory take at most 1/8 of L2; a quarter is slower (measured)."""


@dataclass(frozen=True)
class RegisterTile:
    """A register tile: `rows` of variable `row` by `vectors * width` of variable `col`."""

    row: int
    rows: int
    col: int
    vectors: int
    width: int
    parts: int = 1
    """Parts of each sum, which are computed in registers and added to sums in memory."""
    panel: bool = False
    """Whether the columns' operand comes from a panel."""
    cycles: float = 0.0
    """The estimated cost of one tile."""
    gathers: bool = False
    """Whether some vector is loaded lane by lane in every step."""

    @property
    def cols(self) -> int:
        """Elements of a row."""
        return self.vectors * self.width

    @staticmethod
    def of(params: Params) -> RegisterTile:
        """Return the tile of a point."""
        shape = RegisterTile.shape(params)
        return replace(
            shape, parts=params.number(PARTS.name), panel=params.word(PANEL.name) == "packed"
        )

    @staticmethod
    def shape(params: Params) -> RegisterTile:
        """Return the tile of a point without parts and panel."""
        row, rows, col = (params.number(name) for name in ("row", "rows", "col"))
        return RegisterTile(row, rows, col, params.number("vectors"), params.number("width"))


@dataclass(frozen=True)
class RegisterTileModel:
    """Estimates what the tiles of a contraction cost on a target."""

    contraction: Contraction
    target: cl.Target

    @property
    def extents(self) -> tuple[int, ...]:
        """The extents of the spatial variables."""
        return self.contraction.extents

    @property
    def accumulators(self) -> int:
        """Vectors that fit in registers, as the model believes."""
        return accumulators(self.target)

    @cached_property
    def best(self) -> RegisterTile | None:
        """The cheapest tile; None if no variable has a vector.

        If the program also serves smaller batches, a tile within one image may take a little
        longer: work-items that compute all images would do as much for fewer.
        """
        images = self.images

        def cycles(tile: RegisterTile) -> float:
            total = total_cycles(self, tile)
            if images is None:
                return total
            row, col = self.extents[tile.row], self.extents[tile.col]
            return total * max(images.cost(row, tile.rows), images.cost(col, tile.cols))

        return min(candidates(self), key=cycles, default=None)

    @cached_property
    def images(self) -> ImageRange | None:
        """The images that the program computes, if there may be fewer."""
        return ImageRange.of_kernel(self.contraction.func)


def candidates(model: RegisterTileModel) -> Iterator[RegisterTile]:
    """Yield the tiles that fit into the registers and the extents, with and without a panel."""
    target, extents, contraction = model.target, model.extents, model.contraction
    accumulators = model.accumulators
    for col, width in _columns(model):
        col_extent = extents[col]
        lanes = lanes_of(model, col, width)
        for vectors in range(1, min(accumulators, col_extent // width) + 1):
            for row, row_extent in enumerate(extents):
                if row == col:
                    continue
                shape = RegisterTile(row, 1, col, vectors, width)
                # A single row reads each element of a panel once: the copy would be all its work.
                may_copy = row_extent > 1
                is_panel_near = may_copy and is_near(contraction, shape, 1, target)
                for rows in range(1, min(accumulators // vectors, row_extent) + 1):
                    for panel in (False, True) if is_panel_near else (False,):
                        tile = replace(shape, rows=rows, panel=panel)
                        yield costed(model, tile, lanes)
                    tile = _in_parts(model, replace(shape, rows=rows)) if may_copy else None
                    if tile is not None:
                        yield costed(model, tile, lanes)


def _columns(model: RegisterTileModel) -> Iterator[tuple[int, int]]:
    """Yield the variables that can be columns, each with the lanes of its vectors.

    A load of every other element loads twice the lanes of its vectors. If vectors do not fill the
    extent, narrower ones may: the last tile of 120 channels in blocks of 16 would start in a block.
    """
    for col, extent in enumerate(model.extents):
        width = model.target.machine.vector_width
        while width > extent:
            width //= 2
        if width >= 2:
            yield col, width
        whole = gcd(width, extent)
        if 2 <= whole < width and any(load.steps[col] is None for load in model.contraction.loads):
            yield col, whole
        if 2 * width > _WIDEST and any(load.steps[col] == 2 for load in model.contraction.loads):
            yield col, _WIDEST // 2


def _in_parts(model: RegisterTileModel, tile: RegisterTile) -> RegisterTile | None:
    """Return a tile that walks a panel in parts, if it has one and other data leaves the caches.

    A part of the panel takes half of the first cache, as in GotoBLAS, and lines that several tiles
    of a work-item read stay in the second one.
    """
    contraction, target = model.contraction, model.target
    load = panel_load(contraction, tile)
    if load is None or not is_far(contraction, load, target):
        return None
    steps = target.machine.l1_cache_bytes / 2 / (tile.cols * element_bytes(load))
    places = max((_line_places(model, other, tile) for other in contraction.loads), default=0)
    if (
        is_near(contraction, tile, 1, target)
        and places * contraction.depth <= target.machine.l2_cache_bytes
    ):
        return None
    if places:
        steps = min(steps, target.machine.l2_cache_bytes / places)
    longest = contraction.longest_steps
    parts = next((n for n in divisors(longest)[1:] if contraction.depth / n <= steps), None)
    if parts is None or contraction.depth / parts < steps / 4:
        return None
    made = replace(tile, parts=parts, panel=True)
    tiles = _preferred_chunks(model, made)
    room = near_bytes(target) / 2
    if not tiles or parts not in parts_domain(contraction, made, tiles[0], room):
        return None
    return made if is_near(contraction, made, parts, target) else None


def _line_places(model: RegisterTileModel, load: OperandLoad, tile: RegisterTile) -> int:
    """Return L2 bytes per line if neighbouring tiles share cache lines of this load, else 0.

    The rows of a tile are a part of a line, and each step of the reduction reads another line.
    Lines that lie in different pages share few cache sets.
    """
    bytes_ = element_bytes(load)
    step = load.steps[model.contraction.longest]
    if load.constant is not None or load.steps[tile.row] != 1 or step is None:
        return 0
    return max(gcd(step * bytes_, L1_WAY_BYTES), LINE_BYTES) if step * bytes_ >= LINE_BYTES else 0


@dataclass(frozen=True)
class LaneSteps:
    """How far accesses move from lane to lane of a vector along the columns; None if unevenly."""

    loads: Sequence[int | None]
    """For each load of the contraction."""
    store: int | None


def lanes_of(model: RegisterTileModel, col: int, width: int) -> LaneSteps:
    """Return the steps between the lanes of vectors of `width` along a variable."""
    contraction = model.contraction
    is_whole = model.extents[col] % width == 0

    def step(load: OperandLoad) -> int | None:
        if load.steps[col] is not None or not is_whole:
            return load.steps[col]
        # Each vector lies in a block of channels, if all of them start at multiples of the width.
        return lane_step(contraction.stage, load.op, col, width)

    (store,) = contraction.output.block.stores()
    stored = lane_step(contraction.output, store, col, width)
    return LaneSteps([step(load) for load in contraction.loads], stored)


def costed(model: RegisterTileModel, tile: RegisterTile, lanes: LaneSteps) -> RegisterTile:
    """Return a tile with its cycles."""
    steps = model.contraction.depth / tile.parts
    target = model.target
    loads = traffic = far = 0.0
    gathers = False
    served = panel_load(model.contraction, tile)
    for load, step in zip(model.contraction.loads, lanes.loads, strict=True):
        copies = tile.rows if load.steps[tile.row] != 0 else 1
        elements = copies * (1 if step == 0 else tile.cols)
        if step == 0:
            each = 1.0
        elif (
            step == 1
            or (tile.panel and load is served)
            or is_packed(model.contraction, load, tile, tile.col)
        ):
            each = float(tile.vectors)
        elif step == 2 and 2 * tile.width <= _WIDEST:
            each = _HALVES * tile.vectors
        else:
            each = tile.cols * LANE_CYCLES * LOADS_PER_CYCLE
            gathers = True
        loads += copies * each
        # A large operand of a part of the reduction is read from L2.
        size = elements * element_bytes(load)
        if size * steps > target.machine.l1_cache_bytes / 2:
            traffic += size
        if _evicts_itself(model, load, tile):
            traffic += copies * LINE_BYTES
        if load is served and not tile.panel and is_far(model.contraction, load, target):
            far += size
        if _line_places(model, load, tile) * steps > target.machine.l2_cache_bytes:
            far += LINE_BYTES
    accumulators = tile.rows * tile.vectors
    step_cycles = max(
        accumulators / mads_per_cycle(target.machine),
        loads / LOADS_PER_CYCLE,
        traffic / l2_bytes_per_cycle(target.machine),
        mad_cycles(target, accumulators, _shared(model, tile, lanes)),
    )
    # Arithmetic does not hide these: each step reads another page.
    step_cycles += far / MEMORY_BYTES_PER_CYCLE
    store = accumulators * (1.0 if lanes.store == 1 else tile.width * LANE_CYCLES)
    if tile.parts > 1:
        # Each part is added to sums in memory.
        store += tile.parts * (3 * accumulators / LOADS_PER_CYCLE + TILE_CYCLES)
    cycles = model.contraction.depth * step_cycles + store + TILE_CYCLES
    return replace(tile, cycles=cycles, gathers=gathers)


def _shared(model: RegisterTileModel, tile: RegisterTile, lanes: LaneSteps) -> int:
    """Return the vectors that all rows read; one if there is only one row."""
    pairs = zip(model.contraction.loads, lanes.loads, strict=True)
    shared = sum(step != 0 and load.steps[tile.row] == 0 for load, step in pairs)
    return shared * tile.vectors if tile.rows > 1 else 1


def _evicts_itself(model: RegisterTileModel, load: OperandLoad, tile: RegisterTile) -> bool:
    """Return whether the rows of a tile are more lines than their sets of the first cache hold.

    The reduction walks each line by one element per step. Lines a multiple of a page apart share
    one set, which holds as many lines as the cache has pages; at half of that distance there are
    two sets, and so on.
    """
    step = load.steps[tile.row]
    walked = load.steps[model.contraction.stage.reduce[-1]] == 1
    if not step or not walked or is_packed(model.contraction, load, tile, tile.row):
        return False
    pitch = step * element_bytes(load)
    sets = L1_WAY_BYTES // gcd(pitch, L1_WAY_BYTES)
    return pitch >= LINE_BYTES and tile.rows > sets * (
        model.target.machine.l1_cache_bytes // L1_WAY_BYTES
    )


def total_cycles(model: RegisterTileModel, tile: RegisterTile) -> float:
    """Return the cycles of all tiles."""
    tiles = ceil(model.extents[tile.row] / tile.rows) * ceil(model.extents[tile.col] / tile.cols)
    others = prod(model.extents) / (model.extents[tile.row] * model.extents[tile.col])
    return tiles * others * (tile.cycles + _copy(model, tile) / tiles_of_item(model, tile))


def cycles_by_rows(model: RegisterTileModel) -> float:
    """Return the cycles of computing each result alone, with vectors along a row of memory."""
    target = model.target
    steps = model.contraction.depth / target.machine.vector_width
    return prod(model.extents) * (steps * MAD_CYCLES + TILE_CYCLES)


def _copy(model: RegisterTileModel, tile: RegisterTile) -> float:
    """Return the cycles of the copy that a work-item makes."""
    load = panel_load(model.contraction, tile) if tile.panel else None
    if load is None:
        return 0.0
    return copy_cycles(model.contraction, load, tile, model.target)


def tiles_of_item(model: RegisterTileModel, tile: RegisterTile) -> int:
    """Return how many tiles of a column each work-item computes: a divisor, so none is partial.

    A work-item does not walk through the images of a batch that may be smaller.
    """
    if model.images is not None and model.images.are(model.extents[tile.row]):
        return 1
    tiles = prod(model.extents) / (tile.rows * tile.cols)
    target = model.target
    wanted = tiles / (ITEMS_PER_CORE * target.device.compute_units)
    if not tile.panel:
        wanted = min(ITEM_CYCLES / tile.cycles, wanted)
    return min(_preferred_chunks(model, tile), key=lambda n: abs(n - wanted))


def chunks(contraction: Contraction, tile: RegisterTile) -> tuple[int, ...]:
    """Return the numbers of tiles of a column that a work-item can compute."""
    return divisors(ceil(contraction.extents[tile.row] / tile.rows))


def _preferred_chunks(model: RegisterTileModel, tile: RegisterTile) -> Sequence[int]:
    """Return the chunks whose sums leave most of the second cache to operands."""
    found = chunks(model.contraction, tile)
    if tile.parts == 1:
        return found
    extent, most = model.extents[tile.row], near_bytes(model.target) / _SUMS_SHARE
    return [n for n in found if n * tile.rows <= extent and 4 * n * tile.rows * tile.cols <= most]
