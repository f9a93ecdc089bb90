"""Which piece of a layer the scratchpads hold at a time: a search under a stated model of costs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from ....dialects.vta import Config, Memory
from .windows import Window

# Cycles of the published core: a bus of 64 bits, one product of tiles in a cycle, one result of the
# ALU in two; the rest are estimates of latencies.
BYTES_PER_CYCLE = 8
ALU_CYCLES = 2
INSTRUCTION_CYCLES = 9
TRANSFER_CYCLES = 33
UOP_BYTES = 4


@dataclass(frozen=True)
class Problem:
    """A product layer, in tiles: `inner` input and `outer` output blocks in each of the groups.

    With `channels_last` the blocks of a row lie side by side, as those of vta.dense do.
    """

    images: int
    groups: int
    inner: int
    outer: int
    rows: Window
    columns: Window
    channels_last: bool = False
    alu_steps: int = 3
    residuals: int = 0
    vectors: int = 1

    @property
    def taps(self) -> int:
        """The tiles of weights for a pair of blocks."""
        return self.rows.kernel * self.columns.kernel


@dataclass(frozen=True)
class Tile:
    """The largest piece that is computed at once: groups, blocks, and elements of the result.

    Of more than one group it has all blocks. `spatial_first` says that the pieces of the image are
    the outer loop, those of channels the inner.
    """

    groups: int
    inner: int
    outer: int
    rows: int
    columns: int
    spatial_first: bool

    @property
    def channels(self) -> int:
        """The blocks of its result."""
        return self.groups * self.outer

    @property
    def results(self) -> int:
        """The tiles of its result."""
        return self.channels * self.rows * self.columns


@dataclass(frozen=True)
class Slots:
    """Elements of one slot of each scratchpad, and how many slots there are."""

    inp: int
    wgt: int
    acc: int
    vectors: int
    inp_count: int
    wgt_count: int
    acc_count: int
    vector_count: int


@lru_cache(maxsize=1024)
def choose_tile(problem: Problem, config: Config, threads: int) -> tuple[Tile, Slots]:
    """The cheapest tile whose pieces fit `threads` times. Raises ValueError if none fits."""
    best: tuple[float, Tile, Slots] | None = None
    for tile in _tiles(problem):
        slots = _slots(problem, tile, config, threads)
        if slots is not None:
            cost = _cost(problem, tile, slots, config, threads)
            if best is None or cost < best[0]:
                best = cost, tile, slots
    if best is None:
        raise ValueError("one piece of one block does not fit")
    return best[1], best[2]


def _parts(size: int, most: int = 1 << 30) -> list[int]:
    """The sizes of the largest part when `size` is cut into 1, 2, ... equal parts."""
    return list(dict.fromkeys(-(-size // n) for n in range(1, min(size, most) + 1)))


def _tiles(problem: Problem) -> Iterator[Tile]:
    channels = [
        (1, inner, outer) for inner in _parts(problem.inner) for outer in _parts(problem.outer)
    ]
    channels += [
        (groups, problem.inner, problem.outer) for groups in _parts(problem.groups) if groups > 1
    ]
    columns = _parts(problem.columns.result, 4 if problem.columns.result <= 128 else 1 << 30)
    for groups, inner, outer in channels:
        for rows in _parts(problem.rows.result):
            for width in columns:
                for spatial_first in (False, True):
                    yield Tile(groups, inner, outer, rows, width, spatial_first)


def _input_elements(problem: Problem, tile: Tile) -> int:
    """The elements of inputs that a tile needs, at most."""
    sizes = [
        max(
            window.span(begin, min(begin + size, window.result)).count
            for begin in range(0, window.result, size)
        )
        for window, size in ((problem.rows, tile.rows), (problem.columns, tile.columns))
    ]
    return tile.groups * tile.inner * sizes[0] * sizes[1]


def _slots(problem: Problem, tile: Tile, config: Config, threads: int) -> Slots | None:
    depth = {memory: config.depth(memory) for memory in (Memory.INP, Memory.WGT, Memory.ACC)}
    wgt = tile.channels * tile.inner * problem.taps
    acc = tile.results * (1 + problem.residuals)
    vectors = tile.channels * problem.vectors
    if wgt * threads > depth[Memory.WGT] or (acc + vectors) * threads > depth[Memory.ACC]:
        return None
    inp = _input_elements(problem, tile)
    if inp * threads > depth[Memory.INP]:
        return None
    if wgt * 4 > 1 << config.log_depth(Memory.UOP):
        return None
    pieces = _pieces(problem, tile)
    inputs = problem.images * pieces.spatial * pieces.groups * pieces.inner
    weights = pieces.channels * pieces.inner
    room = depth[Memory.ACC] - acc * threads
    return Slots(
        inp, wgt, acc, vectors,
        inputs if inputs * inp <= depth[Memory.INP] else threads,
        weights if weights * wgt <= depth[Memory.WGT] else threads,
        threads,
        pieces.channels if pieces.channels * vectors <= room else threads,
    )  # fmt: skip


@dataclass(frozen=True)
class _Pieces:
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


def _pieces(problem: Problem, tile: Tile) -> _Pieces:
    return _Pieces(
        -(-problem.groups // tile.groups),
        -(-problem.inner // tile.inner),
        -(-problem.outer // tile.outer),
        -(-problem.rows.result // tile.rows),
        -(-problem.columns.result // tile.columns),
    )


def _cost(problem: Problem, tile: Tile, slots: Slots, config: Config, threads: int) -> float:
    """Cycles, by estimate: with two threads transfers hide behind products, or the reverse."""
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
