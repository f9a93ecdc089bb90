"""How fast a device is, and how much fits in it: rates and capacities."""

from __future__ import annotations

from dataclasses import dataclass

from .facts import FactTable, fact


@dataclass(frozen=True)
class MachineFacts(FactTable):
    """Rates and capacities, measured or published."""

    vector_width: int = fact(8, "lanes", least=1, most=16)
    """Float32 lanes of a CPU's vector registers, or of a GPU's widest load."""
    vector_registers: int = fact(16, "registers", least=1)
    """Vector registers of a CPU core: 16 with AVX2, 32 with AVX-512."""
    vector_passes: int = fact(1, "passes", least=1)
    """Passes through a CPU core's units per vector: 2 where these are half as wide, as for AVX-512
    on Zen 4."""
    l1_cache_bytes: int = fact(32768, "bytes")
    """L1 data cache of a CPU core."""
    l2_cache_bytes: int = fact(524288, "bytes")
    """L2 cache of a CPU core."""
    register_tile: int = fact(4, "rows and columns", least=1)
    """Rows and columns of the register tile that a GPU work-item computes of a matmul or
    convolution."""
    prefetched_panels: int = fact(0, "panels")
    """Copies of a matmul's panels in local memory: with 2, a GPU loads one while it multiplies the
    other. With 0, groups in flight hide the latency instead."""
    registers: int = fact(96, "registers", least=1)
    """Four-float registers of a GPU core per lane: n waves are in flight if a work-item uses at
    most `registers // n`."""
    one_wave_cost: float = fact(2.0, "ratio", above=0)
    """Relative cost of a kernel whose registers leave room for only one wave (1.0 = four waves in
    flight)."""
    further_division_cost: float = fact(0.0, "ratio", least=0)
    """Relative cost of each further index that is divided out of the same fused loop."""
    split_results: int = fact(0, "results")
    """Partial results per compute unit that keep a GPU busy: deep reductions with fewer results are
    split. 0 disables splitting."""
    shared_tiles: int = fact(1, "work-items")
    """Maximum GPU work-items that share the sums of one tile; 1 disables sharing."""
    item_slots: float = fact(0.0, "issue slots", least=0)
    """Issue slots in which a work-item locates its tile of texels; 0 if not counted."""
    channel_texels: int = fact(4, "texels")
    """Maximum columns of a work-item's tile in a depthwise convolution; rows extend the tile
    further."""
    mads_per_nanosecond: float = fact(48.0, "multiply-adds / ns", above=0)
    """Peak rate of one compute unit for float multiply-adds."""
    access_cost: float = fact(4.0, "multiply-adds", above=0)
    """Cost of loading or storing up to four floats in a buffer."""
    result_cost: float = fact(0.0, "multiply-adds", least=0)
    """Overhead per written element: its share of starting the work-item, of setting up and
    finishing the sum, and of fused operations."""
    bandwidth: float = fact(20.0, "bytes / ns", above=0)
    """Bandwidth between global memory and the whole device, in GB/s."""
    launch_microseconds: float = fact(5.0, "µs", least=0)
    """Time that a kernel launch takes beyond its work."""
    turn_microseconds: float = fact(0.0, "µs", least=0)
    """Time that work-groups take to wait for each other within a kernel. If a launch takes much
    longer, small kernels take turns in one launch. 0 (not measured) disables it."""
    preferred_work_group: int = fact(64, "work-items", least=1, most=4096)
    """Work-group size that schedules aim for; smaller groups leave lanes of a GPU idle."""
    row_accesses: int = fact(0, "accesses")
    """Accesses to plain buffers per work-item from which a texel kernel places neighbours along a
    row, even if rows do not fill groups evenly. 0 disables it."""
    half_registers: int = fact(0, "vectors")
    """Vectors of four halves that fit in the registers of a work-item."""
    image_cost: float = fact(8.0, "ratio", above=0)
    """Cost of reading a texel of four floats from an image, relative to reading them from a buffer,
    address arithmetic included."""
    winograd_transform_cost: float = fact(0.0, "multiply-adds", least=0)
    """Cost per element that a Winograd transform reads or writes, relative to a multiply-add of a
    convolution. With 0 (not measured, or never faster) `winograd=auto` means `off`."""
    winograd_packed_cost: float = fact(0.0, "multiply-adds", least=0)
    """The same for packed values, whose transforms cause no memory traffic. A CPU packs blocks of
    channels and computes a few tiles per kernel. A GPU packs texels, also between the transforms;
    with 0 it multiplies plain matrices there."""
    weight_images: bool = fact(True)
    """Whether the weights of contractions are stored in images where values are. False suits
    devices that broadcast an element of a buffer to a wave, but not a texel."""
