"""Small streams for everything that instructions do, each with its result computed by numpy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from clopt.dialects.vta.config import Config
from clopt.dialects.vta.isa import (
    AluOpcode,
    Gemm,
    Instruction,
    Load,
    Memory,
    Stage,
    Store,
    Uop,
    nop,
)
from support.vta.streams import Case, each, load, serial, store

Generator = np.random.Generator
Builder: TypeAlias = Callable[[Config, Generator], Case]

ZERO = (Uop(),)
COPY = AluOpcode.SHR  # by 0

CASES: dict[str, Builder] = {}


def case(build: Builder) -> Builder:
    """Put a case into the table."""
    CASES[build.__name__] = build
    return build


def cases(name: str, rows: Sequence[tuple[object, ...]]) -> Callable[[Callable[..., Case]], None]:
    """Put a case for each row of arguments into the table."""

    def add(build: Callable[..., Case]) -> None:
        for row in rows:
            words = [getattr(item, "name", str(item)) for item in row]
            CASES[f"{name} {' '.join(words)}"] = lambda config, rng, row=row: build(
                config, rng, row
            )

    return add


def wrapped(values: np.ndarray) -> np.ndarray:
    """The low 32 bits of integers, signed."""
    return values.astype(np.int64).astype(np.uint64).astype(np.uint32).astype(np.int32)


def bytes_of(values: np.ndarray) -> np.ndarray:
    """The low 8 bits, signed."""
    return wrapped(values).astype(np.int8)


def sums(config: Config, rng: Generator, low: int, high: int, count: int) -> np.ndarray:
    """Random elements of ACC, from `low` to `high`."""
    shape = (count, *config.element_shape(Memory.ACC))
    return rng.integers(low, high + 1, shape).astype(np.int32)


def on_sums(
    values: np.ndarray, expected: np.ndarray, *work: Instruction, uops: Sequence[Uop] = ZERO
) -> Case:
    """Load ACC, work, store as many elements as are expected."""
    instructions = (
        load(Memory.UOP, len(uops)),
        load(Memory.ACC, len(values)),
        *work,
        store(len(expected)),
    )
    return Case(serial(instructions), uops, {Memory.ACC: values}, bytes_of(expected))


@case
def save_load_out(config: Config, rng: Generator) -> Case:
    values = sums(config, rng, 1, 9, 36)
    return on_sums(values, values, each(COPY, 36, 0))


# y_pad_0, y_pad_1, x_pad_0, x_pad_1
PADS = ((2, 0, 0, 0), (0, 2, 0, 0), (0, 0, 2, 0), (0, 0, 0, 2), (1, 1, 1, 1), (0, 3, 2, 1))


def padded(values: np.ndarray, pads: Sequence[int]) -> np.ndarray:
    """Elements of a 3 x 5 rectangle with zeros around it."""
    around = [(pads[0], pads[1]), (pads[2], pads[3]), (0, 0), (0, 0)]
    grown = np.pad(values.reshape(3, 5, *values.shape[1:]), around)
    return grown.reshape(-1, *values.shape[1:])


def padded_load_of(memory: Memory, pads: Sequence[int]) -> Load:
    y_pad_0, y_pad_1, x_pad_0, x_pad_1 = pads
    return Load(
        memory=memory, y_size=3, x_size=5, x_stride=5,
        y_pad_0=y_pad_0, y_pad_1=y_pad_1, x_pad_0=x_pad_0, x_pad_1=x_pad_1,
    )  # fmt: skip


@cases("padded_load", PADS)
def padded_load(config: Config, rng: Generator, pads: Sequence[int]) -> Case:
    values = sums(config, rng, 1, 9, 15)
    expected = padded(values, pads)
    count = len(expected)
    fill = load(Memory.ACC, count, dram_base=15)  # zeros have to overwrite something
    instructions = (
        load(Memory.UOP, 1), fill, padded_load_of(Memory.ACC, pads), each(COPY, count, 0),
        store(count),
    )  # fmt: skip
    memory = np.concatenate([values, sums(config, rng, 50, 60, count)])
    return Case(serial(instructions), ZERO, {Memory.ACC: memory}, bytes_of(expected))


@cases("padded_load_of_int8", PADS)
def padded_load_of_int8(config: Config, rng: Generator, pads: Sequence[int]) -> Case:
    values = sums(config, rng, -128, 127, 15).astype(np.int8)
    expected = padded(values.astype(np.int32), pads) >> 1
    count = len(expected)
    instructions = (
        load(Memory.UOP, 1), load(Memory.ACC, count), padded_load_of(Memory.ACC_8BIT, pads),
        each(AluOpcode.SHR, count, 1), store(count),
    )  # fmt: skip
    memories = {Memory.ACC: sums(config, rng, 50, 60, count), Memory.ACC_8BIT: values}
    return Case(serial(instructions), ZERO, memories, bytes_of(expected))


@cases("padded_load_of_inputs", PADS)
def padded_load_of_inputs(config: Config, rng: Generator, pads: Sequence[int]) -> Case:
    """Weights of an identity matrix show what lies in INP."""
    values = rng.integers(-128, 128, (15, *config.element_shape(Memory.INP))).astype(np.int8)
    expected = padded(values, pads)
    count = len(expected)
    identity = np.eye(config.block_in, dtype=np.int8)
    loop = {"iter_out": count, "dst_factor_out": 1, "uop_end": 1}
    instructions = (
        load(Memory.UOP, 1), load(Memory.WGT, 1), load(Memory.INP, 60 - 15, dram_base=15),
        padded_load_of(Memory.INP, pads), Gemm(reset=True, **loop),
        Gemm(src_factor_out=1, **loop), store(count),
    )  # fmt: skip
    memories = {Memory.INP: np.concatenate([values, values, values, values]), Memory.WGT: identity}
    return Case(serial(instructions), ZERO, memories, expected)


ALU_ROWS = (
    (AluOpcode.MIN, 3), (AluOpcode.MIN, -7), (AluOpcode.MIN, None), (AluOpcode.MAX, -128),
    (AluOpcode.MAX, 2), (AluOpcode.MAX, None), (AluOpcode.ADD, 4), (AluOpcode.ADD, -32768),
    (AluOpcode.ADD, None), (AluOpcode.SHR, 1), (AluOpcode.SHR, 15), (AluOpcode.SHR, -1),
    (AluOpcode.SHR, -4), (AluOpcode.SHR, -16), (AluOpcode.MUL, 3), (AluOpcode.MUL, -32768),
    (AluOpcode.MUL, None),
)  # fmt: skip


def alu_result(opcode: AluOpcode, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The result of one instruction, in 64 bits and wrapped."""
    x, y = x.astype(np.int64), y.astype(np.int64)
    results = {
        AluOpcode.MIN: lambda: np.minimum(x, y),
        AluOpcode.MAX: lambda: np.maximum(x, y),
        AluOpcode.ADD: lambda: x + y,
        AluOpcode.SHR: lambda: np.floor_divide(x * 2**16, 2 ** (16 + y)),
        AluOpcode.MUL: lambda: x * y,
    }
    return wrapped(results[opcode]())


