"""Schedule rules: ways to run a kernel of a given structure on a target.

A rule is data (`rule.py`). To add one, write its file and add a row to `ROWS`. The folders `cpu`
and `gpu` hold the rules for one kind of device, `texels` those for kernels that access texels, and
`shared` the rest.
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
    # Before vectors in the order of the result, which would visit a line again for each element.
    "cpu.transposition:TRANSPOSITION",
    "cpu.elementwise:CPU_ELEMENTWISE",
    # Before single elements, where rows are long enough.
    "gpu.row_texels:ROW_TEXELS",
    "gpu.elementwise:GPU_ELEMENTWISE",
    # These add four products per instruction if the device can; all other rules add one. If there
    # are few results, a group shares each sum, which needs no second launch.
    "texels.dot_parts:DOT_PARTS",
    "texels.dot_texels:DOT_TEXELS",
    # Before all rules that compute a sum in one group, because those schedule its parts.
    "shared.split_reduction:SPLIT_REDUCTION",
    # A large product profits most from local memory. It reads each operand many times, so that
    # sharing a sum, as the next rule does, would be slower.
    "gpu.matmul:GPU_MATMUL",
    # Before the tiles, and before groups that share the sum of one texel: larger tiles read less.
    "texels.texel_parts:TEXEL_PARTS",
    # Before the tiles: it takes only kernels that leave a GPU idle with one work-item per result.
    "gpu.group_reduction:GROUP_REDUCTION",
    "gpu.tile:GPU_TILE",
    "texels.texel_tile:TEXEL_TILE",
    # All other kernels with texels; the rules below handle plain memory only.
    "texels.texel_shared:TEXEL_SHARED",
    # Two products in one kernel; the rules below handle one.
    "cpu.attention:ATTENTION",
    # Products between transforms, which no other rule keeps in the caches.
    "cpu.winograd_tiles:WINOGRAD_TILES",
    # Products whose operand the same kernel computes: no rule below handles two reductions.
    "cpu.strips:STRIPS",
    # Four products per instruction, if the device can. The tiles below add one.
    "cpu.dot_tiles:DOT_TILES",
    # Before the tiles in plain memory: they would put a row of channels into vectors.
    "cpu.channel_blocks:CHANNEL_BLOCKS",
    # Before rows, because a tile uses each load several times. It leaves reductions along memory to
    # them, since it would gather their vectors.
    "cpu.register_tile:REGISTER_TILE",
    # Vectors along the reduction, or else across it: a softmax over channels has both forms.
    "cpu.rows:ROWS",
    "cpu.columns:COLUMNS",
    # Applies to everything that has a reduction.
    "shared.fallback:FALLBACK",
)
"""Our rules, each as `module:NAME`, in the order in which they are tried.

A kernel gets the first rule that applies without an objection. A rule objects if it can schedule
the kernel but a later rule does it better. A plan may name any rule that applies.
"""


def _load(row: str) -> Rule[Any]:
    module, _, name = row.partition(":")
    return getattr(import_module(f".{module}", __package__), name)


RULES: tuple[Rule[Any], ...] = tuple(map(_load, ROWS))
"""Our rules, in the order of `ROWS`."""

GROUP = "clopt.rules"
"""The entry point group in which other packages register a `Rule`."""


@cache
def rules() -> tuple[Rule[Any], ...]:
    """Return all rules in the order in which they are tried: those of other packages, then ours.

    Rules of other packages come first; otherwise ours would take their kernels. They can object to
    leave a kernel to ours.
    """
    known = {rule.name: rule for rule in RULES}
    for rule in plugins(GROUP).values():
        refuse_twice(GROUP, rule.name, known)
    return (*plugins(GROUP).values(), *RULES)
