// RUN: clopt %s -p tir-apply-schedule --split-input-file --verify-diagnostics | filecheck %s

// The copy is laid out by the variables of its reader: pixels of a window become rows of a matrix.
// CHECK-LABEL: @pixels(
// CHECK-NEXT: %x_local = memref.alloca() : memref<3x6xf32, #tir.scope<local>>
// CHECK-NEXT: tir.for parallel %k = 0 to 3 {
// CHECK-NEXT:   tir.for parallel %i = 0 to 6 {
// CHECK-NEXT:     tir.block "gather" (%k_1: spatial 3, %i_1: spatial 6) = affine_map<(d0, d1) -> (d0, d1)> (%k, %i) {
// CHECK-NEXT:       %0 = affine.apply affine_map<(d0, d1) -> (((d1 * 2) + d0))> (%k_1, %i_1)
// CHECK-NEXT:       %1 = memref.load %x[%0] : memref<13xf32>
// CHECK-NEXT:       memref.store %1, %x_local[%k_1, %i_1] : memref<3x6xf32, #tir.scope<local>>
// CHECK:      tir.block "conv"
// CHECK:        memref.load %x_local[%vk, %vi] : memref<3x6xf32, #tir.scope<local>>
tir.func @pixels(%x: memref<13xf32>, %w: memref<3xf32>, %y: memref<6xf32>) attributes {outputs = array<i64: 2>, schedule = ["cache_gather conv x local d1 d0 -> gather"]} {
  tir.for parallel %i = 0 to 6 {
    tir.for serial %k = 0 to 3 {
      tir.block "conv" (%vi: spatial 6, %vk: reduce 3) = affine_map<(d0, d1) -> (d0, d1)> (%i, %k) init [0.0 : f32] {
        %at = affine.apply affine_map<(d0, d1) -> (d0 * 2 + d1)> (%vi, %vk)
        %a = memref.load %x[%at] : memref<13xf32>
        %b = memref.load %w[%vk] : memref<3xf32>
        %old = memref.load %y[%vi] : memref<6xf32>
        %ab = arith.mulf %a, %b : f32
        %new = arith.addf %old, %ab : f32
        memref.store %new, %y[%vi] : memref<6xf32>
      }
    }
  }
}

// -----

// expected-error@unknown {{@part, block 'conv': 'x' is indexed by d0, d1; list each once}}
tir.func @part(%x: memref<13xf32>, %y: memref<6xf32>) attributes {outputs = array<i64: 1>, schedule = ["cache_gather conv x local d0"]} {
  tir.for parallel %i = 0 to 6 {
    tir.for serial %k = 0 to 3 {
      tir.block "conv" (%vi: spatial 6, %vk: reduce 3) = affine_map<(d0, d1) -> (d0, d1)> (%i, %k) init [0.0 : f32] {
        %at = affine.apply affine_map<(d0, d1) -> (d0 * 2 + d1)> (%vi, %vk)
        %a = memref.load %x[%at] : memref<13xf32>
        %old = memref.load %y[%vi] : memref<6xf32>
        %new = arith.addf %old, %a : f32
        memref.store %new, %y[%vi] : memref<6xf32>
      }
    }
  }
}

// -----

// expected-error@unknown {{@twice, block 'sum': it reads 'x' at more than one affine place}}
tir.func @twice(%x: memref<7xf32>, %y: memref<6xf32>) attributes {outputs = array<i64: 1>, schedule = ["cache_gather sum x private d0"]} {
  tir.for parallel %i = 0 to 6 {
    tir.block "sum" (%vi: spatial 6) = affine_map<(d0) -> (d0)> (%i) {
      %at = affine.apply affine_map<(d0) -> (d0 + 1)> (%vi)
      %a = memref.load %x[%vi] : memref<7xf32>
      %b = memref.load %x[%at] : memref<7xf32>
      %s = arith.addf %a, %b : f32
      memref.store %s, %y[%vi] : memref<6xf32>
    }
  }
}
