"""The kernels that the GPU rules take, and those that they leave."""

import pytest
from xdsl.dialects import memref
from xdsl.parser import Parser

from clopt.context import CloptContext
from clopt.dialects import tir
from clopt.dialects.cl import Target, set_target
from clopt.passes.pipelines import run_pipeline

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
    set_target(module, Target(device_type="gpu"))
    run_pipeline(ctx, module, "opencl")
    (kernel,) = (op for op in module.ops if isinstance(op, tir.FuncOp))
    local = [
        op
        for op in kernel.walk()
        if isinstance(op, memref.AllocaOp)
        and op.memref.type.memory_space == tir.ScopeAttr(tir.Scope.Local)
    ]
    assert len(local) == panels
