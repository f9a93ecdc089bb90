"""Operations of the instruction level are instructions: as properties and as text."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.parser import Parser

from clopt.context import CloptContext
from clopt.dialects.vta import (
    BLOCK_16,
    INSN_OPS,
    AluOpcode,
    InsnOp,
    Instruction,
    Memory,
    Store,
    StreamOp,
)
from clopt.dialects.vta.encoding import layout
from support import effort


@st.composite
def _instructions(draw: st.DrawFn) -> Instruction:
    kind = draw(st.sampled_from([*INSN_OPS]))
    enums = {"memory": st.sampled_from(Memory), "opcode": st.sampled_from(AluOpcode)}
    values: dict[str, Any] = {}
    for field in layout(BLOCK_16)[kind]:
        numbers = st.booleans() if field.width == 1 else st.integers(*field.range)
        values[field.name] = draw(enums.get(field.name, numbers))
    return kind(**values)


@given(st.lists(_instructions(), min_size=1, max_size=4))
@settings(max_examples=effort.examples(40))
def test_text_says_every_field(instructions: list[Instruction]):
    lines = [str(INSN_OPS[type(each)](each)) for each in instructions]
    text = "\n".join(lines)
    parsed = Parser(CloptContext(), text).parse_module()
    found = [op.instruction for op in parsed.ops if isinstance(op, InsnOp)]
    assert found == instructions
    assert [str(op) for op in parsed.ops] == lines


@pytest.mark.parametrize("kind", INSN_OPS)
def test_properties_are_the_fields(kind: type[Instruction]):
    defined = INSN_OPS[kind].get_irdl_definition().properties
    assert set(defined) == {field.name for field in fields(kind)}


def test_a_stream_lists_what_it_holds():
    (stream,) = (
        Parser(
            CloptContext(),
            f"""
            vta.stream @s #vta.config<{BLOCK_16.name}> {{
              %y = vta.buffer "y" : !vta.dram<act, 8>
              %u = vta.uop_table [(1, 2, 3)]
              vta.insn.store out[7] to %y[4] size [2, 1] stride 2
              vta.insn.finish
            }}""",
        )
        .parse_module()
        .ops
    )
    assert isinstance(stream, StreamOp)
    assert [symbol.key for symbol in stream.symbols] == ["y"]
    assert stream.table is not None
    assert stream.table.uops == ((1, 2, 3),)
    store, _ = stream.insns
    assert store.instruction == Store(sram_base=7, dram_base=4, y_size=2, x_size=1, x_stride=2)
    assert store.buffer is stream.symbols[0].result
