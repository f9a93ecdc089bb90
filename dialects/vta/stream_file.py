"""A stream as a file: little-endian, with the bases of its addresses by name.

| bytes | what |
| --- | --- |
| 8 | `VTASTRM` and a zero byte |
| 4 | version of the format, 1 |
| 4 x 5 | bytes of the name, counts of instructions, micro-ops, relocations and symbols |
| | name of the configuration |
| 16 each | instructions; a relocated address counts from its symbol |
| 4 each | micro-ops |
| 8 each | relocations: the numbers of an instruction and of a symbol |
| 12 each + name | symbols: kind, elements, bytes of the name; the name in UTF-8 |

Kinds are 0 act, 1 wgt, 2 acc and 3 uop.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from xdsl.ir import SSAValue

from .attributes import KINDS, DramKind
from .config import INSTRUCTION_BYTES, UOP_BYTES, Config, VTAConfigError
from .encoding import VTAStreamError, decode, decode_uops, encode, encode_uops
from .isa import Instruction, Load, Store, Uop
from .stream import StreamOp

MAGIC = b"VTASTRM\0"
VERSION = 1
UOPS_SYMBOL = "uops"
"""The name of the table of micro-ops."""

_HEAD = struct.Struct("<8s6I")
_SYMBOL = struct.Struct("<3I")
_KINDS = (DramKind.ACT, DramKind.WGT, DramKind.ACC, DramKind.UOP)


@dataclass(frozen=True)
class Symbol:
    """A buffer, a constant or the micro-ops, in DRAM at an address decided later."""

    name: str
    kind: DramKind
    elements: int


@dataclass(frozen=True)
class StreamFile:
    """The contents of a file; `relocations` maps instruction numbers to indices of symbols."""

    config: Config
    instructions: tuple[Instruction, ...]
    uops: tuple[Uop, ...]
    symbols: tuple[Symbol, ...]
    relocations: Mapping[int, int]

    def symbol_of(self, number: int) -> Symbol | None:
        """Return the base of an instruction's address; None for the start of its memory."""
        index = self.relocations.get(number)
        return None if index is None else self.symbols[index]

    def linked(self, places: Mapping[str, int]) -> tuple[Instruction, ...]:
        """Return the instructions with the first element of each symbol added to its addresses.

        Raises VTAStreamError for a symbol without an entry in `places`.
        """
        return tuple(self._linked(number, places) for number in range(len(self.instructions)))

    def _linked(self, number: int, places: Mapping[str, int]) -> Instruction:
        instruction, symbol = self.instructions[number], self.symbol_of(number)
        if symbol is None or not isinstance(instruction, Load | Store):
            return instruction
        if symbol.name not in places:
            raise VTAStreamError(f'Instruction {number} needs an address for "{symbol.name}".')
        return replace(instruction, dram_base=instruction.dram_base + places[symbol.name])


def side_by_side(symbols: Iterable[Symbol]) -> dict[str, int]:
    """Return places for `StreamFile.linked`: symbols of each kind are consecutive from 0 on."""
    ends = dict.fromkeys(DramKind, 0)
    places: dict[str, int] = {}
    for symbol in symbols:
        places[symbol.name] = ends[symbol.kind]
        ends[symbol.kind] += symbol.elements
    return places


def stream_file(stream: StreamOp) -> StreamFile:
    """Return the file of a verified stream."""
    table = stream.table
    symbols = [Symbol(op.key, op.type.kind, op.type.elements) for op in stream.symbols]
    values: list[SSAValue] = [op.result for op in stream.symbols]
    if table is not None:
        if any(symbol.name == UOPS_SYMBOL for symbol in symbols):
            raise VTAStreamError(f'"{UOPS_SYMBOL}" names the micro-ops: rename the buffer.')
        symbols.append(Symbol(UOPS_SYMBOL, DramKind.UOP, len(table.uops)))
        values.append(table.result)
    numbers = {value: i for i, value in enumerate(values)}
    insns = stream.insns
    return StreamFile(
        stream.config,
        tuple(insn.instruction for insn in insns),
        () if table is None else table.uops,
        tuple(symbols),
        {i: numbers[op.buffer] for i, op in enumerate(insns) if op.buffer is not None},
    )


