"""The values that each fact of a target may have."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

TEXTURE_CHOICES = ("off", "auto", "prefer")
WINOGRAD_CHOICES = ("off", "auto", "prefer")
BLOCK_CHOICES = ("off", "auto", "prefer")
CLML_CHOICES = ("off", "auto", "prefer")
NEWEST_CLML = 5

_CHOICES: dict[str, tuple[str, ...]] = {
    "device_type": ("cpu", "gpu"),
    "texture": TEXTURE_CHOICES,
    "blocks": BLOCK_CHOICES,
    "winograd": WINOGRAD_CHOICES,
    "clml": CLML_CHOICES,
}
_POSITIVE = (
    "vector_width",
    "vector_registers",
    "item_vectors",
    "registers",
    "items_per_unit",
    "tiles_per_unit",
    "items_per_core",
    "max_groups",
    "max_group_depth",
    "large_work_group",
    "shared_work_group",
    "small_work_group",
    "coalesced_items",
    "cache_line_bytes",
    "register_rows",
    "register_cols",
    "compute_units",
    "max_work_group_size",
    "preferred_work_group",
    "local_memory_bytes",
    "image_base_alignment_bytes",
)
_ABOVE_ZERO = (
    "guard_cost",
    "horizontal_cost",
    "l2_bytes_per_cycle",
    "memory_bytes_per_cycle",
    "loads_per_cycle",
    "mads_per_cycle",
    "item_cycles",
    "two_waves_cost",
    "one_wave_cost",
    "mads_per_nanosecond",
    "access_cost",
    "bandwidth",
    "image_cost",
    "clml_convolution_mads_per_nanosecond",
    "clml_depthwise_mads_per_nanosecond",
    "clml_matmul_mads_per_nanosecond",
    "clml_bandwidth",
)
_FROM_ZERO = (
    "mad_cycles",
    "lane_cycles",
    "tile_cycles",
    "texel_cost",
    "item_slots",
    "division_cost",
    "result_cost",
    "further_division_cost",
    "launch_microseconds",
    "winograd_texels_cost",
    "winograd_tiles_cost",
    "winograd_transform_cost",
    "winograd_microseconds",
    "clml_launch_microseconds",
)


def check_ranges(facts: Mapping[str, Any]) -> None:
    """Refuse, by a ValueError, the first fact whose value is outside of its range."""
    for name, choices in _CHOICES.items():
        if facts[name] not in choices:
            names = " or ".join(f'"{choice}"' for choice in choices)
            raise ValueError(f'{name} is {names}, not "{facts[name]}"')
    for name in _POSITIVE:
        if facts[name] < 1:
            raise ValueError(f"{name} is at least 1, not {facts[name]}")
    for name in _ABOVE_ZERO:
        if not 0 < facts[name] < math.inf:
            raise ValueError(f"{name} is a positive number, not {facts[name]}")
    for name in _FROM_ZERO:
        if not 0 <= facts[name] < math.inf:
            raise ValueError(f"{name} is a number from 0, not {facts[name]}")
    base = facts["image_base_alignment_bytes"]
    if base & (base - 1):
        raise ValueError(f"image_base_alignment_bytes is a power of two, not {base}")
    version = facts["clml_version"]
    if not 0 <= version <= NEWEST_CLML:
        raise ValueError(f"clml_version is 0 to {NEWEST_CLML}, not {version}")
