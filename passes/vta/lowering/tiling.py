"""Choose the piece of a layer that the scratchpads hold at a time, by a cost model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from math import prod

from ....dialects.vta import Config, Memory
from .windows import AxisWindow

# Cycles of the published core: a 64-bit bus, one tile product per cycle, one ALU result per two
# cycles. The other values are estimates of latencies.
BYTES_PER_CYCLE = 8
ALU_CYCLES = 2
INSTRUCTION_CYCLES = 9
TRANSFER_CYCLES = 33
UOP_BYTES = 4

MAX_PARTS = 1 << 16
LONGEST = 128
"""Rows and columns longer than this may be split into more pieces."""


@dataclass(frozen=True)
class TilingProblem:
    """A layer with products, in tiles: `inner` input and `outer` output blocks per group.

    With `channels_last` the blocks of a row are contiguous, as in vta.dense.
    """

    images: int
    groups: int
    inner: int
    outer: int
    rows: AxisWindow
    columns: AxisWindow
    channels_last: bool = False
    alu_steps: int = 3
    residuals: int = 0
    vectors: int = 1

    @property
    def taps(self) -> int:
        """The tiles of weights for a pair of blocks."""
        return self.rows.kernel * self.columns.kernel


@dataclass(frozen=True)
class ProductTile:
    """The largest piece computed at once: groups, blocks, and elements of the result.

    A piece with several groups contains all their blocks. With `spatial_first` the outer loop runs
    over pieces of the image, and the inner one over channels; otherwise the reverse.
    """

    groups: int
    inner: int
    outer: int
    rows: int
    columns: int
    spatial_first: bool

    @property
    def channels(self) -> int:
        """The number of channel blocks in the result."""
        return self.groups * self.outer

    @property
    def results(self) -> int:
        """The number of tiles in the result."""
        return self.channels * self.rows * self.columns


@dataclass(frozen=True)
class Slots:
    """The size of a slot of each scratchpad in elements, and the number of slots."""

    inp: int
    wgt: int
    acc: int
    vectors: int
    inp_count: int
    wgt_count: int
    acc_count: int
    vector_count: int


@lru_cache(maxsize=1024)
def choose_tile(problem: TilingProblem, config: Config, threads: int) -> tuple[ProductTile, Slots]:
    """Return the cheapest tile that fits `threads` times. Raise ValueError if none fits."""
    # Long rows are cheapest, so shorter ones are tried only for small scratchpads.
    best = _cheapest(problem, config, threads, 4) or _cheapest(problem, config, threads, MAX_PARTS)
    if best is None:
        raise ValueError("the smallest piece does not fit")
    return best


def fits(problem: TilingProblem, config: Config, threads: int) -> bool:
    """Return whether the smallest tile fits `threads` times."""
    inp = prod(_reach(window, 1) for window in (problem.rows, problem.columns))
    if problem.taps > _weight_room(config, threads):
        return False
    smallest = ProductTile(1, 1, 1, 1, 1, spatial_first=False)
    return _slots(problem, smallest, inp, config, threads) is not None


def _cheapest(
    problem: TilingProblem, config: Config, threads: int, most: int
) -> tuple[ProductTile, Slots] | None:
    """Return the cheapest tile with at most `most` parts per row (more for long rows)."""
    best: tuple[float, ProductTile, Slots] | None = None
    rows, columns = _lengths(problem.rows), _lengths(problem.columns, most)
    for groups, inner, outer in _channels(problem, config, threads):
        for (height, in_height), (width, in_width) in product(rows, columns):
            tile = ProductTile(groups, inner, outer, height, width, spatial_first=False)
            inp = groups * inner * in_height * in_width
            slots = _slots(problem, tile, inp, config, threads)
            if slots is None:
                continue
            for spatial_first in (False, True):
                tile = replace(tile, spatial_first=spatial_first)
                cost = _cost(problem, tile, slots, config, threads)
                if best is None or cost < best[0]:
                    best = cost, tile, slots
    return None if best is None else best[1:]


def _parts(size: int, most: int) -> list[int]:
    """Return the size of the largest part when `size` is split into 1, 2, ..., `most` parts."""
    return list(dict.fromkeys(-(-size // n) for n in range(1, min(size, most) + 1)))


def _lengths(window: AxisWindow, most: int = MAX_PARTS) -> list[tuple[int, int]]:
    """Return the piece sizes of a result, each with the most input elements that it reads."""
    parts = _parts(window.result, max(most, -(-window.result // LONGEST)))
    return [(part, _reach(window, part)) for part in parts]


def _reach(window: AxisWindow, part: int) -> int:
    """Return the most input elements that a piece of `part` results reads."""
    return max(
        window.span(begin, min(begin + part, window.result)).count
        for begin in range(0, window.result, part)
    )


def _channels(problem: TilingProblem, config: Config, threads: int) -> list[tuple[int, int, int]]:
    """Return groups, input blocks and output blocks whose weights fit the scratchpad."""
    choices = [
        (1, inner, outer)
        for inner in _parts(problem.inner, MAX_PARTS)
        for outer in _parts(problem.outer, MAX_PARTS)
    ]
    choices += [
        (groups, problem.inner, problem.outer)
        for groups in _parts(problem.groups, MAX_PARTS)
        if groups > 1
    ]
    room = _weight_room(config, threads)
    return [
        (groups, inner, outer)
        for groups, inner, outer in choices
        if groups * inner * outer * problem.taps <= room
    ]


def _weight_room(config: Config, threads: int) -> int:
    """Return the limit on the weight tiles of a piece."""
    # A kernel has up to one micro-op per weight tile, and four kernels should fit.
    return min(config.depth(Memory.WGT) // threads, config.depth(Memory.UOP) // 4)


def _slots(
    problem: TilingProblem, tile: ProductTile, inp: int, config: Config, threads: int
) -> Slots | None:
    """Return the slots for a tile that reads `inp` input elements, or None if they do not fit."""
    acc = tile.results * (1 + problem.residuals)
    vectors = tile.channels * problem.vectors
    sums, inputs = config.depth(Memory.ACC), config.depth(Memory.INP)
    if (acc + vectors) * threads > sums or inp * threads > inputs:
        return None
    wgt = tile.channels * tile.inner * problem.taps
    pieces = _pieces(problem, tile)
    input_count = problem.images * pieces.spatial * pieces.groups * pieces.inner
    weight_count = pieces.channels * pieces.inner
    return Slots(
        inp, wgt, acc, vectors,
        input_count if input_count * inp <= inputs else threads,
        weight_count if weight_count * wgt <= config.depth(Memory.WGT) else threads,
        threads,
        pieces.channels if pieces.channels * vectors <= sums - acc * threads else threads,
    )  # fmt: skip


@dataclass(frozen=True)
class _PieceCounts:
    groups: int
    inner: int
    outer: int
    rows: int
    columns: int

    @property
    def spatial(self) -> int:
        return self.rows * self.columns

    @property
    def channels(self) -> int:
        return self.groups * self.outer


def _pieces(problem: TilingProblem, tile: ProductTile) -> _PieceCounts:
    return _PieceCounts(
        -(-problem.groups // tile.groups),
        -(-problem.inner // tile.inner),
        -(-problem.outer // tile.outer),
        -(-problem.rows.result // tile.rows),
        -(-problem.columns.result // tile.columns),
    )


def _cost(
    problem: TilingProblem, tile: ProductTile, slots: Slots, config: Config, threads: int
) -> float:
    """Estimate the cycles of a layer. With two threads, transfers and products overlap."""
    pieces = _pieces(problem, tile)
    spatial = problem.images * pieces.spatial
    count = spatial * pieces.channels
    steps = count * pieces.inner
    inputs = spatial * pieces.groups * pieces.inner
    weights = pieces.channels * pieces.inner
    if slots.inp_count < inputs and not (
        (tile.spatial_first and pieces.inner == 1) or inputs == spatial == 1
    ):
        inputs = steps
    if slots.wgt_count < weights and not (not tile.spatial_first and pieces.inner == 1):
        weights = steps
    inp_bytes = slots.inp * config.element_bytes(Memory.INP)
    wgt_bytes = slots.wgt * config.element_bytes(Memory.WGT)
    out_bytes = tile.results * config.element_bytes(Memory.OUT)
    load_bus = (inputs * inp_bytes + weights * wgt_bytes) / BYTES_PER_CYCLE
    per_channel = 1 if problem.channels_last else tile.groups * tile.inner
    load = load_bus + TRANSFER_CYCLES * (inputs * per_channel + weights)
    store_bus = count * out_bytes / BYTES_PER_CYCLE
    stores = 1 if problem.channels_last else tile.channels
    store = store_bus + TRANSFER_CYCLES * count * stores
    residual = problem.residuals * count * (out_bytes / BYTES_PER_CYCLE + TRANSFER_CYCLES * stores)
    uops = slots.wgt * 2 * threads * UOP_BYTES / BYTES_PER_CYCLE
    products = count * tile.results * problem.taps * problem.inner
    alu = problem.alu_steps + 3 * problem.residuals
    compute = (
        products
        + steps * INSTRUCTION_CYCLES
        + count * (tile.results * (1 + ALU_CYCLES * alu) + INSTRUCTION_CYCLES * (alu + 1))
        + residual
        + uops
    )
    if threads == 1:
        return compute + load + store
    first = (inp_bytes + wgt_bytes + out_bytes) / BYTES_PER_CYCLE + 3 * TRANSFER_CYCLES
    return max(compute, load, store, load_bus + store_bus + uops) + first
