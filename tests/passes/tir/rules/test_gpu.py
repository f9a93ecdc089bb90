"""The kernels that the GPU rules take, and those that they leave."""

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from xdsl.dialects import memref
from xdsl.parser import Parser

from clopt.context import CloptContext
from clopt.dialects import tir
from clopt.dialects.cl import Target, set_target
from clopt.passes.pipelines import run_pipeline
from clopt.passes.tir.lower_blocks import lower_blocks
from clopt.passes.tir.rules.gpu.matmul import GPU_MATMUL
from clopt.passes.tir.rules.naive_kernel import NaiveKernel
from clopt.passes.tir.rules.plans import plan_of, planned
from clopt.passes.tir.rules.space import Params, Space, Value
from clopt.targets import load_target
from support import effort
from support.tir import interpreter, kernels

PRODUCT = """
func.func @main(%x: tensor<128x128xf32>, %y: tensor<128x128xf32>) -> tensor<128x128xf32> {{
  %z = nn.matmul %x, %{0} : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
  func.return %z : tensor<128x128xf32>
}}
"""


@pytest.mark.parametrize(("right", "panels"), [("y", 2), ("x", 0)])
def test_product_of_a_matrix_with_another_and_with_itself(right: str, panels: int):
    ctx = CloptContext()
    module = Parser(ctx, PRODUCT.format(right)).parse_module()
    set_target(module, Target.from_facts("generic", {"device_type": "gpu"}))
    run_pipeline(ctx, module, "opencl")
    (kernel,) = (op for op in module.ops if isinstance(op, tir.FuncOp))
    local = [
        op
        for op in kernel.walk()
        if isinstance(op, memref.AllocaOp)
        and op.memref.type.memory_space == tir.ScopeAttr(tir.Scope.Local)
    ]
    assert len(local) == panels


def product(rows: int, depth: int, cols: int) -> tir.FuncOp:
    """A product whose result goes to an output of its own."""
    return kernels.parse(kernels.matmul(rows, cols, depth))


@settings(max_examples=effort.examples(8))
@given(
    sizes=st.tuples(*(st.sampled_from(some) for some in ([32, 37, 40], [8, 13, 16], [32, 40, 45]))),
    data=st.data(),
)
def test_any_plan_of_a_product(sizes: tuple[int, int, int], data: st.DataObject) -> None:
    """Tiles, panels and loads of all kinds, with panels on their way and without."""
    target = load_target("nvidia")
    func = product(*sizes)
    space = GPU_MATMUL.space(NaiveKernel(func), target)
    assert isinstance(space, Space)
    values: dict[str, Value] = {}
    for decision in space.decisions:
        # Of small products few groups are even enough to prefetch, so these come first.
        domain = list(decision.domain_at(Params(values)))[::-1]
        values[decision.name] = data.draw(st.sampled_from(domain), label=decision.name)
    event(f"prefetch {values['prefetch']}")
    func.plan = plan_of(GPU_MATMUL, Params(values))
    expected = interpreter.results(product(*sizes))
    planned(func, target).commit()
    func.plan = None
    lower_blocks(func)
    func.verify()
    for ours, theirs in zip(interpreter.results(func), expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize(
    ("size", "group", "rows"),
    [(4096, (16, 16), 8), (1024, (16, 8), 8), (512, (16, 8), 4)],
)
def test_tiles_are_as_large_as_keeps_all_units_busy(
    size: int, group: tuple[int, int], rows: int
) -> None:
    target = load_target("nvidia")
    space = GPU_MATMUL.space(NaiveKernel(product(size, size, size)), target)
    assert isinstance(space, Space)
    params = GPU_MATMUL.default(space)
    assert (params.numbers("group"), params.number("rows")) == (group, rows)
    assert params.number("prefetch") == target.machine.prefetched_panels
