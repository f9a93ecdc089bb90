"""How fast a device is, and how much fits in it: rates and capacities."""

from __future__ import annotations

from dataclasses import dataclass

from .facts import FactTable, fact


@dataclass(frozen=True)
class MachineFacts(FactTable):
    """Rates and capacities, measured or published."""

    vector_width: int = fact(8, "lanes", least=1, most=16)
    """Lanes of a float32 vector that the device computes at once (on a GPU: loads at once)."""
    vector_registers: int = fact(16, "registers", least=1)
    """Vector registers of a CPU core: 16 with AVX2, 32 with AVX-512."""
    l1_cache_bytes: int = fact(32768, "bytes")
    """First data cache of a CPU core, for the data that a tile uses again at once."""
    l2_cache_bytes: int = fact(524288, "bytes")
    """Second data cache of a CPU core."""
    register_tile: int = fact(4, "rows and columns", least=1)
    """Rows, and columns, of the tile that one work-item of a GPU computes of a matmul or
    convolution."""
    prefetched_panels: int = fact(0, "panels")
    """Copies of a panel in local memory with which a GPU multiplies one while the next is loaded;
    0 for those that hide latencies by the number of their groups alone."""
    registers: int = fact(96, "registers", least=1)
    """Registers of four floats that a GPU core has for each lane of its waves: n waves are in
    flight on it while a work-item takes at most `registers // n` of them."""
    two_waves_cost: float = fact(1.25, "ratio", above=0)
    """What a convolution with registers for two waves costs, in units of one with four."""
    one_wave_cost: float = fact(2.0, "ratio", above=0)
    """What a kernel with registers for one wave only costs, in the same units."""
    further_division_cost: float = fact(0.0, "ratio", least=0)
    """What the indices of each further loop cost that are divided out of the same fused one."""
    split_results: int = fact(0, "results")
    """Partial results for each compute unit that keep a GPU busy where deep reductions with few
    results are split in parts; 0 where that was not measured to pay."""
    shared_tiles: int = fact(1, "work-items")
    """Work-items of a GPU that share the sums of a tile at the most; 1 where nobody measured it."""
    item_slots: float = fact(0.0, "issue slots", least=0)
    """Slots in which a work-item finds its tile of texels; 0 where nobody counted instructions."""
    channel_texels: int = fact(4, "texels")
    """Texels of a depthwise convolution for a work-item at the most; tiles of more have rows."""
    mads_per_nanosecond: float = fact(48.0, "multiply-adds / ns", above=0)
    """Multiply-adds of floats that one compute unit computes if it never waits."""
    access_cost: float = fact(4.0, "multiply-adds", above=0)
    """Cost of loading or storing up to four floats in a buffer, in multiply-adds."""
    result_cost: float = fact(0.0, "multiply-adds", least=0)
    """Overhead of each element that a kernel writes, in multiply-adds: a share of the work-item's
    start, of setting up and finishing the sum, and of fused operations."""
    bandwidth: float = fact(20.0, "bytes / ns", above=0)
    """Bytes per nanosecond (GB/s) between global memory and the whole device."""
    launch_microseconds: float = fact(5.0, "µs", least=0)
    """Microseconds that a kernel takes beyond its work."""
    preferred_work_group: int = fact(64, "work-items", least=1, most=4096)
    """Work-items of a group that a schedule aims for; smaller groups leave lanes of a GPU idle."""
    row_accesses: int = fact(0, "accesses")
    """Accesses of a work-item to plain buffers from which on kernels of texels have neighbours in
    their rows, though rows fill no group evenly; 0 where nobody measured it."""
    half_registers: int = fact(0, "vectors")
    """Vectors of four halves that the registers of a work-item hold."""
    image_cost: float = fact(8.0, "ratio", above=0)
    """Cost of reading a texel of four floats from an image, in units of reading the same four
    floats from a buffer with the address arithmetic of that."""
    winograd_transform_cost: float = fact(0.0, "multiply-adds", least=0)
    """Cost of an element that a transform of Winograd's writes or reads, in units of a product of
    a convolution; 0 where it was not measured or never pays, which `auto` takes for `off`."""
    winograd_packed_cost: float = fact(0.0, "multiply-adds", least=0)
    """The same for packed values, whose transforms need no traffic of memory. On a CPU values lie
    in blocks of channels, and a kernel computes a few tiles at a time. On a GPU they are texels,
    and so are the products between the transforms; 0 where these are products of matrices."""
    winograd_microseconds: float = fact(0.0, "µs", least=0)
    """Time that Winograd's transforms and their products cost beyond these elements, on an idle
    device: more launches, and too few work-items in them."""
    weight_images: bool = fact(True)
    """Whether the weights of contractions lie in images, too, where values do. Buffers are better
    on devices that read an element for all work-items of a wave at once from one, not from an
    image."""
