"""Transpositions on CPUs move tiles, so that each line of the operand is read once."""

from __future__ import annotations

import re
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clopt
from support import effort
from support.onnx.models import model


def compiled(shape: tuple[int, ...], body: str, device: str | None = None) -> clopt.CompiledModel:
    sizes = ",".join(map(str, shape))
    graph = model(f"float[{sizes}] x", body, constants={"b": np.float32(0.5)})
    return clopt.compile(graph, None if device else "pocl", device=device, use_cache=False)


TRANSPOSED = "t = Transpose<perm=[{}]>(x) y = Add(t, b)"

ROWS = {
    "matrix": ((64, 48), (1, 0), "cpu-transposition"),
    "channels last": ((1, 24, 9, 9), (0, 2, 3, 1), "cpu-transposition"),
    "channels first": ((2, 9, 9, 24), (0, 3, 1, 2), "cpu-transposition"),
    "heads": ((48, 3, 32), (1, 0, 2), "cpu-elementwise"),
    "short rows": ((64, 3), (1, 0), "cpu-elementwise"),
    "few rows": ((3, 64), (1, 0), "cpu-elementwise"),
    "short steps": ((64, 8), (1, 0), "cpu-elementwise"),
}
"""A step of less than a line of 16 elements reads lines in order without tiles, too."""


@pytest.mark.parametrize("name", ROWS)
def test_operands_that_are_read_across_their_rows(name: str) -> None:
    shape, perm, rule = ROWS[name]
    text = str(compiled(shape, TRANSPOSED.format(",".join(map(str, perm)))).module)
    assert re.findall(r'tir.plan<"([\w-]+)"', text) == [rule]


def test_a_tile_takes_whole_lines_before_the_next_ones() -> None:
    """Sixteen rows of the result, each a vector, need the elements of eight lines."""
    source = compiled((512, 512), TRANSPOSED.format("1,0")).source
    loops = re.findall(r"for \(int (\w+) = 0; \1 < (\d+)", source)
    assert [size for _, size in loops] == ["4", "16"]
    inner = loops[-1][0]
    assert re.search(rf"const int at = .* \+ {inner};", source), "rows are contiguous in x"


@pytest.mark.usefixtures("quick_builds")
@given(st.lists(st.integers(1, 40), min_size=2, max_size=4), st.data())
@settings(max_examples=effort.examples(4))
def test_transposed(device: str, sizes: list[int], data: st.DataObject) -> None:
    """Tiles that do not fit overlap."""
    perm = data.draw(st.permutations(range(len(sizes))))
    shape = tuple(sizes)
    x = np.arange(prod(shape), dtype=np.float32).reshape(shape)
    found = compiled(shape, TRANSPOSED.format(",".join(map(str, perm))), device).run([x])[0]
    np.testing.assert_array_equal(found, x.transpose(perm) + np.float32(0.5))
