"""Schedule rules: how a kernel of some structure runs well on some target.

A rule is data (`rule.py`). To add one, write its file and add a row here. Folders are for the rules
of a kind of device: `cpu`, `gpu`, `texels` for memory in texels; `shared` for all of them.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from ....plugins import plugins, refuse_twice
from .rule import Rule

ROWS = (
    # Kernels without a reduction: one rule for each kind of device and memory.
    "texels.texels:TEXELS",
    "cpu.elementwise:CPU_ELEMENTWISE",
    # Before single elements, where rows are long enough.
    "gpu.row_texels:ROW_TEXELS",
    "gpu.elementwise:GPU_ELEMENTWISE",
    # Four products at a time, where the device has that: all others take one. Sums of few results
    # are shared in a group, which takes no second launch.
    "texels.dot_parts:DOT_PARTS",
    "texels.dot_texels:DOT_TEXELS",
    # Before all that computes a sum in one group: parts of it are kernels for these rules.
    "shared.split_reduction:SPLIT_REDUCTION",
    # A large product profits most from local memory. It reads each operand many times, so that
    # sharing a sum, as the next rule does, would be slower.
    "gpu.matmul:GPU_MATMUL",
    # Before the tiles, and before groups that share the sum of one texel: larger tiles read less.
    "texels.texel_parts:TEXEL_PARTS",
    # Before the tiles: it takes only what leaves a GPU idle with a work-item for each result.
    "gpu.group_reduction:GROUP_REDUCTION",
    "gpu.tile:GPU_TILE",
    "texels.texel_tile:TEXEL_TILE",
    # Whatever else has texels; the rules below know plain memory only.
    "texels.texel_shared:TEXEL_SHARED",
    # Two products, of which the rules below know one.
    "cpu.attention:ATTENTION",
    # Products between transforms, which no other rule keeps in the caches.
    "cpu.winograd_tiles:WINOGRAD_TILES",
    # Products with what the same kernel computes: no rule below knows two reductions.
    "cpu.strips:STRIPS",
    # Four products at a time, where the device has that. The tiles below take one.
    "cpu.dot_tiles:DOT_TILES",
    # Before the tiles in plain memory: they would put a row of channels into vectors.
    "cpu.channel_blocks:CHANNEL_BLOCKS",
    # Before rows: a tile uses each load several times. It leaves reductions along memory, of which
    # it would gather vectors.
    "cpu.register_tile:REGISTER_TILE",
    # Vectors along the reduction, or else across it: a softmax over channels has both forms.
    "cpu.rows:ROWS",
    "cpu.columns:COLUMNS",
    # Applies to everything that has a reduction.
    "shared.fallback:FALLBACK",
)
"""Our rules, each as `module:NAME`, in the order in which they are tried.

A kernel gets the first rule that applies and has no objection: a rule objects if it can schedule
the kernel and a later rule does it better. A plan may be of any rule that applies.
"""


def _load(row: str) -> Rule[Any]:
    module, _, name = row.partition(":")
    return getattr(import_module(f".{module}", __package__), name)


RULES: tuple[Rule[Any], ...] = tuple(map(_load, ROWS))
"""Our rules, in the order of `ROWS`."""

GROUP = "clopt.rules"
"""The group of entry points, each of which names a `Rule` of another package."""


@cache
def rules() -> tuple[Rule[Any], ...]:
    """Return all rules in the order in which they are tried: those of other packages, then ours.

    Rules of other packages come first, or ours would take their kernels. An objection leaves a
    kernel to ours.
    """
    known = {rule.name: rule for rule in RULES}
    for rule in plugins(GROUP).values():
        refuse_twice(GROUP, rule.name, known)
    return (*plugins(GROUP).values(), *RULES)
