"""The device that a module is compiled for: its facts, as a value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any, TypeAlias, cast

from ...accelerators import accelerators
from ...messages.printable import printable
from ...messages.sentences import did_you_mean
from ..facts import AcceleratorFacts
from ..tir import TEXEL
from .target_ranges import CPU_DOTS, GPU_DOTS, check_ranges

Fact: TypeAlias = str | bool | int | float

# Up to this cost an image is the better memory: its unit computes addresses and borders.
_AFFORDABLE_IMAGE_COST = 1.25


@dataclass(frozen=True)
class Target:
    """Facts about an OpenCL device that lowering and scheduling read; the defaults fit any CPU.

    No pass probes hardware: the same module and the same target give the same bytes.
    """

    name: str = "generic"
    device_type: str = "cpu"
    """`cpu` or `gpu`: which family of schedules is used."""
    vector_width: int = 8
    """Lanes of a float32 vector that the device computes at once (on a GPU: loads at once)."""
    vector_registers: int = 16
    """Vector registers of a CPU core: 16 with AVX2, 32 with AVX-512."""
    l1_cache_bytes: int = 32768
    """First data cache of a CPU core, for the data that a tile uses again at once."""
    l2_cache_bytes: int = 524288
    """Second data cache of a CPU core."""
    l2_bytes_per_cycle: float = 32.0
    """Bytes that a CPU core reads from its second data cache in a cycle."""
    memory_bytes_per_cycle: float = 8.0
    """Bytes that a CPU core reads in a cycle of what lies beyond its second data cache."""
    loads_per_cycle: float = 2.0
    """Loads of a CPU core in a cycle, each of a vector or a scalar."""
    mads_per_cycle: float = 2.0
    """Multiply-adds of vectors that a CPU core starts in a cycle."""
    mad_cycles: float = 4.0
    """Cycles from the start of a multiply-add on a CPU until the next may add to its result."""
    lane_cycles: float = 2.0
    """Cycles in which a CPU core loads or stores one lane of a vector by itself."""
    tile_cycles: float = 20.0
    """Cycles that a tile of a contraction on a CPU takes beside its arithmetic and accesses."""
    item_cycles: float = 5000.0
    """Work that makes a work-item of a CPU worth starting, in cycles."""
    item_vectors: int = 16
    """The same where each result is computed on its own, in vectors of results."""
    register_rows: int = 4
    """Rows of the tile that one work-item of a GPU computes of a matmul or convolution."""
    register_cols: int = 4
    """Columns of that tile."""
    prefetched_panels: int = 0
    """Copies of a panel in local memory with which a GPU multiplies one while the next is loaded;
    0 for those that hide latencies by the number of their groups alone."""
    registers: int = 96
    """Registers of four floats that a GPU core has for each lane of its waves: n waves are in
    flight on it while a work-item takes at most `registers // n` of them."""
    two_waves_cost: float = 1.25
    """What a convolution with registers for two waves costs, in units of one with four."""
    one_wave_cost: float = 2.0
    """What a kernel with registers for one wave only costs, in the same units."""
    texel_cost: float = 4.5
    """Issue slots of a read of a texel with what it takes, in those of a multiply-add of four
    lanes."""
    division_cost: float = 0.15
    """What a division of an index costs a short kernel, as a share of all its work."""
    further_division_cost: float = 0.0
    """What the indices of each further loop cost that are divided out of the same fused one."""
    items_per_unit: int = 1024
    """Work-items that a compute unit of a GPU needs to keep memory busy."""
    tiles_per_unit: int = 256
    """The same where each work-item computes a tile."""
    items_per_core: int = 8
    """Work-items that a compute unit of a CPU needs, so that all end at about the same time."""
    barrier_steps: int = 32
    """Steps of a reduction on a GPU that are not worth a barrier."""
    compute_units: int = 2
    """Work-groups that run at the same time."""
    split_results: int = 0
    """Partial results for each compute unit that keep a GPU busy where deep reductions with few
    results are split in parts; 0 where that was not measured to pay."""
    shared_tiles: int = 1
    """Work-items of a GPU that share the sums of a tile at the most; 1 where nobody measured it."""
    item_slots: float = 0.0
    """Slots in which a work-item finds its tile of texels; 0 where nobody counted instructions."""
    channel_texels: int = 4
    """Texels of a depthwise convolution for a work-item at the most; tiles of more have rows."""
    mads_per_nanosecond: float = 48.0
    """Multiply-adds of floats that one compute unit computes if it never waits."""
    access_cost: float = 4.0
    """Cost of loading or storing up to four floats in a buffer, in multiply-adds."""
    result_cost: float = 0.0
    """Overhead of each element that a kernel writes, in multiply-adds: a share of the work-item's
    start, of setting up and finishing the sum, and of fused operations."""
    guard_cost: float = 1.25
    """Cost of a read from a buffer that may be outside, where the kernel compares an index and
    selects between the element and zero, in units of any other."""
    horizontal_cost: float = 1.25
    """Cost of a read of a texel whose elements one lane adds up one after the other, in units of
    one whose elements four lanes take."""
    bandwidth: float = 20.0
    """Bytes per nanosecond (GB/s) between global memory and the whole device."""
    launch_microseconds: float = 5.0
    """Microseconds that a kernel takes beyond its work."""
    max_alloc_bytes: int = 0
    """Bytes of the largest buffer, 0 where unknown: larger arenas become several."""
    max_work_group_size: int = 1024
    """Work-items of the largest group."""
    max_groups: int = 65535
    """Groups of a launch along y and z at the most."""
    max_group_depth: int = 64
    """Work-items of a group along z at the most."""
    preferred_work_group: int = 64
    """Work-items of a group that a schedule aims for; smaller groups leave lanes of a GPU idle."""
    large_work_group: int = 256
    """Work-items of a group that hides the latencies of buffers, and for which a long kernel still
    has registers."""
    shared_work_group: int = 128
    """Work-items of a group that shares reductions, at the least."""
    small_work_group: int = 32
    """Work-items of a group of a short loop, at the least: what a GPU runs in step, or less."""
    coalesced_items: int = 32
    """Neighbouring work-items whose loads of neighbouring floats memory serves together."""
    row_accesses: int = 0
    """Accesses of a work-item to plain buffers from which on kernels of texels have neighbours in
    their rows, though rows fill no group evenly; 0 where nobody measured it."""
    cache_line_bytes: int = 64
    """A line of the cache of a GPU, which neighbouring work-items should read together."""
    local_memory_bytes: int = 32768
    """Local memory of one work-group; what a CPU reports is cache and not worth tiling for."""
    fp16: bool = False
    """Whether kernels may compute in `half` (storing it works everywhere)."""
    half_totals: bool = False
    """Whether short sums in `half` are added up in `half`, too, because conversions cost much."""
    half_registers: int = 0
    """Vectors of four halves that the registers of a work-item hold."""
    fp64: bool = True
    """Whether kernels may compute in `double`."""
    correctly_rounded_division: bool = True
    """Whether `/` and `sqrt` of floats are rounded correctly, by nature as on CPUs or by a build
    option of OpenCL. Elsewhere kernels correct the last bits where a result depends on them."""
    dot_product: str = "off"
    """How kernels add four products of bytes to each sum. A CPU has AVX-512's `vpdpbusd` for 16 of
    them, as inline assembly (`asm`) or a function of LLVM's that the compiler knows by name
    (`intrinsic`); a GPU NVIDIA's `dp4a` as inline PTX (`ptx`), or the functions of
    cl_khr_integer_dot_product (`khr`). Plain arithmetic (`plain`), for tests, is slower than
    floats. With `off` floats are multiplied."""
    mad: bool = False
    """Whether kernels write `mad(a, b, c)` and do not leave `a * b + c` to the compiler."""
    select: bool = False
    """Whether kernels choose between vectors by `select(b, a, c)` and not by `c ? a : b`."""
    arithmetic_functions: bool = False
    """Whether kernels of a GPU compute `erf` and `exp` of floats by arithmetic, whose error is
    known, and not by the functions of the device, which are longer."""
    fmax: bool = False
    """Whether kernels take the greater number by `fmax` where a NaN may be lost, and not by a
    comparison that keeps it."""
    wide_accesses: bool = False
    """Whether kernels move vectors of 16 bytes that are aligned so as values of a vector type, and
    align local arrays. From `vload4`, which may be anywhere, the device's compiler makes four."""
    wide_local: bool = False
    """Whether they do so in local arrays, too."""
    biased_sums: bool = False
    """Whether a sum starts from the bias that is added to it, where that changes little."""
    rolled_loops: bool = False
    """Whether a loop that must stay a loop gets its bound as an argument. The device's compiler
    unrolls loops of known length, and the registers that this takes cost work-items in flight."""
    float_coordinates: bool = False
    """Whether kernels give samplers the centres of texels as floats, for devices whose compiler
    converts integers at every read. Floats are exact up to 2^22 texels; integers always are."""
    texels_of_rows: bool = False
    """Whether kernels between textures read neighbours in rows of plain buffers by four, where
    they know which of the four they take. The device's compiler does not join such reads itself."""
    texture: str = "auto"
    """`prefer` images wherever they fit, `off` for buffers only, `auto` as `image_cost` says."""
    image_cost: float = 8.0
    """Cost of reading a texel of four floats from an image, in units of reading the same four
    floats from a buffer with the address arithmetic of that."""
    blocks: str = "off"
    """Whether the channels of values between kernels lie in blocks of `vector_width` in the buffers
    of a CPU: wherever there are channels (`prefer`), nowhere (`off`), or as the costs of the target
    say (`auto`)."""
    winograd: str = "auto"
    """Whether 3x3 convolutions are computed by Winograd's transforms: wherever these take fewer
    products (`prefer`), nowhere (`off`), or as the cost of the transforms says (`auto`)."""
    winograd_transform_cost: float = 0.0
    """Cost of an element that a transform of Winograd's writes or reads, in units of a product of
    a convolution; 0 where it was not measured or never pays, which `auto` takes for `off`."""
    winograd_tiles_cost: float = 0.0
    """The same with channels in blocks, where a kernel computes a few tiles at a time and their
    transforms stay in its caches."""
    winograd_texels_cost: float = 0.0
    """The same where values are texels, and so are the products between the transforms, without
    the traffic of memory; 0 for devices on which these are products of matrices."""
    winograd_microseconds: float = 0.0
    """Time that Winograd's transforms and their products cost beyond these elements, on an idle
    device: more launches, and too few work-items in them."""
    weight_images: bool = True
    """Whether the weights of contractions lie in images, too, where values do. Buffers are better
    on devices that read an element for all work-items of a wave at once from one, not from an
    image."""
    images: bool = False
    """Whether kernels may read and write images."""
    max_image_width: int = 0
    """Texels of a row of a 2-D image, or of an array of such; 0 without images, as below."""
    max_image_height: int = 0
    """Rows of a 2-D image."""
    max_image_layers: int = 0
    """Images of an array."""
    max_image_buffer_texels: int = 0
    """Texels of an `image1d_buffer_t`."""
    max_read_images: int = 0
    """Image arguments that a kernel can read."""
    max_write_images: int = 0
    """Image arguments that a kernel can write."""
    half_images: bool = True
    """Whether `read_imagef` reads images of four halves (OpenCL 1.2 has them among the formats
    that every device with images supports)."""
    read_imageh: bool = False
    """Whether `read_imageh` and `write_imageh` exist, as cl_khr_fp16 says they do."""
    sub_buffers: bool = True
    """Whether values may be parts of a larger buffer."""
    image1d_buffer: bool = False
    """Whether an `image1d_buffer_t` can be a view of a buffer."""
    image_from_buffer: bool = False
    """Whether a 2-D image can be a view of a buffer."""
    image_pitch_alignment_bytes: int = 0
    """The row pitch of such a view is a multiple of this many bytes, whatever its texels are; 0
    without such views."""
    image_base_alignment_bytes: int = 128
    """A view of a buffer, image or sub-buffer, starts at a multiple of this many bytes."""
    accelerators: tuple[tuple[str, Fact], ...] = ()
    """Facts of accelerators by name, those that differ from their defaults (`with_facts`)."""

    def __post_init__(self) -> None:
        check_ranges(vars(self))
        if self.accelerators:
            for facts in _accelerator_facts():
                facts.of(self)

    def fact(self, name: str) -> Fact:
        """The value of one of `fact_types`."""
        if name in _OWN_FACTS:
            return getattr(self, name)
        return dict(self.accelerators).get(name, _defaults()[name])

    @property
    def uses_textures(self) -> bool:
        """Whether values between kernels lie in images where they fit.

        Never on a device without images. With `texture="auto"`, where reading an image costs at
        most a quarter more than reading a buffer: what its unit saves, guards at borders above
        all, is worth that much.
        """
        affordable = self.image_cost <= _AFFORDABLE_IMAGE_COST
        return self.images and (self.texture == "prefer" or (self.texture == "auto" and affordable))

    @property
    def lanes(self) -> int:
        """Elements of a block of a packed axis: a texel's, or a vector's of a CPU; 0 where values
        between kernels stay plain."""
        if self.uses_textures:
            return TEXEL
        is_packing = self.device_type == "cpu" and self.blocks != "off" and self.vector_width > 1
        return self.vector_width if is_packing else 0

    @property
    def offloads_quantized(self) -> bool:
        """Whether an accelerator may take quantised layers."""
        return any(f.READS_QUANTIZED for f in self._facts_in_use())

    @property
    def needs_shifts(self) -> bool:
        """Whether an accelerator that may take layers has scales of powers of two."""
        return any(f.NEEDS_SHIFTS for f in self._facts_in_use())

    def _facts_in_use(self) -> Iterator[type[AcceleratorFacts]]:
        """Yield the facts of the accelerators whose mode is not `off`."""
        for each in _accelerator_facts():
            if self.fact(fields(each)[0].name) != "off":
                yield each

    @property
    def multiplies_bytes(self) -> bool:
        """Whether our kernels multiply the integers of quantised values.

        Not where an accelerator may take such products: it finds them by their conversions.
        """
        if self.offloads_quantized:
            return False
        if self.device_type == "gpu":
            # Texels of bytes are words for its instruction.
            return self.dot_product in GPU_DOTS and self.uses_textures
        return self.dot_product in CPU_DOTS and self.vector_width == 16

    @classmethod
    def from_facts(cls, name: str, facts: Mapping[str, Any]) -> Target:
        """A target from a table such as a TOML file gives; ValueError for what is not a fact."""
        return cls(name).with_facts(facts)

    def with_facts(self, facts: Mapping[str, Any]) -> Target:
        """This target with other `facts`; ValueError for what is not a fact."""
        checked = {key: _checked(key, value) for key, value in facts.items()}
        own: dict[str, Any] = {key: v for key, v in checked.items() if key in _OWN_FACTS}
        others = {key: value for key, value in checked.items() if key not in _OWN_FACTS}
        merged = dict(self.accelerators) | others
        # In one order and without defaults, so that equal facts are equal targets.
        differing = [(k, merged[k]) for k, v in _defaults().items() if merged.get(k, v) != v]
        return replace(self, **own, accelerators=tuple(differing))


