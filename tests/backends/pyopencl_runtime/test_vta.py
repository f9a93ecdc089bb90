"""The accelerator on a device: state, launches, cores, buffers, other programs, and refusals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

from clopt.backends.pyopencl_runtime import find_device
from clopt.backends.pyopencl_runtime.vta import DramRegion, VTADevice, form_for
from clopt.backends.vta.core import CoreForm
from clopt.backends.vta.implementation import Implementation
from clopt.dialects.vta.config import BLOCK_16, Config
from clopt.dialects.vta.encoding import VTAStreamError, Words, encode, encode_uops
from clopt.dialects.vta.isa import AluOpcode, Instruction, Memory
from clopt.errors import CloptError
from support.vta.cases import ZERO, sums
from support.vta.products import ROWS, gemm
from support.vta.streams import Machine, each, load, machine, serial, store

VECTORS = CoreForm(lanes=1, vector=16)
SHAPE = BLOCK_16.element_shape(Memory.OUT)
UOPS = encode_uops(ZERO, BLOCK_16)


def words(*instructions: Instruction) -> Words:
    return encode(serial(instructions), BLOCK_16)


def random_sums(count: int) -> np.ndarray:
    return sums(BLOCK_16, np.random.default_rng(5), -100, 100, count)


def test_scratchpads_keep_their_content_between_streams(device: str):
    """One stream loads, the next computes; nothing waits on the host in between."""
    vta = machine(device, BLOCK_16, VECTORS)
    values, out = random_sums(6), np.zeros((6, *SHAPE), np.int8)
    regions = {Memory.ACC: vta.region(values), Memory.OUT: vta.region(out)}
    for stream in (
        words(load(Memory.UOP, 1), load(Memory.ACC, 6)),
        words(load(Memory.UOP, 1), each(AluOpcode.ADD, 6, 1)),
        words(load(Memory.UOP, 1), each(AluOpcode.ADD, 6, 1), store(6)),
    ):
        vta.accelerator.bind(vta.accelerator.load([stream], UOPS), regions).enqueue(vta.queue)
    np.testing.assert_array_equal(vta.read(regions[Memory.OUT], out), values + 2)


def test_streams_of_layers_share_one_arena(device: str):
    """The second stream loads what the first stores, a few bytes into the same buffer."""
    vta = machine(device, BLOCK_16, VECTORS)
    values, arena = random_sums(4), np.full((12, *SHAPE), 99, np.int8)
    buffer = vta.region(arena).buffer
    size = BLOCK_16.element_bytes(Memory.OUT)
    here, there = DramRegion(buffer, 3 * size), DramRegion(buffer, 7 * size)
    first = words(load(Memory.UOP, 1), load(Memory.ACC, 4), each(AluOpcode.ADD, 4, 3), store(4))
    second = words(
        load(Memory.UOP, 1), load(Memory.ACC_8BIT, 4), each(AluOpcode.SHR, 4, -1), store(4)
    )
    bound = [
        vta.accelerator.bind(vta.accelerator.load([stream], UOPS), memories)
        for stream, memories in (
            (first, {Memory.ACC: vta.region(values), Memory.OUT: here}),
            (second, {Memory.ACC_8BIT: here, Memory.OUT: there}),
        )
    ]
    for stream in bound:
        stream.enqueue(vta.queue)
    arena[3:7], arena[7:11] = values + 3, ((values + 3) * 2).astype(np.int8)
    np.testing.assert_array_equal(vta.read(DramRegion(buffer), arena), arena)


def test_a_stream_of_several_launches(device: str):
    vta = machine(device, BLOCK_16, VECTORS, instructions_per_launch=3)
    case = gemm(BLOCK_16, np.random.default_rng(6))
    assert vta.accelerator.load([encode(case.instructions, BLOCK_16)], UOPS_OF_GEMM).launches == 4
    case.check(vta.run(case))


UOPS_OF_GEMM = encode_uops(gemm(BLOCK_16, np.random.default_rng(0)).uops, BLOCK_16)


def test_cores_have_streams_and_scratchpads_of_their_own(device: str):
    """Each core computes half of the rows, at the same places of its scratchpads."""
    vta = machine(device, BLOCK_16, VECTORS, cores=2)
    case = gemm(BLOCK_16, np.random.default_rng(7))
    dram = case.dram(BLOCK_16)
    streams = [encode(half_of_rows(case.instructions, core), BLOCK_16) for core in range(2)]
    regions = {memory: vta.region(array) for memory, array in dram.items() if array.size}
    stream = vta.accelerator.load(streams, dram[Memory.UOP])
    vta.accelerator.bind(stream, regions).enqueue(vta.queue)
    case.check(vta.read(regions[Memory.OUT], dram[Memory.OUT]))


def half_of_rows(instructions: Any, core: int) -> list[Instruction]:
    """The stream of the case `gemm` for two of its four rows; clips and resets do all four."""
    half = []
    for one in instructions:
        if getattr(one, "memory", None) is Memory.INP:
            one = replace(one, x_size=one.x_size // 2, dram_base=core * one.x_size // 2)
        elif getattr(one, "memory", None) is Memory.OUT:
            one = replace(one, x_size=one.x_size // 2, dram_base=core * one.x_size // 2)
        elif getattr(one, "iter_out", 0) == ROWS:
            one = replace(one, iter_out=ROWS // 2)
        half.append(one)
    return half


SMALL = Config(log_uop_buffer=9, log_inp_buffer=10, log_wgt_buffer=14, log_acc_buffer=11)


@pytest.mark.by_default(cases=1)
def test_scratchpads_in_local_memory():
    """On one runtime: PoCL takes ten seconds to compile it."""
    vta = machine(
        "0", SMALL, CoreForm(lanes=16, vector=1, local_scratchpads=True),
        instructions_per_launch=4,
    )  # fmt: skip
    case = gemm(SMALL, np.random.default_rng(8))
    case.check(vta.run(case))


BOARD = """
__kernel void board(const uint count, __global char *out, __global const char *instructions) {
    for (uint n = 0; n < 16 * count; ++n) out[n] = instructions[n];
}
"""


def test_a_program_binary_stands_in_for_the_core(device: str, tmp_path: Path):
    """A board that stores its stream; its kernel has parameters of its own."""
    found = find_device(device)
    context = cl.Context([found.handle])
    (tmp_path / "board.bin").write_bytes(cl.Program(context, BOARD).build().binaries[0])
    arguments = ("instruction_count", "out", "instructions")
    path = tmp_path / "board.bin"
    described = Implementation(program=path, kernel="board", arguments=arguments)
    board = VTADevice(context, found, described)
    stream = words(store(2))
    vta = Machine(board, cl.CommandQueue(context))
    out = vta.region(np.zeros(stream.nbytes, np.int8))
    board.bind(board.load([stream], UOPS), {Memory.OUT: out}).enqueue(vta.queue)
    stored = vta.read(out, np.zeros(stream.nbytes, np.uint8))
    np.testing.assert_array_equal(stored.view(np.uint64), stream.reshape(-1))
    with pytest.raises(CloptError, match="starts at byte 16"):
        board.bind(board.load([stream], UOPS), {Memory.OUT: DramRegion(out.buffer, 16)})
    with pytest.raises(CloptError, match="the kernel board has no parameter wgt"):
        board.load([words(load(Memory.WGT, 1))], UOPS)
    with pytest.raises(CloptError, match='no kernel "vta_core"'):
        VTADevice(context, found, replace(board.implementation, kernel="vta_core"))
    short = replace(board.implementation, arguments=("instructions", "out"))
    with pytest.raises(CloptError, match="has 3 parameters, but its target names 2"):
        VTADevice(context, found, short)


def test_a_program_that_cannot_be_used(device: str, tmp_path: Path):
    found = find_device(device)
    context = cl.Context([found.handle])
    with pytest.raises(CloptError, match="cannot read the VTA program: No such file"):
        VTADevice(context, found, Implementation(program=tmp_path / "none.aocx"))
    (tmp_path / "bad.aocx").write_bytes(b"no program")
    with pytest.raises(CloptError, match="rejects the program"):
        VTADevice(context, found, Implementation(program=tmp_path / "bad.aocx"))


def bind(vta: Machine, memories: Callable[[cl.Buffer], dict[Memory, DramRegion]]) -> None:
    stream = vta.accelerator.load([words(load(Memory.UOP, 1), store(4))], UOPS)
    vta.accelerator.bind(stream, memories(vta.region(np.zeros(64, np.int8)).buffer))


@pytest.mark.parametrize(
    ("memories", "sentence"),
    [
        (lambda buffer: {}, "accesses the memory OUT, which has no buffer"),
        (lambda buffer: {Memory.OUT: DramRegion(buffer, 8)}, "not a multiple of 16"),
        (lambda buffer: {Memory.OUT: DramRegion(buffer, 16)}, "reaches 64 bytes of the memory OUT"),
    ],
)
def test_memories_that_do_not_fit_are_refused(memories: Any, sentence: str):
    with pytest.raises(CloptError, match=sentence):
        bind(machine("0", BLOCK_16, VECTORS), memories)


def test_streams_that_do_not_fit_are_refused():
    accelerator = machine("0", BLOCK_16, VECTORS).accelerator
    with pytest.raises(CloptError, match="has 1 cores, but 2 streams were given"):
        accelerator.load([words(), words()], UOPS)
    with pytest.raises(VTAStreamError, match="reaches element 1 of UOP in DRAM, of 1"):
        accelerator.load([words(load(Memory.UOP, 2))], UOPS)
    unknown = words(load(Memory.UOP, 1))
    unknown[0, 0] |= np.uint64(7)
    with pytest.raises(VTAStreamError, match="Instruction 0 has the unknown opcode 7"):
        accelerator.load([unknown], UOPS)


def test_form_for_a_processor(device: str):
    assert form_for(find_device(device)) == VECTORS
