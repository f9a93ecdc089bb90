"""No access that a kernel really makes contradicts a pair that `tir-mark-in-place` notes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp

from clopt.context import CloptContext
from clopt.dialects import cl, tir
from clopt.messages.source import Source, SourceModule
from clopt.passes.cl.pack_constants import CLPackConstantsPass
from clopt.passes.nn.choose import NNChoosePass
from clopt.passes.nn.fuse import NNFusePass
from clopt.passes.nn.to_cl import NNToCLPass
from clopt.passes.nn.to_tir import NNToTIRPass
from clopt.passes.tir.apply_plan import TIRApplyPlanPass
from clopt.passes.tir.choose_plan import TIRChoosePlanPass
from clopt.passes.tir.lower_blocks import TIRLowerBlocksPass
from clopt.passes.tir.lower_textures import TIRLowerTexturesPass
from clopt.passes.tir.mark_in_place import TIRMarkInPlacePass
from clopt.targets import TargetChoice
from clopt.weights import Weights
from support import effort
from support.nn import random_networks as nets
from support.tir import interpreter
from support.tir.accesses import may_share, watch
from support.tir.hand_written import parse

PACKED = cl.Target.from_facts(
    "generic",
    {
        "device_type": "gpu",
        "vector_width": 4,
        "texture": "prefer",
        "images": True,
        "max_image_width": 4096,
        "max_image_height": 4096,
        "max_read_images": 8,
        "max_write_images": 8,
    },
)
PIPELINE = (
    NNChoosePass(),
    NNFusePass(),
    NNToCLPass(),
    NNToTIRPass(),
    TIRChoosePlanPass(),
    TIRApplyPlanPass(),
    CLPackConstantsPass(),
    TIRLowerBlocksPass(),
    TIRLowerTexturesPass(),
    TIRMarkInPlacePass(),
)


def kernels(module: ModuleOp, weights: Weights, target: cl.Target) -> list[tir.FuncOp]:
    """The lowered kernels of a module with their pairs."""
    cl.set_target(module, target)
    ctx = CloptContext(weights=weights)
    for step in PIPELINE:
        step.apply(ctx, module)
    module.verify()
    return [op for op in module.ops if isinstance(op, tir.FuncOp)]


def wrong_pairs(kernel: tir.FuncOp) -> Sequence[tuple[int, int]]:
    """The pairs of a kernel that its accesses contradict."""
    if not kernel.in_place_pairs:
        return []
    logs = watch(kernel)
    return [(i, o) for i, o in kernel.in_place_pairs if not may_share(logs[i], logs[o])]


@pytest.mark.parametrize(
    "family",
    [nets.convolution, nets.matmul, nets.reduction, nets.normalization, nets.movement, nets.graph],
)
@settings(max_examples=effort.examples(25))
@given(data=st.data())
def test_no_access_contradicts_a_pair(
    family: Callable[[nets.Network], ModuleOp], data: st.DataObject
) -> None:
    net = nets.Network(data)
    module = family(net)
    target = data.draw(st.one_of(nets.TARGETS, nets.TARGETS, st.just(PACKED)), label="target")
    for kernel in kernels(module, net.weights, target):
        assert wrong_pairs(kernel) == []


INSERT = """
!x = tensor<1x2x9x16xf32>
!n = tensor<1x2x1x16xf32>
func.func @main(%x: !x {nn.name = "x"}, %n: !n {nn.name = "n"})
    -> (!x {nn.name = "y", nn.in_place = "x"}) {
  %at = nn.constant dense<6> : tensor<i32>
  %y = nn.insert_slice %x, %n, %at {axis = 2 : i64} : (!x, !n, tensor<i32>) -> !x
  func.return %y : !x
}
"""


@pytest.mark.parametrize("target", ["nvidia", "pocl"])
def test_an_insert_computes_the_same_in_place(target: str) -> None:
    ctx = CloptContext()
    module = SourceModule.parse(ctx, Source("insert.mlir", INSERT)).module
    (kernel,) = kernels(module, ctx.weights, TargetChoice.parse(target).load())
    assert kernel.in_place_pairs == ((0, 2),)
    random = np.random.default_rng(0)
    x, new = (random.standard_normal((1, 2, n, 16), np.float32) for n in (9, 1))
    expected = x.copy()
    expected[:, :, 6:7] = new
    interpreter.run(kernel, [x, new, x])
    np.testing.assert_array_equal(x, expected)


OVERLAPPING = """
tir.func @insert(%x: memref<3x4xf32>, %new: memref<4xf32>, %at: memref<i32>, %y: memref<3x4xf32>)
    attributes {outputs = array<i64: 3>, global_size = array<i64: 2>} {
  tir.for global_x %g = 0 to 2 {
    tir.for serial %k = 0 to 2 {
      tir.for vectorized %j = 0 to 4 {
        %i = affine.apply affine_map<(d0, d1) -> (d0 + d1)> (%g, %k)
        %row = arith.index_cast %i : index to i32
        %p = memref.load %at[] : memref<i32>
        %hit = arith.cmpi eq, %row, %p : i32
        %v = scf.if %hit -> (f32) {
          %n = memref.load %new[%j] : memref<4xf32>
          scf.yield %n : f32
        } else {
          %old = memref.load %x[%i, %j] : memref<3x4xf32>
          scf.yield %old : f32
        }
        memref.store %v, %y[%i, %j] : memref<3x4xf32>
      }
    }
  }
}
cl.program @main(%x: memref<3x4xf32> {cl.name = "x"}, %new: memref<4xf32> {cl.name = "new"},
                 %at: memref<i32> {cl.name = "at"},
                 %y: memref<3x4xf32> {cl.name = "y", cl.in_place = "x"}) inputs 3 {
  cl.enqueue_kernel @insert(%x, %new, %at, %y) :
      memref<3x4xf32>, memref<4xf32>, memref<i32>, memref<3x4xf32>
  cl.return
}
"""


@pytest.mark.parametrize("row", [0, 1, 2, 7])
def test_two_work_items_may_insert_a_row(row: int) -> None:
    """Both compute the middle row, so the first proof, by the order of accesses, rules it out."""
    module = parse(OVERLAPPING)
    TIRMarkInPlacePass().apply(CloptContext(), module)
    kernel = next(op for op in module.ops if isinstance(op, tir.FuncOp))
    assert wrong_pairs(kernel) == [(0, 3)]
    x, new = np.arange(12, dtype=np.float32).reshape(3, 4), np.full(4, -1, np.float32)
    expected = x.copy()
    expected[row : row + 1] = new
    interpreter.run(kernel, [x, new, np.array(row, np.int32), x])
    np.testing.assert_array_equal(x, expected)
