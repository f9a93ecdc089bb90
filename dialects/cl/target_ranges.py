"""The values that each fact of a target may have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..facts import require_choice, require_from_zero, require_positive

TEXTURE_CHOICES = ("off", "auto", "prefer")
WINOGRAD_CHOICES = ("off", "auto", "prefer")
BLOCK_CHOICES = ("off", "auto", "prefer")
CPU_DOTS = ("plain", "asm", "intrinsic")
GPU_DOTS = ("plain", "ptx", "khr")
DOT_CHOICES = tuple(dict.fromkeys(("off", *CPU_DOTS, *GPU_DOTS)))

_CHOICES: dict[str, tuple[str, ...]] = {
    "device_type": ("cpu", "gpu"),
    "texture": TEXTURE_CHOICES,
    "blocks": BLOCK_CHOICES,
    "winograd": WINOGRAD_CHOICES,
    "dot_product": DOT_CHOICES,
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
_MOST = {
    "vector_width": 16,  # lanes of OpenCL C's longest vectors
    "preferred_work_group": 4096,  # no device has larger groups
    "small_work_group": 4096,
}
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
)


def check_ranges(facts: Mapping[str, Any]) -> None:
    """Refuse, by a ValueError, the first fact whose value is outside of its range."""
    for name, choices in _CHOICES.items():
        require_choice(facts, name, choices)
    for name in _POSITIVE:
        if facts[name] < 1:
            raise ValueError(f"{name} is at least 1, not {facts[name]}")
    for name, most in _MOST.items():
        if facts[name] > most:
            raise ValueError(f"{name} is at most {most}, not {facts[name]}")
    require_positive(facts, *_ABOVE_ZERO)
    require_from_zero(facts, *_FROM_ZERO)
    base = facts["image_base_alignment_bytes"]
    if base & (base - 1):
        raise ValueError(f"image_base_alignment_bytes is a power of two, not {base}")
