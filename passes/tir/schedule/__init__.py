"""Schedule primitives: functions that change loops and the maps of blocks, not the computation.

Each primitive checks that the kernel keeps its meaning, and otherwise raises `ScheduleError`. The
concepts come from TVM's TensorIR (Feng et al., "TensorIR: An Abstraction for Automatic Tensorized
Program Optimization", 2022).
"""

from __future__ import annotations

from .bind import bind
from .cache_gather import cache_gather
from .cache_read import cache_read
from .cache_write import cache_write
from .compute_at import compute_at
from .errors import ScheduleError
from .fetch_ahead import fetch_ahead
from .fuse import fuse
from .names import block_of, buffer_of, loop_named
from .prefetch import prefetch
from .reorder import reorder
from .rfactor import rfactor, rfactor_tree
from .roll import roll
from .schedule import Schedule
from .set_scope import set_scope
from .split import split, split_many
from .transform_layout import transform_layout
from .unroll import unroll
from .vectorize import parallel, vectorize

__all__ = [
    "Schedule",
    "ScheduleError",
    "bind",
    "block_of",
    "buffer_of",
    "cache_gather",
    "cache_read",
    "cache_write",
    "compute_at",
    "fetch_ahead",
    "fuse",
    "loop_named",
    "parallel",
    "prefetch",
    "reorder",
    "rfactor",
    "rfactor_tree",
    "roll",
    "set_scope",
    "split",
    "split_many",
    "transform_layout",
    "unroll",
    "vectorize",
]
