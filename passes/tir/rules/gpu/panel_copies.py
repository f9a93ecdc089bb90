"""Panels of the operands of a product that the work-items of a group copy to local memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from .....dialects import tir
from ...schedule import Schedule
from ..shared.contraction import Contraction, OperandLoad
from ..space import Params


@dataclass(frozen=True)
class GroupTile:
    """What a group and its work-items compute, and how many steps of the sum at a time."""

    group: tuple[int, int]
    rows: int
    width: int
    vectors: int
    depth: int

    @staticmethod
    def of(params: Params, depth: int | None = None) -> GroupTile:
        """Return the tile of a point, or of one with another depth."""
        x, y = params.numbers("group")
        rows, width, vectors = (params.number(name) for name in ("rows", "cols", "vectors"))
        depth = params.number("depth") if depth is None else depth
        return GroupTile((x, y), rows, width, vectors, depth)

    @property
    def items(self) -> int:
        """Work-items of a group."""
        return prod(self.group)

    @property
    def cols(self) -> int:
        """Columns of a work-item."""
        return self.width * self.vectors

    @property
    def all_rows(self) -> int:
        """Rows of a group."""
        return self.group[1] * self.rows

    @property
    def all_cols(self) -> int:
        """Columns of a group."""
        return self.group[0] * self.cols

    def panels(self) -> tuple[int, int]:
        """Return the elements of the two panels."""
        return self.all_rows * self.depth, self.all_cols * self.depth


def copy_panel(
    schedule: Schedule,
    contraction: Contraction,
    load: OperandLoad,
    steps: tir.ForOp,
    tile: GroupTile,
    params: Params,
) -> tir.BlockOp:
    """Copy a panel by all work-items of the group; neighbours copy neighbouring elements."""
    block, buffer = contraction.stage.block, load.op.memref
    if params.word("panels") == "plain":
        copy = schedule.cache_read(block, buffer, tir.Scope.Local)
        loops = schedule.compute_at(copy, steps)
        along = loops[-1]
    else:
        spatial = len(contraction.extents)
        used = [i for i, step in enumerate(load.steps) if step != 0]
        order = [
            *(i for i in used if i < spatial - 2),
            spatial,
            *(i for i in used if i in (spatial - 2, spatial - 1)),
        ]
        copy = schedule.cache_gather(block, buffer, tir.Scope.Local, order)
        loops = schedule.compute_at(copy, steps)
        along = max(loops, key=lambda loop: load.steps[order[loops.index(loop)]] == 1)
    rest = [loop for loop in loops if loop is not along]
    lanes: tir.ForOp | None = None
    if params.number("load") > 1:
        along, lanes = schedule.split(along, params.number("load"))
    schedule.reorder(*rest, along, *([lanes] if lanes else []))
    _share(schedule, [*rest, along], lanes, tile, ahead=params.number("prefetch") > 0)
    return copy


def _share(
    schedule: Schedule,
    loops: Sequence[tir.ForOp],
    lanes: tir.ForOp | None,
    tile: GroupTile,
    ahead: bool,
) -> None:
    """Divide the points of a copy among the work-items of a group."""
    x, y = tile.group
    copied = schedule.fuse(*loops, name="copy")
    others, item_cols = schedule.split(copied, x, ("rest", "item_x"))
    chunks, item_rows = schedule.split(others, y, ("copy", "item_y"))
    if ahead:
        schedule.reorder(item_rows, item_cols, chunks)
    schedule.bind(item_rows, tir.LoopKind.LocalY)
    schedule.bind(item_cols, tir.LoopKind.LocalX)
    if ahead:
        schedule.unroll(chunks)
    if lanes is not None:
        schedule.vectorize(lanes)
