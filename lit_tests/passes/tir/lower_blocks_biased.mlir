// RUN: clopt %s -p tir-lower-blocks | filecheck %s

// A sum starts from the bias that its reader adds to it,
// CHECK-LABEL: @rectified(
// CHECK:         tir.for parallel %i = 0 to 4 {
// CHECK-NEXT:      %bias = memref.load %b[%i] : memref<4xf32>
// CHECK-NEXT:      memref.store %bias, %s[%i]
// CHECK:         tir.for parallel %o = 0 to 4 {
// CHECK-NEXT:      %total = memref.load %s[%o] : memref<4xf32, #tir.scope<private>>
// CHECK-NEXT:      %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:      %rectified = arith.maximumf %total, %zero : f32
// but not where a quotient would magnify how its sum rounds,
// CHECK-LABEL: @inverse(
// CHECK:         arith.constant 0.000000e+00 : f32
// CHECK:         arith.addf %total, %bias : f32
// nor where another value of the reader needs the sum itself.
// CHECK-LABEL: @both(
// CHECK:         arith.constant 0.000000e+00 : f32
// CHECK:         arith.addf %total, %bias : f32
builtin.module attributes {cl.target = #cl.target<"gpu", {biased_sums = true}>} {
  tir.func @rectified(%x: memref<4x8xf32>, %b: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = array<i64: 2>} {
    %s = memref.alloca() : memref<4xf32, #tir.scope<private>>
    tir.for parallel %i = 0 to 4 {
      tir.for serial %k = 0 to 8 {
        tir.block "sum" (%vi: spatial 4, %vk: reduce 8) = affine_map<(d0, d1) -> (d0, d1)> (%i, %k) init [0.0 : f32] {
          %old = memref.load %s[%vi] : memref<4xf32, #tir.scope<private>>
          %a = memref.load %x[%vi, %vk] : memref<4x8xf32>
          %new = arith.addf %old, %a : f32
          memref.store %new, %s[%vi] : memref<4xf32, #tir.scope<private>>
        }
      }
    }
    tir.for parallel %o = 0 to 4 {
      tir.block "out" (%vo: spatial 4) = affine_map<(d0) -> (d0)> (%o) {
        %total = memref.load %s[%vo] : memref<4xf32, #tir.scope<private>>
        %bias = memref.load %b[%vo] : memref<4xf32>
        %biased = arith.addf %total, %bias : f32
        %zero = arith.constant 0.0 : f32
        %rectified = arith.maximumf %biased, %zero : f32
        memref.store %rectified, %y[%vo] : memref<4xf32>
      }
    }
  }
  tir.func @inverse(%x: memref<4x8xf32>, %b: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = array<i64: 2>} {
    %s = memref.alloca() : memref<4xf32, #tir.scope<private>>
    tir.for parallel %i = 0 to 4 {
      tir.for serial %k = 0 to 8 {
        tir.block "sum" (%vi: spatial 4, %vk: reduce 8) = affine_map<(d0, d1) -> (d0, d1)> (%i, %k) init [0.0 : f32] {
          %old = memref.load %s[%vi] : memref<4xf32, #tir.scope<private>>
          %a = memref.load %x[%vi, %vk] : memref<4x8xf32>
          %new = arith.addf %old, %a : f32
          memref.store %new, %s[%vi] : memref<4xf32, #tir.scope<private>>
        }
      }
    }
    tir.for parallel %o = 0 to 4 {
      tir.block "out" (%vo: spatial 4) = affine_map<(d0) -> (d0)> (%o) {
        %total = memref.load %s[%vo] : memref<4xf32, #tir.scope<private>>
        %bias = memref.load %b[%vo] : memref<4xf32>
        %biased = arith.addf %total, %bias : f32
        %one = arith.constant 1.0 : f32
        %inverse = arith.divf %one, %biased : f32
        memref.store %inverse, %y[%vo] : memref<4xf32>
      }
    }
  }
  tir.func @both(%x: memref<4x8xf32>, %b: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = array<i64: 2>} {
    %s = memref.alloca() : memref<4xf32, #tir.scope<private>>
    tir.for parallel %i = 0 to 4 {
      tir.for serial %k = 0 to 8 {
        tir.block "sum" (%vi: spatial 4, %vk: reduce 8) = affine_map<(d0, d1) -> (d0, d1)> (%i, %k) init [0.0 : f32] {
          %old = memref.load %s[%vi] : memref<4xf32, #tir.scope<private>>
          %a = memref.load %x[%vi, %vk] : memref<4x8xf32>
          %new = arith.addf %old, %a : f32
          memref.store %new, %s[%vi] : memref<4xf32, #tir.scope<private>>
        }
      }
    }
    tir.for parallel %o = 0 to 4 {
      tir.block "out" (%vo: spatial 4) = affine_map<(d0) -> (d0)> (%o) {
        %total = memref.load %s[%vo] : memref<4xf32, #tir.scope<private>>
        %bias = memref.load %b[%vo] : memref<4xf32>
        %biased = arith.addf %total, %bias : f32
        %product = arith.mulf %biased, %total : f32
        memref.store %product, %y[%vo] : memref<4xf32>
      }
    }
  }
}
