"""Streams as files: what is written is read, anything else is refused."""

from __future__ import annotations

import struct

import pytest
from xdsl.parser import Parser

from clopt.context import CloptContext
from clopt.dialects.vta import (
    BLOCK_16,
    BLOCK_32,
    DramKind,
    Load,
    Store,
    StreamOp,
    Uop,
    VTAStreamError,
)
from clopt.dialects.vta.stream_file import (
    StreamFile,
    Symbol,
    read_stream,
    side_by_side,
    stream_file,
    write_stream,
)

TEXT = f"""
vta.stream @s #vta.config<{BLOCK_16.name}> {{
  %x = vta.buffer "x" : !vta.dram<act, 64>
  %w = vta.constant "w_0123" : !vta.dram<wgt, 9>
  %u = vta.uop_table [(0, 0, 0), (1, 2, 3)]
  vta.insn.load %u[0] to uop[0] size [1, 2] stride 2
  vta.insn.load %w[4] to wgt[0] size [1, 5] stride 5 push_next
  vta.insn.load dram[7] to inp[0] size [1, 1] stride 1
  vta.insn.store out[0] to %x[8] size [1, 4] stride 4
  vta.insn.finish
}}"""


def file() -> StreamFile:
    (stream,) = Parser(CloptContext(), TEXT).parse_module().ops
    assert isinstance(stream, StreamOp)
    return stream_file(stream)


def test_a_stream_says_what_its_addresses_count_from():
    found = file()
    assert found.symbols == (
        Symbol("x", DramKind.ACT, 64),
        Symbol("w_0123", DramKind.WGT, 9),
        Symbol("uops", DramKind.UOP, 2),
    )
    assert found.relocations == {0: 2, 1: 1, 3: 0}
    assert found.uops == (Uop(), Uop(1, 2, 3))


def test_a_file_survives_both_ways():
    assert read_stream(write_stream(file()), BLOCK_16) == file()


def test_linking_adds_places_to_relocated_addresses_alone():
    linked = file().linked({"x": 100, "w_0123": 20, "uops": 3})
    bases = [each.dram_base for each in linked if isinstance(each, Load | Store)]
    assert bases == [3, 24, 7, 108]
    with pytest.raises(VTAStreamError, match='Instruction 3 needs an address for "x"'):
        file().linked({"w_0123": 20, "uops": 3})


def _patched(offset: int, value: int) -> bytes:
    data = bytearray(write_stream(file()))
    struct.pack_into("<I", data, offset, value)
    return bytes(data)


RELOCATIONS = 32 + len(BLOCK_16.name) + 5 * 16 + 2 * 4
SYMBOLS = RELOCATIONS + 3 * 8


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "does not start with VTASTRM"),
        (b"\x7fELF" + bytes(60), "does not start with VTASTRM"),
        (_patched(8, 2), "has version 2 of its format, not 1"),
        (_patched(32, 0x35783939), "configuration of the stream is invalid"),
        (write_stream(file())[:-1], "ends 1 bytes too early"),
        (write_stream(file())[:20], "ends 12 bytes too early"),
        (write_stream(file()) + b"!", "has 1 bytes after its end"),
        (_patched(16, 2**32 - 1), "bytes too early"),
        (_patched(32 + len(BLOCK_16.name), 7), "Instruction 0 has the unknown opcode 7"),
        (_patched(RELOCATIONS, 9), "relocates instruction 9 by symbol 2, but has 5 instructions"),
        (_patched(RELOCATIONS + 4, 3), "relocates instruction 0 by symbol 3"),
        (_patched(RELOCATIONS + 4, 0), 'Instruction 0 cannot count from "x", which is act'),
        (_patched(RELOCATIONS, 4), 'Instruction 4 cannot count from "uops", which is uop'),
        (_patched(SYMBOLS, 4), 'symbol "x" of the stream has the unknown kind 4'),
        (_patched(SYMBOLS + 12, 0xFFFFFFFF), "not UTF-8"),
    ],
)
def test_other_bytes_are_refused(data: bytes, sentence: str):
    with pytest.raises(VTAStreamError, match=sentence):
        read_stream(data)


def test_a_stream_for_another_core_is_refused():
    with pytest.raises(VTAStreamError, match=f"core {BLOCK_16.name}, not for {BLOCK_32.name}"):
        read_stream(write_stream(file()), BLOCK_32)


def test_a_buffer_cannot_have_the_name_of_the_micro_ops():
    (stream,) = Parser(CloptContext(), TEXT.replace('"x"', '"uops"')).parse_module().ops
    assert isinstance(stream, StreamOp)
    with pytest.raises(VTAStreamError, match='"uops" names the micro-ops'):
        stream_file(stream)


def test_symbols_of_a_kind_lie_side_by_side():
    symbols = [
        Symbol("a", DramKind.ACT, 5),
        Symbol("w", DramKind.WGT, 2),
        Symbol("b", DramKind.ACT, 3),
        Symbol("v", DramKind.WGT, 4),
    ]
    assert side_by_side(symbols) == {"a": 0, "w": 0, "b": 5, "v": 2}
