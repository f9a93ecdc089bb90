"""The work of kernels, small enough to count by hand."""

from __future__ import annotations

from xdsl.parser import Parser

from clopt.context import CloptContext
from clopt.dialects import tir
from clopt.passes.tir.work import KernelWork, kernel_work


def work(body: str) -> KernelWork:
    """The work of a kernel with the parameters %x and %y, 8 floats each, and %table, 1000."""
    params = "%x: memref<8xf32>, %table: memref<1000xf32>, %y: memref<8xf32>"
    text = f"tir.func @k({params}) attributes {{outputs = array<i64: 2>}} {{\n{body}\n}}"
    kernel = Parser(CloptContext(), text).parse_module().body.block.first_op
    assert isinstance(kernel, tir.FuncOp)
    return kernel_work(kernel)


def test_loops_multiply_and_a_product_joins_its_sum() -> None:
    counted = work("""
      %c = arith.constant 2.0 : f32
      tir.for global_x %i = 0 to 4 {
        tir.for serial %j = 0 to 3 {
          %v = memref.load %x[%i] : memref<8xf32>
          %a = arith.mulf %v, %c : f32
          %b = arith.addf %a, %v : f32
          memref.store %b, %y[%i] : memref<8xf32>
        }
      }
    """)
    # 12 loads and stores of 8 floats each are 8.
    assert counted == KernelWork(multiply_adds=4 * 3, bytes=2 * 32)


def test_a_sum_of_two_products_is_a_product_and_a_multiply_add() -> None:
    counted = work("""
      tir.for global_x %i = 0 to 8 {
        %v = memref.load %x[%i] : memref<8xf32>
        %a = arith.mulf %v, %v : f32
        %b = arith.mulf %v, %v : f32
        %c = arith.addf %a, %b : f32
        memref.store %c, %y[%i] : memref<8xf32>
      }
    """)
    assert counted.multiply_adds == 8 * 2


def test_a_product_of_two_uses_stands_alone() -> None:
    counted = work("""
      tir.for global_x %i = 0 to 8 {
        %v = memref.load %x[%i] : memref<8xf32>
        %a = arith.mulf %v, %v : f32
        %b = arith.addf %a, %v : f32
        %c = math.exp %b : f32
        %d = arith.subf %c, %a : f32
        %e = tir.call "erf"(%d) : (f32) -> f32
        memref.store %e, %y[%i] : memref<8xf32>
      }
    """)
    assert counted.multiply_adds == 8 * 5


def test_what_is_not_accessed_is_not_moved() -> None:
    counted = work("""
      tir.for global_x %i = 0 to 6 {
        %v = memref.load %table[%i] : memref<1000xf32>
        memref.store %v, %y[%i] : memref<8xf32>
      }
    """)
    assert counted == KernelWork(multiply_adds=0, bytes=4 * (6 + 6))


def test_a_part_of_a_joint_kernel_counts_as_often_as_it_runs() -> None:
    counted = work("""
      tir.for global_x %i = 0 to 8 {
        %a = affine.apply affine_map<(d0) -> ((d0 * 3 + 7) floordiv 8)> (%i)
        %b = affine.apply affine_map<(d0) -> ((d0 * 3 + 10) floordiv 8)> (%i)
        %is_one = arith.cmpi slt, %a, %b : index
        scf.if %is_one {
          tir.for serial %j = 0 to 5 {
            %v = memref.load %x[%a] : memref<8xf32>
            %w = arith.negf %v : f32
            memref.store %w, %y[%a] : memref<8xf32>
          }
        }
      }
    """)
    assert counted.multiply_adds == 3 * 5


def test_the_side_of_a_condition_that_computes_more_counts() -> None:
    counted = work("""
      %c4 = arith.constant 4 : index
      tir.for global_x %i = 0 to 8 {
        %v = memref.load %x[%i] : memref<8xf32>
        %inside = arith.cmpi slt, %i, %c4 : index
        scf.if %inside {
          %a = math.exp %v : f32
          memref.store %a, %y[%i] : memref<8xf32>
        } else {
          %a = math.exp %v : f32
          %b = arith.negf %a : f32
          memref.store %b, %y[%i] : memref<8xf32>
        }
      }
    """)
    assert counted.multiply_adds == 8 * 2
