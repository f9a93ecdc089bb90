"""One reduction whose results an output reads element by element: matmul, convolution, pooling.

Shared by the rules for register tiles: properties of a contraction, and steps of a schedule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Protocol, cast

from xdsl.dialects import memref
from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from .....dialects import tir
from ...schedule import Schedule
from ...schedule.analysis import memref_of, written
from ...schedule.combine import can_combine
from ..space import Choice, word
from ..stages import KernelStage, reads_in_place


class Tile(Protocol):
    """What a work-item computes: `rows` of one variable by `cols` of another."""

    @property
    def row(self) -> int: ...
    @property
    def rows(self) -> int: ...
    @property
    def col(self) -> int: ...
    @property
    def cols(self) -> int: ...
    @property
    def width(self) -> int: ...


@dataclass(frozen=True)
class OperandLoad:
    """A load of the reduction, as a cost model sees it."""

    op: memref.LoadOp
    steps: list[int | None]
    constant: int | None
    """Which constant parameter it reads, if any."""
    dims: list[int | None]
    """Which iteration variable each of its indices is, None for anything else."""


@dataclass(frozen=True)
class Contraction:
    """One reduction and the output stage that consumes it element by element."""

    func: tir.FuncOp
    stage: KernelStage
    output: KernelStage
    loads: list[OperandLoad]
    store_steps: list[int | None]
    borders: Sequence[KernelStage] = ()
    """The kernel's other outputs, which share the grid."""

    @cached_property
    def extents(self) -> tuple[int, ...]:
        """The extents of the spatial variables."""
        return self.stage.block.iter_extents[: len(self.output.loops)]

    @cached_property
    def depth(self) -> int:
        """The number of steps of the reduction."""
        return prod(self.stage.block.iter_extents[len(self.output.loops) :])

    @cached_property
    def has_parts(self) -> bool:
        """Whether sums of parts of the reduction can be combined."""
        return can_combine(self.stage.block)

    @cached_property
    def longest(self) -> int:
        """The longest variable of the reduction, the first of several."""
        extents = self.stage.block.iter_extents
        return max(self.stage.reduce, key=lambda i: (extents[i], -i))

    @property
    def longest_steps(self) -> int:
        """The steps of the longest variable."""
        return self.stage.block.iter_extents[self.longest]


def contraction_of(
    func: tir.FuncOp,
    producers: list[KernelStage],
    output: KernelStage,
    borders: Sequence[KernelStage] = (),
) -> Contraction | None:
    """Return the contraction that a kernel's stages are; None if they have another shape."""
    if len(producers) != 1:
        return None
    (stage,) = producers
    if not stage.reduce or len(written(stage.block)) != 1:
        return None
    (buffer,) = written(stage.block)
    if memref_of(buffer).get_shape() != output.block.iter_extents:
        return None
    if stage.spatial != list(range(len(output.loops))) or not reads_in_place(stage, output):
        return None
    loads = [_describe(func, stage, op) for op in stage.block.loads() if op.memref is not buffer]
    (store,) = output.block.stores()
    return Contraction(func, stage, output, loads, output.strides[store], borders)


def element_bytes(load: OperandLoad) -> int:
    """Return the bytes of an element that a load reads."""
    return cast(FixedBitwidthType, memref_of(load.op.memref).element_type).size


def _describe(func: tir.FuncOp, stage: KernelStage, op: memref.LoadOp) -> OperandLoad:
    constants = {func.params[i]: i for i in func.constant_indices}
    indices = stage.accesses[op]
    dims = [index.position if isinstance(index, AffineDimExpr) else None for index in indices]
    return OperandLoad(op, stage.strides[op], constants.get(op.memref), dims)


CONSTANTS = word(
    "constants", "whether constants are laid out so that a tile walks straight through them"
)
CONSTANTS_DOMAIN = Choice(("packed", "plain"))


def is_packed(problem: Contraction, load: OperandLoad, tile: Tile, dim: int) -> bool:
    """Return whether a constant's layout changes so that the tile's part of `dim` is contiguous."""
    size = tile.cols if dim == tile.col else tile.rows
    if load.constant is None or load.dims.count(dim) != 1 or size == 1:
        return False
    # Under a guard a constant may be shorter than the loop that reads it.
    length = memref_of(load.op.memref).get_shape()[load.dims.index(dim)]
    return length == problem.extents[dim] and length % size == 0


def pack_constants(schedule: Schedule, problem: Contraction, tile: Tile) -> None:
    """Lay constants out so that a tile walks straight through them."""
    done: set[int] = set()
    for load in problem.loads:
        for dim in (tile.col, tile.row):
            if not is_packed(problem, load, tile, dim) or load.constant in done:
                continue
            assert load.constant is not None
            done.add(load.constant)
            size = tile.cols if dim == tile.col else tile.rows
            shape = memref_of(load.op.memref).get_shape()
            position = load.dims.index(dim)
            rest = [i for i in range(len(shape)) if i != position]
            blocked = AffineExpr.dimension(position)
            layout = [blocked // size, *(AffineExpr.dimension(i) for i in rest), blocked % size]
            schedule.transform_layout(schedule.func.params[load.constant], layout)


def tile_reduction(
    schedule: Schedule, problem: Contraction, tile: Tile, loops: list[tir.ForOp]
) -> None:
    """Run the reduction outside of the tile, and the tile in registers."""
    count = len(problem.extents)
    tile_loops(schedule, tile, loops[:count], loops[count:])


def tile_loops(
    schedule: Schedule, tile: Tile, spatial: Sequence[tir.ForOp], outside: Sequence[tir.ForOp]
) -> None:
    """Run the loops `outside` around the tile, and those of its rows and columns in registers."""
    row = spatial[tile.row]
    vectors, lanes = schedule.split(spatial[tile.col], tile.width)
    others = [loop for i, loop in enumerate(spatial) if i not in (tile.row, tile.col)]
    schedule.reorder(*others, *outside, row, vectors, lanes)
    schedule.unroll(row)
    schedule.unroll(vectors)
    if tile.width > 1:
        schedule.vectorize(lanes)
