"""The instructions of VTA as values: 128-bit instructions, 32-bit micro-ops, stages and queues.

The bit layout is in `encoding`. Memory ids and opcodes follow the instruction set of December 2020
(hardware version 0.0.2), the first with ACC_8BIT and MUL.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import NamedTuple, TypeAlias

from xdsl.utils.str_enum import StrEnum


class Memory(IntEnum):
    """The memory that a load writes or a store reads; the values are the encoding's."""

    UOP = 0
    WGT = 1
    INP = 2
    ACC = 3
    OUT = 4
    ACC_8BIT = 5
    """int8 in DRAM, extended to int32 in the scratchpad ACC."""


class AluOpcode(IntEnum):
    """An operation of the ALU; the values are the encoding's."""

    MIN = 0
    MAX = 1
    ADD = 2
    SHR = 3
    """Arithmetic shift to the right; by a negative amount, shift to the left."""
    MUL = 4


class Stage(StrEnum):
    """A processor that executes its instructions in order, in parallel with the other stages."""

    LOAD = "load"
    COMPUTE = "compute"
    STORE = "store"


class Queue(StrEnum):
    """A queue of dependence tokens from one stage to another."""

    L2C = "l2c"
    C2L = "c2l"
    C2S = "c2s"
    S2C = "s2c"

    @property
    def source(self) -> Stage:
        """Return the stage that signals."""
        return _ENDS[self][0]

    @property
    def target(self) -> Stage:
        """Return the stage that waits."""
        return _ENDS[self][1]