@cases("alu", ALU_ROWS)
def alu(config: Config, rng: Generator, row: tuple[AluOpcode, int | None]) -> Case:
    """All four bytes of each result are stored, so that a wrong high one shows."""
    opcode, imm = row
    x, y = (sums(config, rng, -(2**31), 2**31 - 1, 8) for _ in range(2))
    x[0], y[0] = 2**31 - 1, 2**31 - 1  # these wrap
    result = alu_result(opcode, x, np.full_like(x, imm) if imm is not None else y)
    work: list[Instruction] = [each(opcode, 8, imm, src_factor_out=1, uop_bgn=1, uop_end=2)]
    stores: list[Instruction] = []
    for byte in range(4):
        stores += [store(8, dram_base=8 * byte), each(AluOpcode.SHR, 8, 8)]
    instructions = (load(Memory.UOP, 2), load(Memory.ACC, 16), *work, *stores[:-1])
    expected = np.concatenate([bytes_of(result >> 8 * byte) for byte in range(4)])
    memory = np.concatenate([x, y])
    return Case(serial(instructions), (*ZERO, Uop(0, 8)), {Memory.ACC: memory}, expected)


@case
def shift_by_elements(config: Config, rng: Generator) -> Case:
    """Amounts from ACC, of which the low five bits count."""
    x, amounts = sums(config, rng, -(2**20), 2**20, 6), sums(config, rng, -16, 15, 6)
    expected = alu_result(AluOpcode.SHR, x, amounts)
    high = sums(config, rng, -1000, 1000, 6) * 32
    memory = np.concatenate([x, amounts + high])
    work = each(AluOpcode.SHR, 6, uop_bgn=1, uop_end=2)
    return on_sums(memory, expected, work, uops=(*ZERO, Uop(0, 6)))


@case
def relu(config: Config, rng: Generator) -> Case:
    values = sums(config, rng, -256, 255, 80)
    clip = (each(AluOpcode.MAX, 80, 0), each(AluOpcode.MIN, 80, 127))
    return on_sums(values, np.clip(values, 0, 127), *clip)


