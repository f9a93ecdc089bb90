// RUN: clopt %s -p tir-apply-schedule --split-input-file --verify-diagnostics | filecheck %s

// Sums of every fourth element; the guard keeps the last ones of 10 within the row.
// CHECK-LABEL: @lanes(
// CHECK-NEXT: %y_rf = memref.alloca() : memref<4x4xf32>
// CHECK-NEXT: tir.for parallel %i = 0 to 4 {
// CHECK-NEXT:   tir.for serial %ko = 0 to 3 {
// CHECK-NEXT:     tir.for serial %ki = 0 to 4 {
// CHECK-NEXT:       tir.block "sum_rf" (%vi: spatial 4, %ki_1: spatial 4, %ko_1: reduce 3) = affine_map<(d0, d1, d2) -> (d0, d2, d1)> (%i, %ko, %ki) init [0.000000e+00 : f32] {
// CHECK:              scf.if %1 {
// CHECK:      tir.for parallel %i_1 = 0 to 4 {
// CHECK-NEXT:   tir.for serial %ki_2 = 0 to 4 {
// CHECK-NEXT:     tir.block "sum" (%i_2: spatial 4, %ki_3: reduce 4) = affine_map<(d0, d1) -> (d0, d1)> (%i_1, %ki_2) init [0.000000e+00 : f32] {
tir.func @lanes(%x: memref<4x10xf32>, %y: memref<4xf32>) attributes {outputs = array<i64: 1>, schedule = ["split sum.k 4", "rfactor sum.ki"]} {
  tir.for parallel %i = 0 to 4 {
    tir.for serial %k = 0 to 10 {
      tir.block "sum" (%vi: spatial 4, %vk: reduce 10) = affine_map<(d0, d1) -> (d0, d1)> (%i, %k) init [0.0 : f32] {
        %p = memref.load %x[%vi, %vk] : memref<4x10xf32>
        %old = memref.load %y[%vi] : memref<4xf32>
        %new = arith.addf %old, %p : f32
        memref.store %new, %y[%vi] : memref<4xf32>
      }
    }
  }
}

// -----

// Maxima start from the least value, whatever the reduction itself starts from.
// CHECK-LABEL: @maxima(
// CHECK-NEXT: %y_rf = memref.alloca() : memref<4x2xf32>
// CHECK-NEXT: tir.for parallel %i = 0 to 4 {
// CHECK-NEXT:   tir.for serial %ko = 0 to 2 {
// CHECK-NEXT:     tir.for serial %ki = 0 to 5 {
// CHECK-NEXT:       tir.block "sum_rf" (%vi: spatial 4, %ko_1: spatial 2, %ki_1: reduce 5) = affine_map<(d0, d1, d2) -> (d0, d1, d2)> (%i, %ko, %ki) init [0xff800000 : f32] {
// CHECK:      tir.for parallel %i_1 = 0 to 4 {
// CHECK-NEXT:   tir.for serial %ko_2 = 0 to 2 {
// CHECK-NEXT:     tir.block "sum" (%i_2: spatial 4, %ko_3: reduce 2) = affine_map<(d0, d1) -> (d0, d1)> (%i_1, %ko_2) init [1.000000e+00 : f32] {
tir.func @maxima(%x: memref<4x10xf32>, %y: memref<4xf32>) attributes {outputs = array<i64: 1>, schedule = ["split sum.k 5", "rfactor sum.ko"]} {
  tir.for parallel %i = 0 to 4 {
    tir.for serial %k = 0 to 10 {
      tir.block "sum" (%vi: spatial 4, %vk: reduce 10) = affine_map<(d0, d1) -> (d0, d1)> (%i, %k) init [1.0 : f32] {
        %p = memref.load %x[%vi, %vk] : memref<4x10xf32>
        %old = memref.load %y[%vi] : memref<4xf32>
        %new = arith.maximumf %old, %p : f32
        memref.store %new, %y[%vi] : memref<4xf32>
      }
    }
  }
}

// -----

// expected-error@unknown {{@spatial, loop 'i': it drives no reduction of block 'sum' that it could factor}}
tir.func @spatial(%x: memref<4x10xf32>, %y: memref<4xf32>) attributes {outputs = array<i64: 1>, schedule = ["rfactor sum.i"]} {
  tir.for parallel %i = 0 to 4 {
    tir.for serial %k = 0 to 10 {
      tir.block "sum" (%vi: spatial 4, %vk: reduce 10) = affine_map<(d0, d1) -> (d0, d1)> (%i, %k) init [0.0 : f32] {
        %p = memref.load %x[%vi, %vk] : memref<4x10xf32>
        %old = memref.load %y[%vi] : memref<4xf32>
        %new = arith.addf %old, %p : f32
        memref.store %new, %y[%vi] : memref<4xf32>
      }
    }
  }
}

// -----

// expected-error@unknown {{@difference, block 'sum': its update is none of arith.addf}}
tir.func @difference(%x: memref<4x10xf32>, %y: memref<4xf32>) attributes {outputs = array<i64: 1>, schedule = ["rfactor sum.k"]} {
  tir.for parallel %i = 0 to 4 {
    tir.for serial %k = 0 to 10 {
      tir.block "sum" (%vi: spatial 4, %vk: reduce 10) = affine_map<(d0, d1) -> (d0, d1)> (%i, %k) init [0.0 : f32] {
        %p = memref.load %x[%vi, %vk] : memref<4x10xf32>
        %old = memref.load %y[%vi] : memref<4xf32>
        %new = arith.subf %old, %p : f32
        memref.store %new, %y[%vi] : memref<4xf32>
      }
    }
  }
}

// -----

// expected-error@unknown {{@expanded, loop 'k': it is unrolled; factor the stage of its block earlier}}
tir.func @expanded(%x: memref<4x10xf32>, %y: memref<4xf32>) attributes {outputs = array<i64: 1>, schedule = ["unroll sum.k", "rfactor sum.k"]} {
  tir.for parallel %i = 0 to 4 {
    tir.for serial %k = 0 to 10 {
      tir.block "sum" (%vi: spatial 4, %vk: reduce 10) = affine_map<(d0, d1) -> (d0, d1)> (%i, %k) init [0.0 : f32] {
        %p = memref.load %x[%vi, %vk] : memref<4x10xf32>
        %old = memref.load %y[%vi] : memref<4xf32>
        %new = arith.addf %old, %p : f32
        memref.store %new, %y[%vi] : memref<4xf32>
      }
    }
  }
}
