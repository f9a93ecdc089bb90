// RUN: clopt %s -p tir-apply-schedule --split-input-file --verify-diagnostics | filecheck %s

// CHECK-LABEL: @accumulator(
// CHECK-NEXT: %y_private = memref.alloca() : memref<4xf32, #tir.scope<private>>
// CHECK-NEXT: tir.for parallel %i = 0 to 4 {
// CHECK-NEXT:   tir.for parallel %i_1 = 0 to 1 {
// CHECK-NEXT:     tir.for serial %k = 0 to 10 {
// CHECK-NEXT:       tir.block "sum" (%vi: spatial 4, %vk: reduce 10) = affine_map<(d0, d1, d2) -> ((d0 + d1), d2)> (%i, %i_1, %k) init [0.000000e+00 : f32] {
// CHECK:        tir.block "out" (%i_2: spatial 4) = affine_map<(d0) -> (d0)> (%i) {
tir.func @accumulator(%x: memref<4x10xf32>, %y: memref<4xf32>) attributes {outputs = array<i64: 1>, schedule = ["cache_write sum private -> out", "compute_at sum out.i"]} {
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

// expected-error@unknown {{@bound, loop 'i': it is global_x; cache the stage of its block earlier}}
tir.func @bound(%x: memref<4x10xf32>, %y: memref<4xf32>) attributes {outputs = array<i64: 1>, schedule = ["bind sum.i global_x", "cache_write sum private"]} {
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
