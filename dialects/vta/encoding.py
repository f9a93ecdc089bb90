"""Encoding of instructions and micro-ops as words, and decoding.

An instruction is two little-endian 64-bit words, a micro-op one of 32 bits. Unused bits are zero,
so that equal programs are equal files; decoding rejects other values. Encoding and decoding are
inverses on all valid input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from operator import attrgetter
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...errors import CloptError
from .config import Config
from .isa import Alu, AluOpcode, Finish, Gemm, Instruction, Load, Memory, Store, Uop

Words: TypeAlias = NDArray[np.uint64]
"""Instructions: a row of two words each."""

UopWords: TypeAlias = NDArray[np.uint32]
"""Micro-ops: one word each."""


class VTAStreamError(CloptError):
    """Raised for a malformed stream; the message names the instruction by its number."""


@dataclass(frozen=True)
class Field:
    """The bits of one field: `width` bits of word `word` from bit `low` on."""

    name: str
    word: int
    low: int
    width: int
    signed: bool = False

    @property
    def range(self) -> tuple[int, int]:
        """Return the minimum and the maximum."""
        if self.signed:
            return -(1 << self.width - 1), (1 << self.width - 1) - 1
        return 0, (1 << self.width) - 1


OPCODES: dict[type[Instruction], int] = {Load: 0, Store: 1, Gemm: 2, Finish: 3, Alu: 4}
"""The first three bits of an instruction."""

OPCODE_BITS = 3

_Widths: TypeAlias = tuple[tuple[str, int], ...]
_TOKENS: _Widths = (("pop_prev", 1), ("pop_next", 1), ("push_prev", 1), ("push_next", 1))
_TRANSFER: tuple[_Widths, _Widths] = (
    (*_TOKENS, ("memory", 3), ("sram_base", 16), ("dram_base", 32)),
    (
        *(("y_size", 16), ("x_size", 16), ("x_stride", 16)),
        *(("y_pad_0", 4), ("y_pad_1", 4), ("x_pad_0", 4), ("x_pad_1", 4)),
    ),
)
_READ: dict[str, Callable[[int], Any]] = {
    **dict.fromkeys(("pop_prev", "pop_next", "push_prev", "push_next", "reset", "use_imm"), bool),
    "memory": {memory.value: memory for memory in Memory}.__getitem__,
    "opcode": {opcode.value: opcode for opcode in AluOpcode}.__getitem__,
}
_ENUMS = {"memory": ("memory id", Memory), "opcode": ("ALU opcode", AluOpcode)}


@cache
def layout(config: Config) -> Mapping[type[Instruction], tuple[Field, ...]]:
    """Return the fields of every instruction after its opcode, in the order of their bits."""
    loops = (
        *_TOKENS,
        ("reset", 1),
        ("uop_bgn", config.log_depth(Memory.UOP)),
        ("uop_end", config.log_depth(Memory.UOP) + 1),
        ("iter_out", 14),
        ("iter_in", 14),
    )
    acc, inp, wgt = (config.log_depth(m) for m in (Memory.ACC, Memory.INP, Memory.WGT))
    gemm = (*_pair("dst_factor", acc), *_pair("src_factor", inp), *_pair("wgt_factor", wgt))
    alu = (*_pair("dst_factor", acc), *_pair("src_factor", acc))
    alu = (*alu, ("opcode", 3), ("use_imm", 1), ("imm", 16))
    return {
        Load: _placed(*_TRANSFER),
        Store: _placed(*_TRANSFER),
        Gemm: _placed(loops, gemm),
        Finish: _placed(_TOKENS, ()),
        Alu: _placed(loops, alu),
    }


@cache
def uop_layout(config: Config) -> tuple[Field, ...]:
    """Return the fields of a micro-op."""
    acc, inp, wgt = (config.log_depth(m) for m in (Memory.ACC, Memory.INP, Memory.WGT))
    return _fields(0, 0, (("dst", acc), ("src", max(acc, inp)), ("wgt", wgt)))


def _pair(name: str, width: int) -> _Widths:
    return (f"{name}_out", width), (f"{name}_in", width)


def _placed(first: _Widths, second: _Widths) -> tuple[Field, ...]:
    return (*_fields(0, OPCODE_BITS, first), *_fields(1, 0, second))


def _fields(word: int, low: int, widths: _Widths) -> tuple[Field, ...]:
    starts = accumulate((width for _, width in widths), initial=low)
    return tuple(
        Field(name, word, start, width, signed=name == "imm")
        for (name, width), start in zip(widths, starts, strict=False)
    )


def encode(instructions: Sequence[Instruction], config: Config) -> Words:
    """Return the words of a stream, [n, 2]; raise VTAStreamError if a value exceeds its field."""
    words = np.zeros((len(instructions), 2), np.uint64)
    for kind, fields in layout(config).items():
        numbers = [i for i, instruction in enumerate(instructions) if type(instruction) is kind]
        if numbers:
            words[numbers, 0] = OPCODES[kind]
            values = map(attrgetter(*(f.name for f in fields)), (instructions[i] for i in numbers))
            _pack(words, numbers, fields, values, f"instruction {{}} ({kind.__name__.upper()})")
    return words


def encode_uops(uops: Sequence[Uop], config: Config) -> UopWords:
    """Return the words of micro-ops, [n]; raise VTAStreamError if an index exceeds its field."""
    words = np.zeros((len(uops), 1), np.uint64)
    _pack(words, range(len(uops)), uop_layout(config), uops, "micro-op {}")
    return words[:, 0].astype(np.uint32)


def _pack(
    words: Words,
    numbers: Sequence[int],
    fields: tuple[Field, ...],
    values: Iterable[Sequence[int]],
    what: str,
) -> None:
    """Store the values of `fields` in the words of the rows `numbers`."""
    try:
        columns = np.array(list(values), np.int64).reshape(len(numbers), len(fields)).T
    except OverflowError:
        raise VTAStreamError(
            f"A field of {what.format('?')} has a number beyond 64 bits."
        ) from None
    rows = np.asarray(numbers, np.intp)
    for field, column in zip(fields, columns, strict=True):
        least, most = field.range
        wrong = np.flatnonzero((column < least) | (column > most))
        if wrong.size:
            raise VTAStreamError(
                f"The field {field.name} of {what.format(rows[wrong[0]])} is {column[wrong[0]]}, "
                f"but VTA encodes {least} to {most}."
            )
        bits = column.astype(np.uint64) & np.uint64((1 << field.width) - 1)
        words[rows, field.word] |= bits << np.uint64(field.low)


def decode(words: NDArray[np.uint64], config: Config) -> tuple[Instruction, ...]:
    """Return the instructions of a stream's words, [n, 2].

    Raises VTAStreamError for an unknown opcode or memory id, and for bits outside the fields.
    """
    if words.ndim != 2 or words.shape[1] != 2:
        raise VTAStreamError(f"A stream must have two words per instruction, not {words.shape}.")
    opcodes = words[:, 0] & np.uint64((1 << OPCODE_BITS) - 1)
    unknown = np.flatnonzero(~np.isin(opcodes, list(OPCODES.values())))
    if unknown.size:
        number = unknown[0]
        raise VTAStreamError(f"Instruction {number} has the unknown opcode {opcodes[number]}.")
    decoded: dict[int, Instruction] = {}
    for kind, fields in layout(config).items():
        numbers = np.flatnonzero(opcodes == OPCODES[kind])
        _refuse_other_bits(words, numbers, fields)
        decoded |= _unpack(words, numbers, kind, fields)
    return tuple(decoded[i] for i in range(len(words)))


def _refuse_other_bits(words: Words, numbers: NDArray[np.intp], fields: tuple[Field, ...]) -> None:
    used = [(1 << OPCODE_BITS) - 1, 0]
    for field in fields:
        used[field.word] |= ((1 << field.width) - 1) << field.low
    others = (words[numbers] & ~np.array(used, np.uint64)).any(axis=1)
    if others.any():
        raise VTAStreamError(
            f"Instruction {numbers[np.argmax(others)]} sets bits outside its "
            "fields: they must be 0."
        )


def _unpack(
    words: Words, numbers: NDArray[np.intp], kind: type[Instruction], fields: tuple[Field, ...]
) -> dict[int, Instruction]:
    """Return the instructions of the rows `numbers`, which are all of one kind."""
    columns: list[Iterable[Any]] = []
    for field in fields:
        values = _extracted(words[numbers, field.word], field)
        if field.name in _ENUMS:
            what, enum = _ENUMS[field.name]
            wrong = np.flatnonzero(~np.isin(values, [int(member) for member in enum]))
            if wrong.size:
                raise VTAStreamError(
                    f"Instruction {numbers[wrong[0]]} has the {what} {values[wrong[0]]}: VTA has "
                    "none."
                )
        columns.append(map(_READ.get(field.name, int), values.tolist()))
    names = [field.name for field in fields]
    rows = zip(numbers.tolist(), zip(*columns, strict=True), strict=True)
    return {number: kind(**dict(zip(names, row, strict=True))) for number, row in rows}


def _extracted(words: NDArray[np.uint64], field: Field) -> NDArray[np.int64]:
    values = (words >> np.uint64(field.low)) & np.uint64((1 << field.width) - 1)
    values = values.astype(np.int64)
    return values - ((values >> field.width - 1) << field.width) if field.signed else values


def decode_uops(words: NDArray[np.uint32], config: Config) -> tuple[Uop, ...]:
    """Return the micro-ops of words; raise VTAStreamError for bits outside their fields."""
    fields = uop_layout(config)
    wide = words.astype(np.uint64)
    beyond = np.flatnonzero(wide >> np.uint64(sum(field.width for field in fields)))
    if beyond.size:
        raise VTAStreamError(f"Micro-op {beyond[0]} sets bits outside its fields: they must be 0.")
    columns = (_extracted(wide, field).tolist() for field in fields)
    return tuple(Uop(*row) for row in zip(*columns, strict=True))
