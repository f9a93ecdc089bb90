"""The rule on the page about schedules is one."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from xdsl.dialects.builtin import MemRefType

from clopt.dialects import cl, tir
from clopt.passes.tir.lower_blocks import lower_blocks
from clopt.passes.tir.rules.naive_kernel import NaiveKernel
from clopt.passes.tir.rules.rule import Rule
from clopt.passes.tir.rules.space import NotApplicable, Space
from clopt.passes.tir.schedule import Schedule
from support.tir import interpreter, kernels

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
