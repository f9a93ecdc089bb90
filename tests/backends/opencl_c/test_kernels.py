"""Hand-written kernels on every OpenCL runtime: loops, memory, guards and vector code."""

from __future__ import annotations

import numpy as np
import pytest

from clopt.backends.opencl_c import emit
from clopt.dialects.cl.target import Target
from clopt.errors import CloptError
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


@pytest.mark.parametrize("width", [3, 4, 8, 16])
def test_strides_and_reversal(device: str, width: int) -> None:
    n = 2 * width
    text = f"""
    tir.func @f(%x: memref<{n}xf32>, %y: memref<4x{width}xf32>, %z: memref<{n}xf32>)
        attributes {{outputs = array<i64: 1, 2>}} {{
      tir.for vectorized %j = 0 to {width} {{
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c2 = arith.constant 2 : index
        %c3 = arith.constant 3 : index
        %even = affine.apply affine_map<(d0) -> (d0 * 2)> (%j)
        %odd = affine.apply affine_map<(d0) -> (d0 * -2 + {n - 1})> (%j)
        %back = affine.apply affine_map<(d0) -> ({n - 1} - d0)> (%j)
        %pair = affine.apply affine_map<(d0) -> (d0 floordiv 2)> (%j)
        %a = memref.load %x[%even] : memref<{n}xf32>
        %b = memref.load %x[%back] : memref<{n}xf32>
        %c = memref.load %x[%pair] : memref<{n}xf32>
        %d = memref.load %x[%odd] : memref<{n}xf32>
        memref.store %a, %y[%c0, %j] : memref<4x{width}xf32>
        memref.store %b, %y[%c1, %j] : memref<4x{width}xf32>
        memref.store %c, %y[%c2, %j] : memref<4x{width}xf32>
        memref.store %d, %y[%c3, %j] : memref<4x{width}xf32>
        memref.store %a, %z[%even] : memref<{n}xf32>
      }}
    }}
    """
    x = RANDOM.normal(size=n).astype(np.float32)
    _, y, z = run(device, text, [x, np.zeros((4, width), np.float32), x * 0])
    expected = [x[::2], x[::-1][:width], x[np.arange(width) // 2], x[::-2]]
    np.testing.assert_array_equal(y, np.stack(expected))
    np.testing.assert_array_equal(z[::2], x[::2])


@pytest.mark.parametrize("kind", ["serial", "vectorized"])
def test_gather_with_negative_indices(device: str, kind: str) -> None:
    text = f"""
    tir.func @f(%x: memref<10x3xf32>, %at: memref<8xi64>, %y: memref<8x3xf32>)
        attributes {{outputs = array<i64: 2>}} {{
      tir.for serial %j = 0 to 3 {{
        tir.for {kind} %i = 0 to 8 {{
          %raw = memref.load %at[%i] : memref<8xi64>
          %zero = arith.constant 0 : i64
          %ten = arith.constant 10 : i64
          %negative = arith.cmpi slt, %raw, %zero : i64
          %wrapped = arith.addi %raw, %ten : i64
          %chosen = arith.select %negative, %wrapped, %raw : i64
          %row = arith.index_cast %chosen : i64 to index
          %v = memref.load %x[%row, %j] : memref<10x3xf32>
          memref.store %v, %y[%i, %j] : memref<8x3xf32>
        }}
      }}
    }}
    """
    x = RANDOM.normal(size=(10, 3)).astype(np.float32)
    at = np.array([0, -1, 9, -10, 3, 3, 5, -4])
    found = run(device, text, [x, at, np.zeros((8, 3), np.float32)])[2]
    np.testing.assert_array_equal(found, x[at])


@pytest.mark.parametrize("kind", ["serial", "unrolled", "vectorized"])
def test_index_arithmetic_of_negative_numbers(device: str, kind: str) -> None:
    """Quotients and remainders round down, for known and for unknown dividends."""
    maps = ["(d0 - 5) floordiv 3", "(d0 - 5) mod 3", "d1 floordiv 3", "d1 mod 3", "d1 mod 4"]
    maps += ["d1 floordiv 4", "(d1 * 2 - d0) floordiv 5", "(d0 * 3 + 1) mod 4"]
    stores = ""
    for n, expr in enumerate(maps):
        stores += f"""
        %m{n} = affine.apply affine_map<(d0, d1) -> ({expr})> (%i, %d)
        %w{n} = arith.index_cast %m{n} : index to i32
        %c{n} = arith.constant {n} : index
        memref.store %w{n}, %y[%c{n}, %i] : memref<{len(maps)}x8xi32>
        """
    text = f"""
    tir.func @f(%x: memref<8xi32>, %y: memref<{len(maps)}x8xi32>)
        attributes {{outputs = array<i64: 1>}} {{
      tir.for {kind} %i = 0 to 8 {{
        %v = memref.load %x[%i] : memref<8xi32>
        %d = arith.index_cast %v : i32 to index
        {stores}
      }}
    }}
    """
    x = np.array([-9, -4, -3, -1, 0, 2, 7, 100], np.int32)
    d0, d1 = np.arange(8), x
    names = {"d0": d0, "d1": d1}
    expected = [eval(e.replace("floordiv", "//").replace("mod", "%"), {}, names) for e in maps]
    found = run(device, text, [x, np.zeros((len(maps), 8), np.int32)])[1]
    np.testing.assert_array_equal(found, np.stack(expected))


def test_index_select_and_clamp(device: str) -> None:
    """Indices that are not affine: clamped to the edge, and chosen."""
    text = """
    tir.func @f(%x: memref<6xf32>, %y: memref<10xf32>) attributes {outputs = array<i64: 1>} {
      tir.for serial %i = 0 to 10 {
        %c0 = arith.constant 0 : index
        %c5 = arith.constant 5 : index
        %c8 = arith.constant 8 : index
        %shifted = affine.apply affine_map<(d0) -> (d0 - 2)> (%i)
        %low = arith.maxsi %shifted, %c0 : index
        %clamped = arith.minsi %low, %c5 : index
        %last = arith.cmpi sgt, %i, %c8 : index
        %at = arith.select %last, %c0, %clamped : index
        %v = memref.load %x[%at] : memref<6xf32>
        memref.store %v, %y[%i] : memref<10xf32>
      }
    }
    """
    x = RANDOM.normal(size=6).astype(np.float32)
    expected = np.append(np.pad(x, (2, 1), mode="edge"), x[0])
    found = run(device, text, [x, np.zeros(10, np.float32)])[1]
    np.testing.assert_array_equal(found, expected)


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


def test_a_view_with_strides(device: str) -> None:
    text = """
    tir.func @f(%x: memref<3x4xf32, strided<[8, 2], offset: 1>>, %y: memref<3x4xf32>)
        attributes {outputs = array<i64: 1>} {
      tir.for serial %i = 0 to 3 {
        tir.for vectorized %j = 0 to 4 {
          %v = memref.load %x[%i, %j] : memref<3x4xf32, strided<[8, 2], offset: 1>>
          memref.store %v, %y[%i, %j] : memref<3x4xf32>
        }
      }
    }
    """
    x = RANDOM.normal(size=(3, 8)).astype(np.float32)
    found = run(device, text, [x, np.zeros((3, 4), np.float32)])[1]
    np.testing.assert_array_equal(found, x[:, 1::2])


def test_same_input_same_bytes() -> None:
    text = MATMUL.format(k=50)
    assert emit(parse(text)) == emit(parse(text))


@pytest.mark.parametrize(
    ("body", "target", "message"),
    [
        ("%y: memref<1xf64>", Target(name="phone", fp64=False), "phone has no double precision"),
        (", ".join(f"%p{i}: memref<1xf32>" for i in range(129)), Target(), "129 buffers"),
        (
            "%y: memref<1xf32, #tir.scope<private>>",
            Target(),
            "parameter y of a kernel is in private",
        ),
        ("%y: memref<1xi24>", Target(), "OpenCL C has no element type i24"),
        ("%y: memref<?xf32>", Target(), "static shapes"),
    ],
)
def test_refusals(body: str, target: Target, message: str) -> None:
    text = f"tir.func @f({body}) attributes {{outputs = array<i64>}} {{ }}"
    with pytest.raises(CloptError, match=message):
        emit(parse(text), target)


def test_refuses_a_barrier_that_not_all_reach() -> None:
    text = """
    tir.func @f(%y: memref<7xf32>)
        attributes {outputs = array<i64: 0>, global_size = array<i64: 8>} {
      tir.for global_x %i = 0 to 7 { tir.barrier }
    }
    """
    with pytest.raises(CloptError, match="only 7 of 8 work-items reach"):
        emit(parse(text))
