"""The description of scheduled kernels, beside what their loops compute by arithmetic."""

from __future__ import annotations

import pytest

import clopt
from clopt.dialects import tir
from clopt.passes.estimate import LaunchWork, work_of
from clopt.passes.estimate.work import AccessSpace, LanePattern

PRODUCT = """
func.func @main(%a: tensor<64x96xf32>, %b: tensor<96x128xf32>) -> tensor<64x128xf32> {{
  %c = nn.matmul %a, %b : (tensor<64x96xf32>, tensor<96x128xf32>) -> tensor<64x128xf32>
  {tail}
}}
"""
PLAIN = "func.return %c : tensor<64x128xf32>"
EXPONENTIAL = """%e = nn.unary exp %c : (tensor<64x128xf32>) -> tensor<64x128xf32>
  func.return %e : tensor<64x128xf32>"""
TARGETS = ["pocl", "pocl vector_width=16", "nvidia texture=off split_results=0", "generic-gpu"]


def works(text: str, target: str) -> list[LaunchWork]:
    """Return the descriptions of the kernels of a network."""
    module = clopt.run_pipeline(text, "opencl", target)
    return [work_of(op) for op in module.ops if isinstance(op, tir.FuncOp)]


def slots(work: LaunchWork, *, functions: bool) -> float:
    """Return the operations on floats of a launch."""
    items = work.groups * work.group_items
    return items * sum(
        phase.times * each.count * each.lanes
        for phase in work.phases
        for each in phase.arithmetic
        if each.is_function is functions and each.slots >= 1
    )


@pytest.mark.parametrize("target", TARGETS)
def test_a_product_has_its_multiply_adds(target):
    (work,) = works(PRODUCT.format(tail=PLAIN), target)
    assert slots(work, functions=False) == 64 * 96 * 128


@pytest.mark.parametrize("target", ["pocl", "nvidia texture=off split_results=0"])
def test_functions_of_results_are_counted_once_each(target):
    (work,) = works(PRODUCT.format(tail=EXPONENTIAL), target)
    assert slots(work, functions=True) == 64 * 128


def test_a_register_tile_loads_each_operand_once_a_step():
    (work,) = works(PRODUCT.format(tail=PLAIN), "pocl")
    inner = max(work.phases, key=lambda phase: phase.times)
    loads = [access for access in inner.accesses if not access.is_store]
    rows = next(a.count for a in loads if a.pattern is LanePattern.SCALAR)
    vectors = next(a.count for a in loads if a.pattern is LanePattern.CONTIGUOUS)
    (mads,) = (each.count for each in inner.arithmetic)
    assert mads == rows * vectors > rows
    # The sums stay in registers: nothing is stored in the loop.
    assert not any(access.is_store for access in inner.accesses)
    assert work.private_bytes == 4 * 8 * mads


def test_panels_in_local_memory_have_barriers():
    (work,) = works(PRODUCT.format(tail=PLAIN), "nvidia texture=off split_results=0")
    spaces = {access.space for phase in work.phases for access in phase.accesses}
    assert {AccessSpace.LOCAL, AccessSpace.GLOBAL} <= spaces
    assert any(phase.barriers for phase in work.phases)
    fetched = [stream for stream in work.streams if not stream.is_store]
    assert {stream.buffer_bytes for stream in fetched} == {4 * 64 * 96, 4 * 96 * 128}


def test_texels_are_read_once_for_four_lanes():
    text = """
    func.func @main(%x: tensor<1x8x32x32xf32>) -> tensor<1x8x32x32xf32> {
      %y = nn.unary relu %x : (tensor<1x8x32x32xf32>) -> tensor<1x8x32x32xf32>
      %p = nn.pool max %y {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>,
          dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} :
          (tensor<1x8x32x32xf32>) -> tensor<1x8x32x32xf32>
      func.return %p : tensor<1x8x32x32xf32>
    }"""
    texels = [
        access
        for work in works(text, "adreno-740 texture=prefer")
        for phase in work.phases
        for access in phase.accesses
        if access.space is AccessSpace.TEXTURE
    ]
    assert texels
    assert all(access.lanes == tir.TEXEL for access in texels)
