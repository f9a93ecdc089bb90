"""Hand-written kernels on every OpenCL runtime: conditional stores, and the order of effects."""

from __future__ import annotations

import numpy as np
import pytest

from support.tir.hand_written import run

RANDOM = np.random.default_rng(7)


@pytest.mark.parametrize("kind", ["serial", "vectorized"])
def test_conditional_store(device: str, kind: str) -> None:
    text = f"""
    tir.func @f(%x: memref<8xf32>, %y: memref<8xf32>) attributes {{outputs = array<i64: 1>}} {{
      tir.for {kind} %i = 0 to 8 {{
        %v = memref.load %x[%i] : memref<8xf32>
        %zero = arith.constant 0.0 : f32
        %test = arith.cmpf ogt, %v, %zero : f32
        %a, %b = scf.if %test -> (f32, f32) {{
          %root = math.sqrt %v : f32
          memref.store %root, %y[%i] : memref<8xf32>
          scf.yield %root, %v : f32, f32
        }} else {{
          scf.yield %zero, %zero : f32, f32
        }}
        %sum = arith.addf %a, %b : f32
        scf.if %test {{
          %old = memref.load %y[%i] : memref<8xf32>
          %new = arith.addf %old, %sum : f32
          memref.store %new, %y[%i] : memref<8xf32>
        }}
      }}
    }}
    """
    x = RANDOM.normal(size=8).astype(np.float32)
    y = RANDOM.normal(size=8).astype(np.float32)
    root = np.sqrt(np.maximum(x, 0))
    found = run(device, text, [x, y])[1]
    np.testing.assert_allclose(found, np.where(x > 0, root + root + x, y), rtol=1e-6)


def test_loads_stay_before_stores(device: str) -> None:
    """Two rows are exchanged: both loads happen before the first store."""
    text = """
    tir.func @f(%x: memref<2x8xf32>) attributes {outputs = array<i64: 0>} {
      tir.for vectorized %i = 0 to 8 {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %a = memref.load %x[%c0, %i] : memref<2x8xf32>
        %b = memref.load %x[%c1, %i] : memref<2x8xf32>
        memref.store %b, %x[%c0, %i] : memref<2x8xf32>
        memref.store %a, %x[%c1, %i] : memref<2x8xf32>
      }
    }
    """
    x = RANDOM.normal(size=(2, 8)).astype(np.float32)
    np.testing.assert_array_equal(run(device, text, [x])[0], x[::-1])


def test_register_is_read_before_it_changes(device: str) -> None:
    """A Fibonacci step in a loop: the old value of one register goes to the other."""
    text = """
    tir.func @f(%y: memref<2xi32>) attributes {outputs = array<i64: 0>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %pair = memref.alloca() : memref<2xi32, #tir.scope<private>>
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      memref.store %zero, %pair[%c0] : memref<2xi32, #tir.scope<private>>
      memref.store %one, %pair[%c1] : memref<2xi32, #tir.scope<private>>
      tir.for serial %i = 0 to 10 {
        %a = memref.load %pair[%c0] : memref<2xi32, #tir.scope<private>>
        %b = memref.load %pair[%c1] : memref<2xi32, #tir.scope<private>>
        %sum = arith.addi %a, %b : i32
        memref.store %b, %pair[%c0] : memref<2xi32, #tir.scope<private>>
        memref.store %sum, %pair[%c1] : memref<2xi32, #tir.scope<private>>
      }
      %a = memref.load %pair[%c0] : memref<2xi32, #tir.scope<private>>
      %b = memref.load %pair[%c1] : memref<2xi32, #tir.scope<private>>
      memref.store %a, %y[%c0] : memref<2xi32>
      memref.store %b, %y[%c1] : memref<2xi32>
    }
    """
    found = run(device, text, [np.zeros(2, np.int32)])[0]
    np.testing.assert_array_equal(found, [55, 89])


def test_one_lane_of_a_register(device: str) -> None:
    """Vector registers are also read and written element by element."""
    text = """
    tir.func @f(%x: memref<16xf32>, %y: memref<16xf32>) attributes {outputs = array<i64: 1>} {
      %t = memref.alloca() : memref<16xf32, #tir.scope<private>>
      tir.for unrolled %h = 0 to 2 {
        tir.for vectorized %j = 0 to 8 {
          %at = affine.apply affine_map<(d0, d1) -> (d0 * 8 + d1)> (%h, %j)
          %v = memref.load %x[%at] : memref<16xf32>
          memref.store %v, %t[%at] : memref<16xf32, #tir.scope<private>>
        }
      }
      tir.for unrolled %j = 0 to 15 {
        %next = affine.apply affine_map<(d0) -> (d0 + 1)> (%j)
        %a = memref.load %t[%j] : memref<16xf32, #tir.scope<private>>
        %b = memref.load %t[%next] : memref<16xf32, #tir.scope<private>>
        %sum = arith.addf %a, %b : f32
        memref.store %sum, %t[%next] : memref<16xf32, #tir.scope<private>>
      }
      tir.for unrolled %h = 0 to 2 {
        tir.for vectorized %j = 0 to 8 {
          %at = affine.apply affine_map<(d0, d1) -> (d0 * 8 + d1)> (%h, %j)
          %back = affine.apply affine_map<(d0, d1) -> (15 - d0 * 8 - d1)> (%h, %j)
          %v = memref.load %t[%back] : memref<16xf32, #tir.scope<private>>
          memref.store %v, %y[%at] : memref<16xf32>
        }
      }
    }
    """
    x = RANDOM.integers(0, 9, 16).astype(np.float32)
    found = run(device, text, [x, x * 0])[1]
    np.testing.assert_array_equal(found, np.cumsum(x)[::-1])
