"""Schedule rules: how a kernel of a given shape runs well on a given target.

A rule is data (`rule.py`): a space of parameters, a default, and how a point of the space is made
with the primitives of `clopt.passes.tir.schedule`. Nothing else decides anything.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ....plugins import plugins, refuse_twice
from .attention import ATTENTION
from .channel_blocks import CHANNEL_BLOCKS
from .columns import COLUMNS
from .dot_parts import DOT_PARTS
from .dot_texels import DOT_TEXELS
from .dot_tiles import DOT_TILES
from .elementwise import CPU_ELEMENTWISE, GPU_ELEMENTWISE
from .fallback import FALLBACK
from .gpu_matmul import GPU_MATMUL
from .gpu_tile import GPU_TILE
from .group_reduction import GROUP_REDUCTION
from .register_tile import REGISTER_TILE
from .row_texels import ROW_TEXELS
from .rows import ROWS
from .rule import Rule
from .split_reduction import SPLIT_REDUCTION
from .strips import STRIPS
from .texel_parts import TEXEL_PARTS
from .texel_shared import TEXEL_SHARED
from .texel_tile import TEXEL_TILE
from .texels import TEXELS
from .winograd_tiles import WINOGRAD_TILES

RULES: tuple[Rule[Any], ...] = (
    # Kernels without a reduction: one rule for each kind of device and memory.
    TEXELS,
    CPU_ELEMENTWISE,
    # Before single elements, where rows are long enough.
    ROW_TEXELS,
    GPU_ELEMENTWISE,
    # Four products at a time, where the device has that: all others take one. Sums of few results
    # are shared in a group, which takes no second launch.
    DOT_PARTS,
    DOT_TEXELS,
    # Before all that computes a sum in one group: parts of it are kernels for these rules.
    SPLIT_REDUCTION,
    # A large product profits most from local memory. It reads each operand many times, so that
    # sharing a sum, as the next rule does, would be slower.
    GPU_MATMUL,
    # Before the tiles, and before groups that share the sum of one texel: larger tiles read less.
    TEXEL_PARTS,
    # Before the tiles: it takes only what leaves a GPU idle with a work-item for each result.
    GROUP_REDUCTION,
    GPU_TILE,
    TEXEL_TILE,
    # Whatever else has texels; the rules below know plain memory only.
    TEXEL_SHARED,
    # Two products, of which the rules below know one.
    ATTENTION,
    # Products between transforms, which no other rule keeps in the caches.
    WINOGRAD_TILES,
    # Products with what the same kernel computes: no rule below knows two reductions.
    STRIPS,
    # Four products at a time, where the device has that. The tiles below take one.
    DOT_TILES,
    # Before the tiles in plain memory: they would put a row of channels into vectors.
    CHANNEL_BLOCKS,
    # Before rows: a tile uses each load several times. It leaves reductions along memory, of which
    # it would gather vectors.
    REGISTER_TILE,
    # Vectors along the reduction, or else across it: a softmax over channels has both forms.
    ROWS,
    COLUMNS,
    # Fits everything that has a reduction.
    FALLBACK,
)
"""Our rules in the order in which they are tried.

A kernel gets the first that fits and has no objection: a rule objects where it can schedule the
kernel and a later rule does it better. A plan may be of any rule that fits.
"""

GROUP = "clopt.rules"
"""The group of entry points, each of which names a `Rule` of another package."""


@cache
def rules() -> tuple[Rule[Any], ...]:
    """Return all rules in the order in which they are tried: those of other packages, then ours.

    A rule of another package comes first, or one of ours would take its kernels. It leaves them to
    ours by an objection.
    """
    known = {rule.name: rule for rule in RULES}
    for rule in plugins(GROUP).values():
        refuse_twice(GROUP, rule.name, known)
    return (*plugins(GROUP).values(), *RULES)
