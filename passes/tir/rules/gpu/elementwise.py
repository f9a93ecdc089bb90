"""Kernels without a reduction on a GPU: neighbouring work-items compute neighbouring elements."""

from __future__ import annotations

from math import prod

from .....dialects import cl
from ...schedule import Schedule
from ..rule import Needs, Rule
from ..shared.grid import bind_groups, group_size, group_sizes, join_grid
from ..shared.pieces import Pieces, collapse
from ..space import Domains, Params, Space, number

GROUP = number("group", "work-items of a group", when="one for each piece", repeated=True)


def _domains(pieces: Pieces, target: cl.Target) -> Domains:
    return {GROUP.at(piece): group_sizes(target) for piece in range(len(pieces.pieces))}


def _default(space: Space[Pieces]) -> Params:
    all_sizes = space.structure.sizes
    inner = [prod(sizes) if len(all_sizes) > 1 else sizes[-1] for sizes in all_sizes]
    groups = [group_size(size, space.target) for size in inner]
    return Params({GROUP.at(piece): group for piece, group in enumerate(groups)})


def _apply(schedule: Schedule, pieces: Pieces, params: Params) -> None:
    for piece, stage in enumerate(pieces.pieces):
        loops = collapse(schedule, stage)
        loops = [schedule.fuse(*loops)] if len(pieces.pieces) > 1 else loops
        bind_groups(schedule, loops, params.number(GROUP.at(piece)))
    join_grid(schedule, pieces.borders, pieces.main)


GPU_ELEMENTWISE = Rule(
    "gpu-elementwise",
    1,
    Needs(device="gpu", texels=False, reductions=False),
    (GROUP,),
    Pieces,
    _domains,
    _default,
    _apply,
)
"""One element for each work-item, neighbours next to each other; pieces as on a CPU."""