def write_stream(file: StreamFile) -> bytes:
    """Return the bytes of a file; raise VTAStreamError if a value exceeds its field."""
    name = file.config.name.encode()
    counts = map(len, (name, file.instructions, file.uops, file.relocations, file.symbols))
    parts = [
        _HEAD.pack(MAGIC, VERSION, *counts),
        name,
        encode(file.instructions, file.config).astype("<u8").tobytes(),
        encode_uops(file.uops, file.config).astype("<u4").tobytes(),
        np.array(sorted(file.relocations.items()), "<u4").tobytes(),
    ]
    for symbol in file.symbols:
        text = symbol.name.encode()
        parts += [_SYMBOL.pack(_KINDS.index(symbol.kind), symbol.elements, len(text)), text]
    return b"".join(parts)


def read_stream(data: bytes, config: Config | None = None) -> StreamFile:
    """Parse a stream file, for `config` if given; raise VTAStreamError for an invalid file."""
    if not is_stream(data):
        raise VTAStreamError("This is not a VTA stream: it does not start with VTASTRM.")
    reader = _Reader(data)
    _, version, *counts = _HEAD.unpack(reader.take(_HEAD.size))
    if version != VERSION:
        raise VTAStreamError(f"The stream has version {version} of its format, not {VERSION}.")
    name_bytes, instructions, uops, relocations, symbols = counts
    found = _config(reader.text(name_bytes))
    if config is not None and found != config:
        raise VTAStreamError(f"The stream is for a core {found.name}, not for {config.name}.")
    words = np.frombuffer(reader.take(instructions * INSTRUCTION_BYTES), "<u8").reshape(-1, 2)
    uop_words = np.frombuffer(reader.take(uops * UOP_BYTES), "<u4")
    pairs = np.frombuffer(reader.take(relocations * 8), "<u4").astype(np.int64)
    file = StreamFile(
        found,
        decode(words.astype(np.uint64), found),
        decode_uops(uop_words.astype(np.uint32), found),
        tuple(_symbol(reader) for _ in range(symbols)),
        dict(zip(map(int, pairs[::2]), map(int, pairs[1::2]), strict=True)),
    )
    if reader.left:
        raise VTAStreamError(f"The stream has {reader.left} bytes after its end.")
    _verify_relocations(file)
    return file


def is_stream(data: bytes) -> bool:
    """Return whether a file starts like a stream."""
    return data.startswith(MAGIC)


class _Reader:
    """Reads bytes in consecutive parts."""

    def __init__(self, data: bytes):
        self.data = data
        self.at = 0

    def take(self, count: int) -> bytes:
        """Return the next `count` bytes; raise VTAStreamError if there are fewer."""
        part = self.data[self.at : self.at + count]
        if len(part) < count:
            raise VTAStreamError(f"The stream ends {count - len(part)} bytes too early.")
        self.at += count
        return part

    def text(self, count: int) -> str:
        """Return the next `count` bytes as UTF-8 text."""
        try:
            return self.take(count).decode()
        except UnicodeDecodeError:
            raise VTAStreamError("A name in the stream is not UTF-8.") from None

    @property
    def left(self) -> int:
        """Return the number of unread bytes."""
        return len(self.data) - self.at


def _config(name: str) -> Config:
    try:
        return Config.parse(name)
    except VTAConfigError as error:
        raise VTAStreamError(f"The configuration of the stream is invalid: {error}") from error


def _symbol(reader: _Reader) -> Symbol:
    kind, elements, name_bytes = map(int, _SYMBOL.unpack(reader.take(_SYMBOL.size)))
    name = reader.text(name_bytes)
    if kind >= len(_KINDS):
        raise VTAStreamError(f'The symbol "{name}" of the stream has the unknown kind {kind}.')
    return Symbol(name, _KINDS[kind], elements)


def _verify_relocations(file: StreamFile) -> None:
    for number, index in file.relocations.items():
        if number >= len(file.instructions) or index >= len(file.symbols):
            raise VTAStreamError(
                f"The stream relocates instruction {number} by symbol {index}, but has "
                f"{len(file.instructions)} instructions and {len(file.symbols)} symbols."
            )
        instruction, symbol = file.instructions[number], file.symbols[index]
        fits = isinstance(instruction, Load | Store) and KINDS[instruction.memory] is symbol.kind
        if not fits:
            raise VTAStreamError(
                f'Instruction {number} cannot count from "{symbol.name}", which is {symbol.kind}.'
            )
