"""The rule on the page about schedules is one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

import numpy as np
import pytest
from xdsl.dialects.builtin import MemRefType

from clopt.dialects import cl, tir
from clopt.passes.tir import rules as rules_of_clopt
from clopt.passes.tir.lower_blocks import lower_blocks
from clopt.passes.tir.rules.naive_kernel import NaiveKernel
from clopt.passes.tir.rules.rule import Rule
from clopt.passes.tir.rules.space import NotApplicable, Space
from clopt.passes.tir.schedule import Schedule
from clopt.targets import load_target
from clopt.tools import opt
from support.tir import interpreter, kernels, plans

PAGE = Path(__file__).parents[2] / "docs" / "schedules.md"
COPY = """
tir.func @copy(%x: memref<6x5xf32>, %y: memref<6x5xf32>) attributes {outputs = array<i64: 1>} {
  tir.for parallel %i = 0 to 6 {
    tir.for parallel %j = 0 to 5 {
      tir.block "out" (%vi: spatial 6, %vj: spatial 5) = affine_map<(d0, d1) -> (d0, d1)> (%i, %j) {
        %a = memref.load %x[%vi, %vj] : memref<6x5xf32>
        memref.store %a, %y[%vi, %vj] : memref<6x5xf32>
      }
    }
  }
}
"""


def rule() -> Rule[tir.ForOp]:
    found = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    names: dict[str, object] = {}
    exec(found[1], names)
    made = names["ROWS_OF_A_COPY"]
    assert isinstance(made, Rule)
    return made


def results(func: tir.FuncOp) -> list[np.ndarray]:
    arrays: list[np.ndarray] = []
    for param in func.params:
        assert isinstance(param.type, MemRefType)
        shape = param.type.get_shape()
        arrays.append(np.arange(np.prod(shape), dtype=np.float32).reshape(shape))
    interpreter.run(func, arrays)
    return arrays


def test_every_point_computes_the_same() -> None:
    naive = kernels.parse(COPY)
    expected = results(naive)
    space = rule().space(NaiveKernel(naive), cl.Target())
    assert isinstance(space, Space)
    assert space.fault(rule().default(space)) is None
    points = list(space.points())
    assert len(points) > 1
    for point in points:
        schedule = Schedule(naive)
        rows = rule().structure(NaiveKernel(schedule.func))
        assert isinstance(rows, tir.ForOp)
        rule().apply(schedule, rows, point)
        lower_blocks(schedule.func)
        schedule.func.verify()
        for ours, theirs in zip(results(schedule.func), expected, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_it_leaves_reductions_alone() -> None:
    matmul = NaiveKernel(kernels.parse(kernels.matmul(4, 4, 4)))
    assert isinstance(rule().space(matmul, cl.Target()), NotApplicable)


@pytest.fixture
def with_its_row(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """clopt with the row of the page's rule before all others."""
    monkeypatch.setattr(rules_of_clopt, "RULES", (rule(), *rules_of_clopt.RULES))
    rules_of_clopt.rules.cache_clear()
    yield
    monkeypatch.undo()
    rules_of_clopt.rules.cache_clear()


@pytest.mark.usefixtures("with_its_row")
def test_a_row_is_all_that_it_takes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is listed, chosen, explained, timed by the estimate, carried out, and drawn at random."""
    assert not opt.main(["--list-rules"])
    listed = capsys.readouterr().out
    assert re.search(r"rows-of-a-copy +rows +number +rows of a work-item", listed)
    file = tmp_path / "copy.mlir"
    file.write_text(COPY, encoding="utf-8")
    passes = "tir-choose-plan,tir-apply-plan"
    assert not opt.main([str(file), "--target", "pocl", "-p", passes, "--explain-plan"])
    shown = capsys.readouterr()
    assert re.fullmatch(
        r"@copy: rows-of-a-copy, version 1, estimated [0-9.]+ us .*\n"
        r"  rows = 3: rows of a work-item; 1, 2, 3 or 6\n",
        shown.err,
    )
    assert 'plan = #tir.plan<"rows-of-a-copy", 1, {rows = 3}>' in shown.out
    assert "tir.for global_x" in shown.out
    func, target = kernels.parse(COPY), load_target("pocl")
    drawn = {plans.random_plan(func, target, Random(seed).choice).data.rule for seed in range(20)}
    assert "rows-of-a-copy" in drawn