_OWN_FACTS: Mapping[str, Fact] = {
    field.name: cast("Fact", field.default)
    for field in fields(Target)
    if field.name not in ("name", "accelerators")
}
"""The facts of a target itself and their defaults."""


@cache
def _accelerator_facts() -> tuple[type[AcceleratorFacts], ...]:
    return tuple(row.load("facts") for row in accelerators().values())


@cache
def _defaults() -> Mapping[str, Fact]:
    """The facts of accelerators and their defaults."""
    return {f.name: cast("Fact", f.default) for cls in _accelerator_facts() for f in fields(cls)}


@cache
def fact_types() -> Mapping[str, type[Any]]:
    """The facts of a target and their types: its own, then those of accelerators."""
    return {name: type(default) for name, default in ({**_OWN_FACTS, **_defaults()}).items()}


_KINDS: dict[type[Any], str] = {
    str: "a word",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
}


_BOOLEANS = {"true": True, "false": False}


def fact_of(key: str, text: str) -> Fact:
    """`text` as a value of the fact `key`, or as it is, for the target to refuse."""
    try:
        match fact_types().get(key):
            case kind if kind is bool:
                return _BOOLEANS.get(text, text)
            case kind if kind is int or kind is float:
                return kind(text)
            case _:
                return text
    except ValueError:
        return text


_MOST, _MOST_ALIGNMENT = 1 << 48, 1 << 20
"""No device exceeds this. Larger numbers are mistakes, and their sums would not fit 64 bits."""


def _checked(key: str, value: Any) -> Fact:
    expected = fact_types().get(key)
    if expected is None:
        remedy = did_you_mean(key, fact_types(), "docs/targets.md lists the facts", most=3)
        raise ValueError(f'"{printable(key)}" is no fact of a target; {remedy}')
    if expected is float and type(value) is int:
        return float(value)
    if type(value) is not expected:
        raise ValueError(f"{key} is {_KINDS[expected]}, not {value!r}")
    most = _MOST_ALIGNMENT if key.endswith("alignment_bytes") else _MOST
    if expected is int and not 0 <= value <= most:
        raise ValueError(f"{key} is a whole number from 0 to {most}, not {value}")
    return value