@cases("shift_and_scale", [(0, 1), (7, 4), (3, 2)])
def shift_and_scale(config: Config, rng: Generator, row: tuple[int, int]) -> Case:
    offset, amount = row
    values = sums(config, rng, -10, 9, 16)
    work = (each(AluOpcode.ADD, 16, offset), each(AluOpcode.SHR, 16, amount))
    return on_sums(values, (values + offset) >> amount, *work)


@case
def alu_in_order(config: Config, rng: Generator) -> Case:
    """Each element adds the one before, which the same instruction has changed: prefix sums."""
    values = sums(config, rng, -9, 9, 10)
    work = (each(COPY, 10, 0), each(AluOpcode.ADD, 9, uop_bgn=1, uop_end=2))
    return on_sums(values, np.cumsum(values, axis=0), *work, uops=(*ZERO, Uop(1, 0)))


@case
def alu_on_one_element(config: Config, rng: Generator) -> Case:
    """Shifts of one element: bits that went out at one end do not come back."""
    value = sums(config, rng, -(2**31), 2**31 - 1, 1)
    amounts = [3, -16, 9, -5, 2, -1]
    expected = value
    for amount in amounts:
        expected = alu_result(AluOpcode.SHR, expected, np.full_like(expected, amount))
    memory = np.concatenate([value, *(np.full_like(value, amount) for amount in amounts)])
    shifts = each(AluOpcode.SHR, len(amounts), uop_bgn=1, uop_end=2, dst_factor_out=0)
    return on_sums(memory, expected >> 8, shifts, each(COPY, 1, 8), uops=(Uop(), Uop(0, 1)))


@case
def two_loops(config: Config, rng: Generator) -> Case:
    """Factors that differ in all loops, and two micro-ops."""
    values = sums(config, rng, -50, 50, 60)
    expected = values.copy()
    for out in range(3):
        for inner in range(4):
            for dst, src in ((0, 30), (5, 31)):
                expected[dst + 10 * out + inner] += values[src + 7 * out + 2 * inner]
    add = each(
        AluOpcode.ADD, 3, uop_bgn=1, uop_end=3, iter_in=4,
        dst_factor_out=10, dst_factor_in=1, src_factor_out=7, src_factor_in=2,
    )  # fmt: skip
    work = (each(COPY, 60, 0), add)
    return on_sums(values, expected[:30], *work, uops=(Uop(), Uop(0, 30), Uop(5, 31)))


@case
def last_micro_op(config: Config, rng: Generator) -> Case:
    """The field uop_end counts to the depth of the scratchpad."""
    depth = config.depth(Memory.UOP)
    values = sums(config, rng, -50, 50, 4)
    work = (
        load(Memory.UOP, 2, sram_base=depth - 2, dram_base=1),
        each(AluOpcode.ADD, 2, 5, uop_bgn=depth - 2, uop_end=depth, dst_factor_out=2),
    )
    return on_sums(values, values + 5, *work, uops=(Uop(), Uop(0), Uop(1)))


@case
def instructions_of_tokens_alone(config: Config, rng: Generator) -> Case:
    """NOPs of all stages between the others: they change nothing, and pass tokens on."""
    values = sums(config, rng, -50, 50, 4)
    nops = [nop(stage) for stage in (Stage.LOAD, Stage.COMPUTE, Stage.STORE, Stage.LOAD)]
    return on_sums(values, values, *nops, each(COPY, 4, 0), *nops)


@case
def strided_store(config: Config, rng: Generator) -> Case:
    """Rows of 2 elements, 3 apart; the store leaves the third alone."""
    values = sums(config, rng, -128, 127, 6)
    expected = np.full((9, *values.shape[1:]), 99)
    for row in range(3):
        expected[3 * row : 3 * row + 2] = values[2 * row : 2 * row + 2]
    rows = Store(y_size=3, x_size=2, x_stride=3)
    instructions = (load(Memory.UOP, 1), load(Memory.ACC, 6), each(COPY, 6, 0), rows)
    return Case(serial(instructions), ZERO, {Memory.ACC: values}, bytes_of(expected))


@case
def stored_and_loaded_again(config: Config, rng: Generator) -> Case:
    """What a stream stores, later instructions of the same stream load; memories share a buffer."""
    values = sums(config, rng, -100, 100, 5)
    again = (
        store(5), load(Memory.ACC_8BIT, 5), each(AluOpcode.MUL, 5, 3), store(5, dram_base=5)
    )  # fmt: skip
    instructions = (load(Memory.UOP, 1), load(Memory.ACC, 5), each(COPY, 5, 0), *again)
    expected = np.concatenate([values, 3 * values])
    arena = np.full(expected.shape, 99, np.int8)
    memories = {Memory.ACC: values, Memory.ACC_8BIT: arena, Memory.OUT: arena}
    return Case(serial(instructions), ZERO, memories, bytes_of(expected))
