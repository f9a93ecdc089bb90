"""Hand-written kernels on every OpenCL runtime: strides, gathers and arithmetic on indices."""

from __future__ import annotations

import numpy as np
import pytest

from support.tir.hand_written import run

RANDOM = np.random.default_rng(7)


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
