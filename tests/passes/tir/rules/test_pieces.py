"""Pieces of one result share a grid that is as long as the longest of them.

On CPUs the images of a batch are an axis of their own.
"""

from math import prod

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from clopt.context import CloptContext
from clopt.dialects import tir
from clopt.dialects.cl import Target, set_target
from clopt.passes.pipelines import run_pipeline

# The first operand is walked as one row of memory, the second is not. A batch of
# two keeps the concat a kernel, as no piece of the result is one range of memory.
CONCAT = """
func.func @main(%a: tensor<2x8x24x24xf32>, %b: tensor<2x8x24x30xf32>) -> tensor<2x16x24x24xf32> {
  %s = nn.slice %b {starts = array<i64: 0, 0, 0, 3>, sizes = array<i64: 2, 8, 24, 24>,
    steps = array<i64: 1, 1, 1, 1>} : (tensor<2x8x24x30xf32>) -> tensor<2x8x24x24xf32>
  %c = nn.concat %a, %s {axis = 1 : i64}
    : (tensor<2x8x24x24xf32>, tensor<2x8x24x24xf32>) -> tensor<2x16x24x24xf32>
  func.return %c : tensor<2x16x24x24xf32>
}
"""


@pytest.mark.parametrize(("device_type", "images"), [("cpu", 2), ("gpu", 1)])
def test_grid_of_a_concat(device_type: str, images: int):
    ctx = CloptContext()
    module: ModuleOp = Parser(ctx, CONCAT).parse_module()
    set_target(module, Target.from_facts("generic", {"device_type": device_type}))
    run_pipeline(ctx, module, "opencl")
    (kernel,) = (op for op in module.ops if isinstance(op, tir.FuncOp))
    assert kernel.global_size is not None
    sizes = [int(n) for n in kernel.global_size.iter_values()]
    assert prod(sizes[1:]) == images
    assert prod(sizes) <= -(-2 * 8 * 24 * 24 // 256) * 256
