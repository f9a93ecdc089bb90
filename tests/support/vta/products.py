"""Small streams with matrix products; they join the table of `cases`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from clopt.dialects.vta.config import Config
from clopt.dialects.vta.isa import (
    AluOpcode,
    Finish,
    Gemm,
    Instruction,
    Load,
    Memory,
    Stage,
    Uop,
    nop,
)
from support.vta.cases import COPY, ZERO, Generator, bytes_of, case, on_sums, sums, wrapped
from support.vta.streams import Case, each, load, serial, store


@case
def last_elements(config: Config, rng: Generator) -> Case:
    """The last element of every scratchpad, of micro-ops and factors."""
    last = {memory: config.depth(memory) - 1 for memory in Memory}
    inp, wgt = operands(config, rng, 1, 1)
    uops = (Uop(), Uop(last[Memory.ACC], last[Memory.INP], last[Memory.WGT]))
    at_end = {"uop_bgn": 1, "uop_end": 2}
    instructions = (
        load(Memory.UOP, 2), load(Memory.INP, 1, sram_base=last[Memory.INP]),
        load(Memory.WGT, 1, sram_base=last[Memory.WGT]), Gemm(reset=True, **at_end),
        Gemm(**at_end), each(AluOpcode.SHR, 1, 6, **at_end),
        store(1, sram_base=last[Memory.ACC]),
    )  # fmt: skip
    expected = bytes_of(product(inp[0], wgt[0]) >> 6)[None]
    return Case(serial(instructions), uops, {Memory.INP: inp, Memory.WGT: wgt}, expected)


def operands(config: Config, rng: Generator, inputs: int, weights: int) -> Iterator[np.ndarray]:
    """Random elements of INP and WGT, over the whole range of int8."""
    for count, memory in ((inputs, Memory.INP), (weights, Memory.WGT)):
        shape = (count, *config.element_shape(memory))
        yield rng.integers(-128, 128, shape).astype(np.int8)


def product(inp: np.ndarray, wgt: np.ndarray) -> np.ndarray:
    """An element of INP times one of WGT."""
    return inp.astype(np.int64) @ wgt.astype(np.int64).T


ROWS, COLUMNS, DEPTH = 4, 4, 16


def matrix_product(inp: np.ndarray, wgt: np.ndarray) -> np.ndarray:
    """[rows, depth] times [columns, depth], all of elements, shifted and clipped."""
    inp = inp.reshape(ROWS, DEPTH, *inp.shape[1:]).astype(np.int64)
    wgt = wgt.reshape(COLUMNS, DEPTH, *wgt.shape[1:]).astype(np.int64)
    result = np.einsum("rkbi,ckoi->rcbo", inp, wgt) >> 8
    return np.clip(result, 0, 127).astype(np.int8).reshape(-1, *result.shape[2:])


GEMM_UOPS = (Uop(), *(Uop(c, k, c * DEPTH + k) for c in range(COLUMNS) for k in range(DEPTH)))


def clip(count: int, **fields: int) -> list[Instruction]:
    return [
        each(AluOpcode.SHR, count, 8, **fields),
        each(AluOpcode.MAX, count, 0, **fields),
        each(AluOpcode.MIN, count, 127, **fields),
    ]


@case
def gemm(config: Config, rng: Generator) -> Case:
    inp, wgt = operands(config, rng, ROWS * DEPTH, COLUMNS * DEPTH)
    count = ROWS * COLUMNS
    multiply = Gemm(
        uop_bgn=1, uop_end=len(GEMM_UOPS), iter_out=ROWS, dst_factor_out=COLUMNS,
        src_factor_out=DEPTH,
    )  # fmt: skip
    instructions = (
        load(Memory.UOP, len(GEMM_UOPS)), load(Memory.INP, len(inp)), load(Memory.WGT, len(wgt)),
        Gemm(reset=True, uop_end=1, iter_out=count, dst_factor_out=1),
        multiply, *clip(count), store(count),
    )  # fmt: skip
    memories = {Memory.INP: inp, Memory.WGT: wgt}
    return Case(serial(instructions), GEMM_UOPS, memories, matrix_product(inp, wgt))


@case
def gemm_with_loops(config: Config, rng: Generator) -> Case:
    """The same product: columns and depth are loops, the rows micro-ops; each dst comes often."""
    inp, wgt = operands(config, rng, ROWS * DEPTH, COLUMNS * DEPTH)
    uops = (Uop(), *(Uop(row * COLUMNS, row * DEPTH, 0) for row in range(ROWS)))
    count = ROWS * COLUMNS
    multiply = Gemm(
        uop_bgn=1, uop_end=len(uops), iter_out=DEPTH, iter_in=COLUMNS, dst_factor_in=1,
        src_factor_out=1, wgt_factor_out=1, wgt_factor_in=DEPTH,
    )  # fmt: skip
    instructions = (
        load(Memory.UOP, len(uops)), load(Memory.WGT, len(wgt)), load(Memory.INP, len(inp)),
        Gemm(reset=True, uop_end=1, iter_out=count, dst_factor_out=1),
        multiply, *clip(count), store(count),
    )  # fmt: skip
    memories = {Memory.INP: inp, Memory.WGT: wgt}
    return Case(serial(instructions), uops, memories, matrix_product(inp, wgt))


@case
def gemm_of_virtual_threads(config: Config, rng: Generator) -> Case:
    """Two halves of each scratchpad; the loads of one row overlap the product of the row before."""
    inp, wgt = operands(config, rng, ROWS * DEPTH, COLUMNS * DEPTH)
    far = config.depth(Memory.INP) // 2  # the half of the second thread
    uops = (*GEMM_UOPS, *(Uop(u.dst + 64, u.src + far, u.wgt) for u in GEMM_UOPS))
    instructions = [load(Memory.UOP, len(uops)), load(Memory.WGT, len(wgt))]
    for row in range(ROWS):
        thread, first, last = row % 2, row < 2, row >= ROWS - 2
        skip = thread * len(GEMM_UOPS)
        at = {"uop_bgn": skip, "uop_end": skip + 1}
        *shift, high = clip(COLUMNS, **at)
        instructions += [
            load(Memory.INP, DEPTH, dram_base=row * DEPTH, sram_base=thread * far,
                 pop_next=not first, push_next=True),
            Gemm(reset=True, iter_out=COLUMNS, dst_factor_out=1, pop_next=not first, **at),
            Gemm(uop_bgn=skip + 1, uop_end=skip + len(GEMM_UOPS), pop_prev=True,
                 push_prev=not last),
            *shift, replace(high, push_next=True),
            store(COLUMNS, dram_base=row * COLUMNS, sram_base=thread * 64, pop_prev=True,
                  push_prev=True),
        ]  # fmt: skip
    instructions += [replace(nop(Stage.COMPUTE), pop_next=True)] * 2
    memories = {Memory.INP: inp, Memory.WGT: wgt}
    return Case([*instructions, Finish()], uops, memories, matrix_product(inp, wgt))


@case
def strided_load_of_weights(config: Config, rng: Generator) -> Case:
    """Two rows of three tiles of weights, five apart."""
    inp, wgt = operands(config, rng, 1, 10)
    chosen = [0, 1, 2, 5, 6, 7]
    loop = {"uop_bgn": 1, "uop_end": 2, "iter_out": 6, "dst_factor_out": 1}
    instructions = (
        load(Memory.UOP, 2), load(Memory.INP, 1),
        Load(memory=Memory.WGT, sram_base=3, y_size=2, x_size=3, x_stride=5),
        Gemm(reset=True, **loop), Gemm(wgt_factor_out=1, **loop),
        each(AluOpcode.SHR, 6, 7), store(6),
    )  # fmt: skip
    expected = bytes_of(np.stack([product(inp[0], wgt[n]) for n in chosen]) >> 7)
    memories = {Memory.INP: inp, Memory.WGT: wgt}
    return Case(serial(instructions), (Uop(), Uop(0, 0, 3)), memories, expected)


@case
def ragged_channels(config: Config, rng: Generator) -> Case:
    """Three channels fewer than two blocks: zeros in weights and inputs stand for those."""
    inp, wgt = operands(config, rng, 2, 2)
    inp[1, :, -3:], wgt[1, :, -3:] = 77, 0
    loop = {"uop_end": 1}
    instructions = (
        load(Memory.UOP, 1), load(Memory.INP, 2), load(Memory.WGT, 2), Gemm(reset=True, **loop),
        Gemm(iter_in=2, src_factor_in=1, wgt_factor_in=1, **loop), each(AluOpcode.SHR, 1, 8),
        store(1),
    )  # fmt: skip
    channels = 2 * config.block_in - 3
    rows = np.concatenate([inp[0], inp[1]], axis=1)[:, :channels]
    weights = np.concatenate([wgt[0], wgt[1]], axis=1)[:, :channels]
    expected = bytes_of(product(rows, weights) >> 8)[None]
    return Case(serial(instructions), ZERO, {Memory.INP: inp, Memory.WGT: wgt}, expected)


@case
def sums_that_wrap(config: Config, rng: Generator) -> Case:
    """An accumulator close to 2^31 goes on from the other end."""
    inp, wgt = (
        np.full((1, *config.element_shape(memory)), -128, np.int8)
        for memory in (Memory.INP, Memory.WGT)
    )
    start = sums(config, rng, 2**31 - 5, 2**31 - 1, 2)
    loop = {"uop_end": 1, "iter_out": 2, "dst_factor_out": 1}
    instructions = (
        load(Memory.UOP, 1), load(Memory.ACC, 2), load(Memory.INP, 1), load(Memory.WGT, 1),
        Gemm(**loop), store(2), each(AluOpcode.SHR, 2, 15), each(AluOpcode.SHR, 2, 9),
        store(2, dram_base=2),
    )  # fmt: skip
    total = wrapped(start.astype(np.int64) + 128 * 128 * config.block_in)
    expected = np.concatenate([bytes_of(total), bytes_of(total >> 24)])
    memories = {Memory.INP: inp, Memory.WGT: wgt, Memory.ACC: start}
    return Case(serial(instructions), ZERO, memories, expected)


@case
def reset_alone(config: Config, rng: Generator) -> Case:
    """A reset zeroes OUT, too."""
    values = sums(config, rng, 1, 9, 3)
    reset = Gemm(reset=True, uop_end=1, iter_out=2, dst_factor_out=1)
    expected = values * np.array([0, 0, 1]).reshape(3, 1, 1)
    return on_sums(values, expected, each(COPY, 3, 0), reset)


@case
def long_sums(config: Config, rng: Generator) -> Case:
    """70 products of the largest numbers for each of 9 elements: partial sums are beyond 2^24."""
    inp, wgt = (
        np.full((1, *config.element_shape(memory)), -128, np.int8)
        for memory in (Memory.INP, Memory.WGT)
    )
    inp = np.concatenate([inp] * 9) + np.arange(9, dtype=np.int8).reshape(9, 1, 1)
    uops = (Uop(),) * 70
    loop = {"iter_in": 9, "dst_factor_in": 1}
    instructions = (
        load(Memory.UOP, 70), load(Memory.INP, 9), load(Memory.WGT, 1),
        Gemm(reset=True, uop_end=1, **loop), Gemm(uop_end=70, src_factor_in=1, **loop),
        store(9), each(AluOpcode.SHR, 9, 11), store(9, dram_base=9),
    )  # fmt: skip
    total = 70 * np.stack([product(one, wgt[0]) for one in inp])
    expected = np.concatenate([bytes_of(total), bytes_of(total >> 11)])
    return Case(serial(instructions), uops, {Memory.INP: inp, Memory.WGT: wgt}, expected)
