"""Hand-written kernels on every OpenCL runtime: loops, memory, guards and vector code."""

from __future__ import annotations

import numpy as np
import pytest

from clopt.backends.opencl_c import emit
from support.tir.hand_written import parse, run

RANDOM = np.random.default_rng(7)
MATMUL = """
tir.func @matmul(%a: memref<{k}x6xf32>, %b: memref<{k}x16xf32>, %y: memref<6x16xf32>)
    attributes {{outputs = array<i64: 2>}} {{
  %acc = memref.alloca() : memref<6x16xf32, #tir.scope<private>>
  %zero = arith.constant 0.0 : f32
  tir.for unrolled %i = 0 to 6 {{
    tir.for unrolled %half = 0 to 2 {{
      tir.for vectorized %j = 0 to 8 {{
        %c = affine.apply affine_map<(d0, d1) -> (d0 * 8 + d1)> (%half, %j)
        memref.store %zero, %acc[%i, %c] : memref<6x16xf32, #tir.scope<private>>
      }}
    }}
  }}
  tir.for serial %k = 0 to {k} {{
    tir.for unrolled %i = 0 to 6 {{
      tir.for unrolled %half = 0 to 2 {{
        tir.for vectorized %j = 0 to 8 {{
          %c = affine.apply affine_map<(d0, d1) -> (d0 * 8 + d1)> (%half, %j)
          %av = memref.load %a[%k, %i] : memref<{k}x6xf32>
          %bv = memref.load %b[%k, %c] : memref<{k}x16xf32>
          %p = arith.mulf %av, %bv : f32
          %old = memref.load %acc[%i, %c] : memref<6x16xf32, #tir.scope<private>>
          %new = arith.addf %old, %p : f32
          memref.store %new, %acc[%i, %c] : memref<6x16xf32, #tir.scope<private>>
        }}
      }}
    }}
  }}
  tir.for unrolled %i = 0 to 6 {{
    tir.for unrolled %half = 0 to 2 {{
      tir.for vectorized %j = 0 to 8 {{
        %c = affine.apply affine_map<(d0, d1) -> (d0 * 8 + d1)> (%half, %j)
        %v = memref.load %acc[%i, %c] : memref<6x16xf32, #tir.scope<private>>
        memref.store %v, %y[%i, %c] : memref<6x16xf32>
      }}
    }}
  }}
}}
"""


def test_register_tile(device: str) -> None:
    a = RANDOM.normal(size=(50, 6)).astype(np.float32)
    b = RANDOM.normal(size=(50, 16)).astype(np.float32)
    out = np.zeros((6, 16), np.float32)
    found = run(device, MATMUL.format(k=50), [a, b, out])[2]
    np.testing.assert_allclose(found, a.T @ b, rtol=1e-4, atol=1e-5)


def test_local_memory_and_barriers(device: str) -> None:
    """A 32x32 matmul in tiles of 8x8; every work-item loads one element of both tiles."""
    text = """
    tir.func @f(%a: memref<32x32xf32>, %b: memref<32x32xf32>, %y: memref<32x32xf32>)
        attributes {outputs = array<i64: 2>, global_size = array<i64: 32, 32>,
                    local_size = array<i64: 8, 8>} {
      tir.for group_y %by = 0 to 4 {
      tir.for group_x %bx = 0 to 4 {
      tir.for local_y %ty = 0 to 8 {
      tir.for local_x %tx = 0 to 8 {
        %ta = memref.alloca() : memref<8x8xf32, #tir.scope<local>>
        %tb = memref.alloca() : memref<8x8xf32, #tir.scope<local>>
        %acc = memref.alloca() : memref<1xf32, #tir.scope<private>>
        %c0 = arith.constant 0 : index
        %zero = arith.constant 0.0 : f32
        memref.store %zero, %acc[%c0] : memref<1xf32, #tir.scope<private>>
        %row = affine.apply affine_map<(d0, d1) -> (d0 * 8 + d1)> (%by, %ty)
        %col = affine.apply affine_map<(d0, d1) -> (d0 * 8 + d1)> (%bx, %tx)
        tir.for serial %t = 0 to 4 {
          %ka = affine.apply affine_map<(d0, d1) -> (d0 * 8 + d1)> (%t, %tx)
          %kb = affine.apply affine_map<(d0, d1) -> (d0 * 8 + d1)> (%t, %ty)
          %va = memref.load %a[%row, %ka] : memref<32x32xf32>
          %vb = memref.load %b[%kb, %col] : memref<32x32xf32>
          memref.store %va, %ta[%ty, %tx] : memref<8x8xf32, #tir.scope<local>>
          memref.store %vb, %tb[%ty, %tx] : memref<8x8xf32, #tir.scope<local>>
          tir.barrier
          tir.for unrolled %k = 0 to 8 {
            %x = memref.load %ta[%ty, %k] : memref<8x8xf32, #tir.scope<local>>
            %z = memref.load %tb[%k, %tx] : memref<8x8xf32, #tir.scope<local>>
            %p = arith.mulf %x, %z : f32
            %old = memref.load %acc[%c0] : memref<1xf32, #tir.scope<private>>
            %new = arith.addf %old, %p : f32
            memref.store %new, %acc[%c0] : memref<1xf32, #tir.scope<private>>
          }
          tir.barrier
        }
        %r = memref.load %acc[%c0] : memref<1xf32, #tir.scope<private>>
        memref.store %r, %y[%row, %col] : memref<32x32xf32>
      }}}}
    }
    """
    a, b = RANDOM.normal(size=(2, 32, 32)).astype(np.float32)
    found = run(device, text, [a, b, np.zeros_like(a)], (32, 32), (8, 8))[2]
    np.testing.assert_allclose(found, a @ b, rtol=1e-4, atol=1e-5)


