"""A rule records the tile that it chose in the kernel, and takes one that is there already."""

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp, i64
from xdsl.parser import Parser

from clopt.context import CloptContext
from clopt.dialects import tir
from clopt.passes.nn.fuse import NNFusePass
from clopt.passes.nn.to_cl import NNToCLPass
from clopt.passes.nn.to_tir import NNToTIRPass
from clopt.passes.tir.auto_schedule import TIRAutoSchedulePass

MATMUL = """
func.func @main(%a: tensor<32x64xf32>, %b: tensor<64x48xf32>) -> tensor<32x48xf32> {
  %c = nn.matmul %a, %b : (tensor<32x64xf32>, tensor<64x48xf32>) -> tensor<32x48xf32>
  func.return %c : tensor<32x48xf32>
}
"""


def lowered() -> tuple[ModuleOp, CloptContext, tir.FuncOp]:
    ctx = CloptContext()
    module = Parser(ctx, MATMUL).parse_module()
    for each in (NNFusePass(), NNToCLPass(), NNToTIRPass()):
        each.apply(ctx, module)
    (kernel,) = (op for op in module.ops if isinstance(op, tir.FuncOp))
    return module, ctx, kernel


def unrolled(kernel: tir.FuncOp) -> set[int]:
    loops = [op for op in kernel.walk() if isinstance(op, tir.ForOp)]
    return {loop.size for loop in loops if loop.kind.data is tir.LoopKind.Unrolled}


def test_choice_is_recorded():
    module, ctx, kernel = lowered()
    TIRAutoSchedulePass().apply(ctx, module)
    tile = kernel.tile
    assert isinstance(tile, DictionaryAttr)
    assert set(tile.data) == {"row", "rows", "col", "vectors", "width"}
    rows = tile.data["rows"]
    assert isinstance(rows, IntegerAttr)
    assert rows.value.data in unrolled(kernel)


def test_given_choice_is_taken():
    module, ctx, kernel = lowered()
    given = {"row": 0, "rows": 2, "col": 1, "vectors": 3, "width": 4}
    kernel.tile = DictionaryAttr({k: IntegerAttr(v, i64) for k, v in given.items()})
    TIRAutoSchedulePass().apply(ctx, module)
    vectorized = {
        op.size
        for op in kernel.walk()
        if isinstance(op, tir.ForOp) and op.kind.data is tir.LoopKind.Vectorized
    }
    assert (unrolled(kernel), vectorized) == ({2, 3}, {4})
