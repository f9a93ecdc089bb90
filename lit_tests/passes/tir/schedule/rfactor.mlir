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

// expected-error@unknown {{@spatial, loop 'i': it must drive only reduce variables of block 'sum'}}
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

// expected-error@unknown {{@difference, block 'sum': its update must be one of arith.addf}}
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

// -----

// The variables of fused loops hang together: both are computed from the new ones, or the sum would
// visit every row again for each part of it.
// CHECK-LABEL: @fused
// CHECK:      tir.block "sum_rf" (%fi_1: spatial 2, %fo_1: reduce 4)
// CHECK-NEXT:   [[r:%.*]] = affine.apply affine_map<(d0, d1) -> ((d1 floordiv 2))> (%fi_1, %fo_1)
// CHECK-NEXT:   [[k:%.*]] = affine.apply affine_map<(d0, d1) -> ((((d1 mod 2) * 2) + d0))> (%fi_1, %fo_1)
// CHECK:        memref.load %x{{\[}}[[r]], [[k]]]
tir.func @fused(%x: memref<2x4xf32>, %y: memref<1xf32>) attributes {outputs = array<i64: 1>, schedule = ["fuse sum.r sum.k -> f", "split sum.f 2", "rfactor sum.fi"]} {
  tir.for serial %r = 0 to 2 {
    tir.for serial %k = 0 to 4 {
      tir.block "sum" (%vr: reduce 2, %vk: reduce 4) = affine_map<(d0, d1) -> (d0, d1)> (%r, %k) init [0.0 : f32] {
        %z = arith.constant 0 : index
        %p = memref.load %x[%vr, %vk] : memref<2x4xf32>
        %old = memref.load %y[%z] : memref<1xf32>
        %new = arith.addf %old, %p : f32
        memref.store %new, %y[%z] : memref<1xf32>
      }
    }
  }
}

// -----

// expected-error@unknown {{@shared, loop 'fi': a spatial variable shares loops with the reduction; factor it earlier}}
tir.func @shared(%x: memref<2x4xf32>, %y: memref<2xf32>) attributes {outputs = array<i64: 1>, schedule = ["rfactor sum.fi"]} {
  tir.for serial %fo = 0 to 4 {
    tir.for serial %fi = 0 to 2 {
      tir.block "sum" (%vi: spatial 2, %vk: reduce 4) = affine_map<(d0, d1) -> (d0 floordiv 2, d0 mod 2 * 2 + d1)> (%fo, %fi) init [0.0 : f32] {
        %p = memref.load %x[%vi, %vk] : memref<2x4xf32>
        %old = memref.load %y[%vi] : memref<2xf32>
        %new = arith.addf %old, %p : f32
        memref.store %new, %y[%vi] : memref<2xf32>
      }
    }
  }
}