def test_guard_of_a_padded_launch(device: str) -> None:
    text = """
    tir.func @f(%x: memref<5x7xf32>, %y: memref<5x7xf32>)
        attributes {outputs = array<i64: 1>, global_size = array<i64: 8, 5>} {
      tir.for global_y %i = 0 to 5 {
        tir.for global_x %j = 0 to 7 {
          %v = memref.load %x[%i, %j] : memref<5x7xf32>
          %r = arith.addf %v, %v : f32
          memref.store %r, %y[%i, %j] : memref<5x7xf32>
        }
      }
    }
    """
    x = RANDOM.normal(size=(5, 7)).astype(np.float32)
    assert "if (j < 7) {" in emit(parse(text))
    np.testing.assert_array_equal(run(device, text, [x, x * 0], (8, 5))[1], x * 2)


@pytest.mark.parametrize("scope", ["serial", "vectorized"])
def test_padding_reads_nothing_outside(device: str, scope: str) -> None:
    """A guarded load: in vector code the lanes have different conditions."""
    text = f"""
    tir.func @f(%x: memref<8xf32>, %y: memref<3x8xf32>) attributes {{outputs = array<i64: 1>}} {{
      tir.for unrolled %k = 0 to 3 {{
        tir.for {scope} %i = 0 to 8 {{
          %at = affine.apply affine_map<(d0, d1) -> (d0 + d1 * 3 - 3)> (%i, %k)
          %c0 = arith.constant 0 : index
          %c8 = arith.constant 8 : index
          %low = arith.cmpi sge, %at, %c0 : index
          %high = arith.cmpi slt, %at, %c8 : index
          %inside = arith.andi %low, %high : i1
          %v = scf.if %inside -> (f32) {{
            %in = memref.load %x[%at] : memref<8xf32>
            scf.yield %in : f32
          }} else {{
            %zero = arith.constant 0.0 : f32
            scf.yield %zero : f32
          }}
          memref.store %v, %y[%k, %i] : memref<3x8xf32>
        }}
      }}
    }}
    """
    x = RANDOM.normal(size=8).astype(np.float32)
    padded = np.pad(x, 3)
    expected = np.stack([padded[:8], x, padded[6:]])
    np.testing.assert_array_equal(run(device, text, [x, expected * 0])[1], expected)


def test_reduction_over_the_lanes(device: str) -> None:
    """Lanes that store to one place take turns."""
    text = """
    tir.func @f(%x: memref<4x8xf32>, %y: memref<4xf32>) attributes {outputs = array<i64: 1>} {
      tir.for global_x %i = 0 to 4 {
        %acc = memref.alloca() : memref<f32, #tir.scope<private>>
        %zero = arith.constant 0.0 : f32
        memref.store %zero, %acc[] : memref<f32, #tir.scope<private>>
        tir.for vectorized %j = 0 to 8 {
          %v = memref.load %x[%i, %j] : memref<4x8xf32>
          %old = memref.load %acc[] : memref<f32, #tir.scope<private>>
          %new = arith.maximumf %old, %v : f32
          memref.store %new, %acc[] : memref<f32, #tir.scope<private>>
        }
        %r = memref.load %acc[] : memref<f32, #tir.scope<private>>
        memref.store %r, %y[%i] : memref<4xf32>
      }
    }
    """
    x = RANDOM.normal(size=(4, 8)).astype(np.float32)
    x[2, 5] = np.nan
    found = run(device, text, [x, np.zeros(4, np.float32)], (4,))[1]
    np.testing.assert_array_equal(found, np.maximum(x.max(axis=1), 0))


@pytest.mark.parametrize("kind", ["serial", "unrolled", "vectorized"])
def test_each_lane_has_its_own_buffer(device: str, kind: str) -> None:
    """A buffer of a vectorized loop: registers, and an array where the index is not constant."""
    text = f"""
    tir.func @f(%x: memref<5x8xf32>, %y: memref<8xf32>) attributes {{outputs = array<i64: 1>}} {{
      tir.for {kind} %j = 0 to 8 {{
        %acc = memref.alloca() : memref<1xf32, #tir.scope<private>>
        %all = memref.alloca() : memref<5xf32, #tir.scope<private>>
        %c0 = arith.constant 0 : index
        %zero = arith.constant 0.0 : f32
        memref.store %zero, %acc[%c0] : memref<1xf32, #tir.scope<private>>
        tir.for serial %k = 0 to 5 {{
          %v = memref.load %x[%k, %j] : memref<5x8xf32>
          memref.store %v, %all[%k] : memref<5xf32, #tir.scope<private>>
        }}
        tir.for serial %k = 0 to 5 {{
          %back = affine.apply affine_map<(d0) -> (4 - d0)> (%k)
          %v = memref.load %all[%back] : memref<5xf32, #tir.scope<private>>
          %old = memref.load %acc[%c0] : memref<1xf32, #tir.scope<private>>
          %half = arith.constant 0.5 : f32
          %scaled = arith.mulf %old, %half : f32
          %new = arith.addf %scaled, %v : f32
          memref.store %new, %acc[%c0] : memref<1xf32, #tir.scope<private>>
        }}
        %r = memref.load %acc[%c0] : memref<1xf32, #tir.scope<private>>
        memref.store %r, %y[%j] : memref<8xf32>
      }}
    }}
    """
    x = RANDOM.normal(size=(5, 8)).astype(np.float32)
    expected = np.zeros(8, np.float32)
    for row in x[::-1]:
        expected = expected * np.float32(0.5) + row
    found = run(device, text, [x, np.zeros(8, np.float32)])[1]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_same_input_same_bytes() -> None:
    text = MATMUL.format(k=50)
    assert emit(parse(text)) == emit(parse(text))
