"""`vta-objdump`: its text, and the sentences of its errors."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from clopt.dialects.vta import (
    BLOCK_16,
    Alu,
    AluOpcode,
    DramKind,
    Finish,
    Load,
    Memory,
    Queue,
    Stage,
    Store,
    Uop,
)
from clopt.dialects.vta.isa import nop
from clopt.dialects.vta.stream_file import StreamFile, Symbol, write_stream
from clopt.tools.vta_objdump import main

STREAM = StreamFile(
    BLOCK_16,
    (
        Load(memory=Memory.UOP, x_size=1, x_stride=1),
        Load(memory=Memory.ACC_8BIT, dram_base=8, x_size=4, x_stride=4),
        Alu(opcode=AluOpcode.MAX, use_imm=True, uop_end=1, iter_in=4, push_next=True),
        Store(pop_prev=True, push_prev=True, x_size=4, x_stride=4),
        nop(Stage.COMPUTE, [Queue.S2C]),
        Finish(),
    ),
    (Uop(3, 2, 1),),
    (Symbol("x", DramKind.ACT, 64), Symbol("uops", DramKind.UOP, 1)),
    {0: 1, 1: 0},
)

DUMP = """\
// configuration 1x16_i8w8a32_15_15_18_17
// %x : act, 64 elements
// %uops : uop, 1 elements
     0  vta.insn.load %uops[0] to uop[0] size [1, 1] stride 1  // l2c 0 c2l 0 c2s 0 s2c 0
     1  vta.insn.load %x[8] to acc8[0] size [1, 4] stride 4  // l2c 0 c2l 0 c2s 0 s2c 0
     2  vta.insn.alu max imm 0 uops [0, 1] iterations [1, 4] push_next  // l2c 0 c2l 0 c2s 1 s2c 0
     3  vta.insn.store out[0] to dram[0] size [1, 4] stride 4 pop_prev push_prev  // l2c 0 c2l 0 \
c2s 0 s2c 1
     4  vta.insn.load dram[0] to uop[0] size [0, 0] stride 0 pop_next  // l2c 0 c2l 0 c2s 0 s2c 0
     5  vta.insn.finish  // l2c 0 c2l 0 c2s 0 s2c 0
// micro-ops: dst, src, wgt
     0  (3, 2, 1)
"""


def test_dump_of_a_stream(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "relu.vta"
    path.write_bytes(write_stream(STREAM))
    main([str(path), "--config", BLOCK_16.name])
    lines = capsys.readouterr().out.splitlines()
    columns = {line.index("  // ") for line in lines if "  // " in line}
    assert columns == {96}
    assert [squeezed(line) for line in lines] == [squeezed(line) for line in DUMP.splitlines()]


def test_json_has_what_the_text_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "relu.vta"
    path.write_bytes(write_stream(STREAM))
    main([str(path), "--json"])
    told = json.loads(capsys.readouterr().out)
    assert (told["version"], told["config"]) == (1, BLOCK_16.name)
    assert told["symbols"][0] == {"name": "x", "kind": "act", "elements": 64}
    assert [row["text"] for row in told["instructions"]] == [
        line.split("  // ")[0].strip().split("  ", 1)[1]
        for line in DUMP.splitlines()
        if "vta.insn" in line
    ]
    assert told["instructions"][2]["tokens"] == {"l2c": 0, "c2l": 0, "c2s": 1, "s2c": 0}
    assert told["uops"] == [[3, 2, 1]]


def test_names_are_escaped(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "e.vta"
    symbol = Symbol("\x1b[2J\x1b]0;owned\x07\n// faked", DramKind.ACT, 64)
    path.write_bytes(write_stream(replace(STREAM, symbols=(symbol, *STREAM.symbols[1:]))))
    main([str(path)])
    shown = capsys.readouterr().out
    assert r"%\x1b[2J\x1b]0;owned\x07\n// faked : act" in shown
    assert r"load %\x1b[2J\x1b]0;owned\x07\n// faked[8]" in shown
    assert shown.replace("\n", "").isprintable()


def squeezed(line: str) -> str:
    """A line without the spaces that put the comment into its column."""
    return "//".join(part.strip() for part in line.split("//"))


@pytest.mark.parametrize(
    ("data", "arguments", "sentence"),
    [
        (b"no stream", [], "This is not a VTA stream"),
        (write_stream(STREAM)[:-1], [], "ends 1 bytes too early"),
        (write_stream(STREAM), ["--config", "1x32_i8w8a32_15_15_18_17"], "not for 1x32_"),
        (write_stream(STREAM), ["--config", "big"], '"big" is not a configuration of VTA'),
    ],
)
def test_errors_are_sentences(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    data: bytes,
    arguments: list[str],
    sentence: str,
):
    path = tmp_path / "broken.vta"
    path.write_bytes(data)
    with pytest.raises(SystemExit, match="1"):
        main([str(path), *arguments])
    shown = capsys.readouterr().err
    assert shown.startswith("vta-objdump: ")
    assert sentence in shown


def test_a_missing_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit, match="1"):
        main([str(tmp_path / "none.vta")])
    assert "none.vta: cannot read this file: No such file" in capsys.readouterr().err
