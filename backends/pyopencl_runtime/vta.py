"""Runs VTA instruction streams on a device, with our core or with another program binary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyopencl as cl

from ...dialects.vta.arguments import MEMORIES
from ...dialects.vta.config import Config
from ...dialects.vta.encoding import UopWords, Words, decode, decode_uops
from ...dialects.vta.isa import Memory
from ...dialects.vta.stream_check import check_stream
from ...errors import CloptError
from ...files.reading import read_file
from ..vta.core import CoreForm, build_options, core_source, schedule_core, scratch_bytes
from ..vta.implementation import Implementation
from ..vta.streams import dram_extents, split_launches
from .build import device_facts, keeps_own_binaries
from .cache import BinaryCache
from .compiler import binary_of, from_binary, from_source, given_program, kernel_of_binary
from .devices import Device

_ALIGNMENT = 16
"""Alignment in bytes of a memory in its buffer: the core moves 16 bytes at a time."""

_GPU_LANES = 512


@dataclass(frozen=True)
class DramRegion:
    """A memory of the VTA in DRAM: the bytes of a buffer from `offset` on."""

    buffer: cl.Buffer
    offset: int = 0


@dataclass(frozen=True)
class LoadedStream:
    """A stream on the device, which can be bound to memories any number of times."""

    buffers: Mapping[str, cl.Buffer]
    instruction_count: int
    launches: int
    extents: Mapping[Memory, int]
    """The bytes of each memory that the stream reaches."""


class VTADevice:
    """The VTA of one device: its program, and the scratchpads that all its streams share."""

    def __init__(
        self,
        context: cl.Context,
        device: Device,
        implementation: Implementation,
        cache: BinaryCache | None = None,
    ) -> None:
        """Build the core, or load the program binary.

        Raises CloptError if the binary is missing, if the device rejects it, or if its kernel does
        not have the parameters that the implementation names.
        """
        self.implementation = implementation
        self._context = context
        self._program = _program(context, device, implementation, cache or BinaryCache(None))
        self._check_parameters()
        size = scratch_bytes(self.config, implementation.form)
        zeros = np.zeros(size * implementation.cores, np.uint8)
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        self._scratch = cl.Buffer(context, flags, hostbuf=zeros)
        self._unused = cl.Buffer(context, cl.mem_flags.READ_WRITE, _ALIGNMENT)

    @property
    def config(self) -> Config:
        """The configuration for which streams must be made."""
        return self.implementation.config

    def load(self, streams: Sequence[Words], micro_ops: UopWords) -> LoadedStream:
        """Copy streams to the device, one for each core; they share the memory `micro_ops`.

        All scratchpads keep their contents between streams, but a stream must load the micro-ops
        that it runs. Raises VTAStreamError for a malformed stream.
        """
        cores, form = self.implementation.cores, self.implementation.form
        if len(streams) != cores:
            raise CloptError(f"This VTA has {cores} cores, but {len(streams)} streams were given.")
        decoded = [decode(words, self.config) for words in streams]
        extents = dram_extents([i for instructions in decoded for i in instructions], self.config)
        sizes = {m: size // self.config.element_bytes(m) for m, size in extents.items()}
        uops = decode_uops(micro_ops, self.config)
        for instructions in decoded:  # `bind` compares the sizes with those of buffers
            check_stream(instructions, uops, self.config, sizes)
        self._check_memories(extents)
        counts = [len(instructions) for instructions in decoded]
        ranges = split_launches(counts, self.implementation.instructions_per_launch)
        schedules = [schedule_core(core, micro_ops, self.config, form) for core in decoded]
        arrays: dict[str, np.ndarray[Any, Any]] = {
            "instructions": np.concatenate(streams),
            "schedule": np.concatenate(schedules),
            "ranges": ranges,
            "uop": micro_ops,
        }
        buffers = {name: self._constant(array) for name, array in arrays.items() if array.size}
        return LoadedStream(buffers, sum(counts), len(ranges), extents)

    def bind(self, stream: LoadedStream, memories: Mapping[Memory, DramRegion]) -> BoundStream:
        """Return the stream bound to memories in DRAM; its micro-ops are already on the device.

        Raises CloptError for a memory that is missing, too small or misaligned.
        """
        for memory, size in stream.extents.items():
            if memory is not Memory.UOP:
                self._check_region(memory, memories.get(memory), size)
        values: dict[str, Any] = {
            **stream.buffers,
            "scratch": self._scratch,
            "launch": np.uint32(0),
            "instruction_count": np.uint32(stream.instruction_count),
            "first_instruction": np.uint32(0),
            "uop_at": np.uint64(0),
        }
        for name, memory in MEMORIES.items():
            region = memories.get(memory, DramRegion(self._unused))
            values.setdefault(name, region.buffer)
            values.setdefault(f"{name}_at", np.uint64(region.offset))
        kernel = cl.Kernel(self._program, self.implementation.kernel)
        kernel.set_args(*(values[name] for name in self.implementation.arguments))
        kept = tuple(value for value in values.values() if isinstance(value, cl.Buffer))
        return BoundStream(kernel, self.implementation, stream.launches, kept)

    def _check_parameters(self) -> None:
        implementation = self.implementation
        kernel_of_binary(self._program, implementation.kernel, len(implementation.arguments))

    def _check_memories(self, extents: Mapping[Memory, int]) -> None:
        for name, memory in MEMORIES.items():
            if memory in extents and name not in self.implementation.arguments:
                raise CloptError(
                    f"The stream accesses the memory {memory.name}, but the kernel "
                    f"{self.implementation.kernel} has no parameter {name}."
                )

    def _check_region(self, memory: Memory, region: DramRegion | None, size: int) -> None:
        if region is None:
            raise CloptError(f"The stream accesses the memory {memory.name}, which has no buffer.")
        if region.offset and not self.implementation.moves_memories:
            raise CloptError(
                f"The kernel {self.implementation.kernel} expects memories at the start of a "
                f"buffer, but {memory.name} starts at byte {region.offset}."
            )
        if region.offset % _ALIGNMENT:
            raise CloptError(
                f"The memory {memory.name} starts at byte {region.offset} of its buffer, which is "
                f"not a multiple of {_ALIGNMENT}."
            )
        if region.offset + size > region.buffer.size:
            raise CloptError(
                f"The stream reaches {size} bytes of the memory {memory.name}, but its buffer has "
                f"{region.buffer.size - region.offset}."
            )

    def _constant(self, array: np.ndarray[Any, Any]) -> cl.Buffer:
        flags = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
        return cl.Buffer(self._context, flags, hostbuf=np.ascontiguousarray(array))


@dataclass(frozen=True)
class BoundStream:
    """A stream with all its arguments, which can be enqueued any number of times."""

    kernel: cl.Kernel
    implementation: Implementation
    launches: int
    kept: tuple[cl.Buffer, ...]
    """Buffers that must live as long as the kernel."""

    def enqueue(
        self, queue: cl.CommandQueue, wait_for: Sequence[cl.Event] | None = None
    ) -> cl.Event:
        """Enqueue the launches and return the event of the last.

        The queue must be in-order. Nothing waits on the host, so streams may follow each other on
        it.
        """
        lanes = self.implementation.form.lanes
        global_size = (lanes * self.implementation.cores,)
        event = self._enqueue(queue, 0, global_size, lanes, wait_for)
        for launch in range(1, self.launches):
            event = self._enqueue(queue, launch, global_size, lanes, None)
        return event

    def _enqueue(
        self,
        queue: cl.CommandQueue,
        launch: int,
        global_size: tuple[int],
        lanes: int,
        wait_for: Sequence[cl.Event] | None,
    ) -> cl.Event:
        if self.launches > 1:
            self.kernel.set_arg(self.implementation.arguments.index("launch"), np.uint32(launch))
        return cl.enqueue_nd_range_kernel(
            queue, self.kernel, global_size, (lanes,), wait_for=wait_for
        )


def form_for(device: Device) -> CoreForm:
    """Return the fast form of our core for a device.

    On CPUs one work-item processes vectors of channels, because barriers are expensive there. Other
    devices get one work-item per channel.
    """
    if device.kind == "cpu":
        return CoreForm(lanes=1, vector=16)
    most = min(_GPU_LANES, device.handle.max_work_group_size)
    return CoreForm(lanes=1 << most.bit_length() - 1, vector=1)


def _program(
    context: cl.Context, device: Device, implementation: Implementation, cache: BinaryCache
) -> cl.Program:
    path = implementation.program
    if path is None:
        return _build_core(context, device, implementation, cache)
    try:
        binary = read_file(path)
    except OSError as error:
        raise CloptError(f"{path}: cannot read the VTA program: {error.strerror}.") from error
    return given_program(context, device, binary, f"the program {path}")


def _build_core(
    context: cl.Context, device: Device, implementation: Implementation, cache: BinaryCache
) -> cl.Program:
    source = core_source()
    options = " ".join(build_options(implementation.config, implementation.form))
    if keeps_own_binaries(device):
        return from_source(context, device, source, options)
    facts = (*device_facts(device), options, source)
    binary = cache.get(facts)
    program = None if binary is None else from_binary(context, device, binary, options)
    if program is None:
        program = from_source(context, device, source, options)
        cache.put(facts, binary_of(program, device))
    return program