_ENDS = {
    Queue.L2C: (Stage.LOAD, Stage.COMPUTE),
    Queue.C2L: (Stage.COMPUTE, Stage.LOAD),
    Queue.C2S: (Stage.COMPUTE, Stage.STORE),
    Queue.S2C: (Stage.STORE, Stage.COMPUTE),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Tokens:
    """The dependence bits. The order of the stages is load, compute, store.

    Before an instruction starts it takes a token from the queue of each `pop`; when it ends it puts
    one into the queue of each `push`. `prev` is the preceding stage, `next` the following stage.
    """

    pop_prev: bool = False
    pop_next: bool = False
    push_prev: bool = False
    push_next: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Load(Tokens):
    """Copies rows of DRAM into a scratchpad, with zeros around them.

    The scratchpad receives `y_pad_0 + y_size + y_pad_1` rows of `x_pad_0 + x_size + x_pad_1`
    elements without gaps from `sram_base` on; in DRAM the starts of rows are `x_stride` elements
    apart. All sizes are in elements of `memory`. With `x_size` 0 it only moves tokens.
    """

    memory: Memory
    sram_base: int = 0
    dram_base: int = 0
    y_size: int = 1
    x_size: int = 0
    x_stride: int = 0
    y_pad_0: int = 0
    y_pad_1: int = 0
    x_pad_0: int = 0
    x_pad_1: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Store(Tokens):
    """Copies the scratchpad OUT into rows of DRAM.

    It has the fields of a load; pads must be 0.
    """

    memory: Memory = Memory.OUT
    sram_base: int = 0
    dram_base: int = 0
    y_size: int = 1
    x_size: int = 0
    x_stride: int = 0
    y_pad_0: int = 0
    y_pad_1: int = 0
    x_pad_0: int = 0
    x_pad_1: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Gemm(Tokens):
    """Multiplies tiles: ACC[dst] += INP[src] x WGT[wgt] transposed, or ACC[dst] = 0 with `reset`.

    It runs the micro-ops `uop_bgn` to `uop_end` (excluded) for each of iter_out x iter_in
    iterations; the index of a tile is the micro-op's index + iteration x factor of both loops.
    OUT[dst] becomes the low 8 bits of ACC[dst].
    """

    reset: bool = False
    uop_bgn: int = 0
    uop_end: int = 0
    iter_out: int = 1
    iter_in: int = 1
    dst_factor_out: int = 0
    dst_factor_in: int = 0
    src_factor_out: int = 0
    src_factor_in: int = 0
    wgt_factor_out: int = 0
    wgt_factor_in: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Alu(Tokens):
    """ACC[dst] = ACC[dst] `opcode` y, elementwise; y is `imm` or ACC[src]. Loops as in `Gemm`.

    OUT[dst] becomes the low 8 bits of the result. Sums and products wrap at 32 bits. The bit
    `reset` has no meaning here.
    """

    reset: bool = False
    uop_bgn: int = 0
    uop_end: int = 0
    iter_out: int = 1
    iter_in: int = 1
    dst_factor_out: int = 0
    dst_factor_in: int = 0
    src_factor_out: int = 0
    src_factor_in: int = 0
    opcode: AluOpcode
    use_imm: bool = False
    imm: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Finish(Tokens):
    """The end of the stream."""


Instruction: TypeAlias = Load | Store | Gemm | Alu | Finish


class Uop(NamedTuple):
    """A micro-op: the indices of its tiles; the ALU does not use `wgt`."""

    dst: int = 0
    src: int = 0
    wgt: int = 0


LOAD_STAGE_MEMORIES = frozenset({Memory.INP, Memory.WGT})
"""The memories loaded by the load stage; the compute stage performs all other loads."""

_POPS = {
    Stage.LOAD: (None, Queue.C2L),
    Stage.COMPUTE: (Queue.L2C, Queue.S2C),
    Stage.STORE: (Queue.C2S, None),
}
_PUSHES = {
    Stage.LOAD: (None, Queue.L2C),
    Stage.COMPUTE: (Queue.C2L, Queue.C2S),
    Stage.STORE: (Queue.S2C, None),
}


def stage_of(instruction: Instruction) -> Stage:
    """Return the stage that executes an instruction."""
    if isinstance(instruction, Store):
        return Stage.STORE
    if isinstance(instruction, Load) and instruction.memory in LOAD_STAGE_MEMORIES:
        return Stage.LOAD
    return Stage.COMPUTE


def waits_of(instruction: Instruction) -> tuple[Queue, ...]:
    """Return the queues from which it takes a token; bits without a queue are ignored."""
    prev, next_ = _POPS[stage_of(instruction)]
    return _chosen((instruction.pop_prev, prev), (instruction.pop_next, next_))


def signals_of(instruction: Instruction) -> tuple[Queue, ...]:
    """Return the queues into which it puts a token; bits without a queue are ignored."""
    prev, next_ = _PUSHES[stage_of(instruction)]
    return _chosen((instruction.push_prev, prev), (instruction.push_next, next_))


def _chosen(*bits: tuple[bool, Queue | None]) -> tuple[Queue, ...]:
    return tuple(queue for bit, queue in bits if bit and queue is not None)


def unconnected_bits(instruction: Instruction) -> tuple[str, ...]:
    """Return the set dependence bits for which the stage of the instruction has no queue."""
    stage = stage_of(instruction)
    (pop_prev, pop_next), (push_prev, push_next) = _POPS[stage], _PUSHES[stage]
    bits = {
        "pop_prev": instruction.pop_prev and pop_prev is None,
        "pop_next": instruction.pop_next and pop_next is None,
        "push_prev": instruction.push_prev and push_prev is None,
        "push_next": instruction.push_next and push_next is None,
    }
    return tuple(name for name, is_set in bits.items() if is_set)


def token_bits(waits: Collection[Queue], signals: Collection[Queue]) -> dict[str, bool]:
    """Return the dependence bits of an instruction that waits for and signals these queues."""
    return {
        "pop_prev": Queue.L2C in waits or Queue.C2S in waits,
        "pop_next": Queue.C2L in waits or Queue.S2C in waits,
        "push_prev": Queue.C2L in signals or Queue.S2C in signals,
        "push_next": Queue.L2C in signals or Queue.C2S in signals,
    }


def nop(
    stage: Stage, waits: Collection[Queue] = (), signals: Collection[Queue] = ()
) -> Load | Store:
    """Return an instruction of `stage` that only moves tokens."""
    memory = Memory.INP if stage is Stage.LOAD else Memory.UOP
    empty = Store(y_size=0) if stage is Stage.STORE else Load(memory=memory, y_size=0)
    return replace(empty, **token_bits(waits, signals))


def is_nop(instruction: Instruction) -> bool:
    """Return whether an instruction only moves tokens."""
    return isinstance(instruction, Load | Store) and instruction.x_size == 0
