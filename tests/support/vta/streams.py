"""Building streams: tokens that put instructions in order, loops over tiles, machines to run on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyopencl as cl

from clopt.backends.pyopencl_runtime import find_device
from clopt.backends.pyopencl_runtime.cache import BinaryCache
from clopt.backends.pyopencl_runtime.vta import DramRegion, VTADevice
from clopt.backends.vta.core import CoreForm
from clopt.backends.vta.event_simulator import run_stages
from clopt.backends.vta.implementation import Implementation
from clopt.backends.vta.simulator import Dram, Simulator, make_dram
from clopt.dialects.vta.config import Config
from clopt.dialects.vta.encoding import encode, encode_uops
from clopt.dialects.vta.isa import (
    Alu,
    AluOpcode,
    Finish,
    Instruction,
    Load,
    Memory,
    Stage,
    Store,
    Uop,
    nop,
    stage_of,
)

_ORDER = tuple(Stage)


def serial(instructions: Iterable[Instruction]) -> list[Instruction]:
    """The instructions and FINISH, with tokens that let each start after the one before it."""
    done: list[Instruction] = []
    for instruction in (*instructions, Finish()):
        if done and abs(_place(done[-1]) - _place(instruction)) == 2:
            _follow(done, nop(Stage.COMPUTE))
        if done and isinstance(instruction, Finish) and _place(done[-1]) != _place(instruction):
            _follow(done, nop(Stage.COMPUTE))  # FINISH carries no tokens
        _follow(done, instruction)
    return done


def _follow(done: list[Instruction], instruction: Instruction) -> None:
    if done:
        way = _place(instruction) - _place(done[-1])
        push, pop = {
            0: ({}, {}),
            1: ({"push_next": True}, {"pop_prev": True}),
            -1: ({"push_prev": True}, {"pop_next": True}),
        }[way]
        done[-1] = replace(done[-1], **push)
        instruction = replace(instruction, **pop)
    done.append(instruction)


def _place(instruction: Instruction) -> int:
    return _ORDER.index(stage_of(instruction))


def load(memory: Memory, count: int, **fields: int) -> Load:
    """Load `count` elements that lie one behind the other."""
    return Load(memory=memory, **({"x_size": count, "x_stride": count} | fields))


def store(count: int, **fields: int) -> Store:
    """Store `count` elements one behind the other."""
    return Store(**({"x_size": count, "x_stride": count} | fields))


def each(opcode: AluOpcode, count: int, imm: int | None = None, **fields: int) -> Alu:
    """One function of `count` elements, by the micro-op 0: of dst and `imm`, or of dst and src."""
    loop = {"uop_end": 1, "iter_out": count, "dst_factor_out": 1, "src_factor_out": 1}
    return Alu(opcode=opcode, use_imm=imm is not None, imm=imm or 0, **(loop | fields))


@dataclass(frozen=True)
class Case:
    """A stream, its memories, and what OUT has to have at the end.

    Memories that are one array share a buffer.
    """

    instructions: Sequence[Instruction]
    uops: Sequence[Uop]
    memories: Mapping[Memory, np.ndarray]
    expected: np.ndarray

    def dram(self, config: Config) -> Dram:
        """The memories before the stream runs; OUT has a value that no test stores everywhere."""
        out = np.full_like(self.expected, 99, np.int8)
        uops = encode_uops(self.uops, config)
        copies = {id(array): array.copy() for array in self.memories.values()}
        given = {memory: copies[id(array)] for memory, array in self.memories.items()}
        return make_dram(config, {Memory.UOP: uops, Memory.OUT: out} | given)

    def check(self, out: np.ndarray, name: str = "") -> None:
        """Compare what was stored."""
        np.testing.assert_array_equal(out.reshape(self.expected.shape), self.expected, name)


def simulate(case: Case, config: Config) -> np.ndarray:
    """What the numpy simulator stores."""
    dram = case.dram(config)
    Simulator(config).run(case.instructions, dram)
    return dram[Memory.OUT]


def simulate_stages(case: Case, config: Config, seed: int) -> np.ndarray:
    """What the event simulator stores."""
    dram = case.dram(config)
    run_stages(case.instructions, Simulator(config), dram, seed)
    return dram[Memory.OUT]


@dataclass
class Machine:
    """An accelerator with a queue."""

    accelerator: VTADevice
    queue: cl.CommandQueue

    def run(self, case: Case) -> np.ndarray:
        """What the core stores."""
        config = self.accelerator.config
        dram = case.dram(config)
        stream = self.accelerator.load([encode(case.instructions, config)], dram[Memory.UOP])
        places = {array.ctypes.data: self.region(array) for array in dram.values() if array.size}
        regions = {
            memory: places[array.ctypes.data] for memory, array in dram.items() if array.size
        }
        self.accelerator.bind(stream, regions).enqueue(self.queue)
        return self.read(regions[Memory.OUT], dram[Memory.OUT])

    def region(self, array: np.ndarray) -> DramRegion:
        """A buffer with the content of an array."""
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        return DramRegion(cl.Buffer(self.queue.context, flags, hostbuf=np.ascontiguousarray(array)))

    def read(self, region: DramRegion, like: np.ndarray) -> np.ndarray:
        """The content of a buffer, when all that was enqueued is done."""
        found = np.empty_like(like)
        cl.enqueue_copy(self.queue, found, region.buffer, src_offset=region.offset)
        return found


@cache
def machine(device: str, config: Config, form: CoreForm, **fields: int) -> Machine:
    """Our core on a device, built once."""
    found = find_device(device)
    context = cl.Context([found.handle])
    implementation = Implementation(config=config, form=form, **fields)
    kernels = BinaryCache(Path(_FOLDER.name))
    return Machine(VTADevice(context, found, implementation, kernels), cl.CommandQueue(context))


_FOLDER = TemporaryDirectory()
