"""Sums in parts: a work-item computes a part of the sums of all of its tiles before the next."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from clopt.dialects import tir
from clopt.passes.tir.rules.cpu.register_tile import REGISTER_TILE
from clopt.passes.tir.rules.naive_kernel import NaiveKernel
from clopt.passes.tir.rules.plans import plan_of, planned
from clopt.passes.tir.rules.shared.grid import MOST_PRIVATE
from clopt.passes.tir.rules.space import Params, Space, Value
from clopt.targets import load_target
from support.tir import interpreter
from support.tir.kernels import matmul, parse

POCL = load_target("pocl")
ROWS, COLS, DEPTH = 11, 20, 12
TILE: dict[str, Value] = {"local_size": (1, 1, 1), "col": 1, "width": 4, "vectors": 2, "rows": 2}


def space(depth: int = DEPTH) -> Space[Any]:
    found = REGISTER_TILE.space(NaiveKernel(parse(matmul(ROWS, COLS, depth))), POCL)
    assert isinstance(found, Space)
    return found


def scheduled(**wanted: Value) -> tir.FuncOp:
    func = parse(matmul(ROWS, COLS, DEPTH))
    point = space().nearest(Params(TILE | wanted))
    assert {name: point.values[name] for name in wanted} == wanted
    func.plan = plan_of(REGISTER_TILE, point)
    planned(func, POCL).commit()
    return func


def around(func: tir.FuncOp, label: str) -> list[str]:
    """The loops around a block, outermost first."""
    (block,) = (b for b in func.walk() if isinstance(b, tir.BlockOp) and b.label.data == label)
    return [str(loop.var.name_hint) for loop in tir.enclosing_loops(block)]


@pytest.mark.parametrize("panel", ["plain", "packed"])
@pytest.mark.parametrize("chunk", [1, 3])
@pytest.mark.parametrize("parts", [2, 3, 12])
def test_products(panel: str, chunk: int, parts: int):
    """Tiles and chunks divide neither rows nor columns: work-items overlap, their tiles do not."""
    func = scheduled(chunk=chunk, parts=parts, panel=panel)
    rng = np.random.default_rng(0)
    a = rng.standard_normal((ROWS, DEPTH)).astype("f")
    b = rng.standard_normal((DEPTH, COLS)).astype("f")
    y = np.zeros((ROWS, COLS), "f")
    interpreter.run(func, [a, b, y])
    np.testing.assert_allclose(y, a @ b + 1, rtol=1e-4, atol=1e-5)


def test_parts_run_outside_of_tiles():
    """A part of the operands stays in the caches while all tiles of a work-item use it."""
    func = scheduled(chunk=3, parts=4, panel="packed")
    assert around(func, "mm") == ["io", "jo", "ko", "io", "ii", "jo", "ji"]
    assert around(func, "mm_rf") == ["io", "jo", "ko", "io", "ko", "ki", "i", "jo", "ji"]
    assert around(func, "b_private")[:3] == ["io", "jo", "ko"]


def test_a_part_of_a_panel_fits_where_the_whole_one_does_not():
    depth = MOST_PRIVATE // 4 // 8 * 4 // 3 // 2 * 2
    found = space(depth)
    whole, halves = ({point.values["panel"] for point in _points(found, parts)} for parts in (1, 2))
    assert whole == {"plain"}
    assert halves == {"plain", "packed"}


def _points(found: Space[Any], parts: int) -> list[Params]:
    wanted = TILE | {"row": 0, "chunk": 1, "parts": parts}
    points = [found.nearest(Params(wanted | {"panel": panel})) for panel in ("plain", "packed")]
    assert {point.values["parts"] for point in points} == {parts}
    return points


def test_sums_of_tiles_that_overlap_have_no_parts():
    with pytest.raises(AssertionError):
        scheduled(chunk=6, parts=2)  # twelve rows of eleven
