// RUN: clopt %s -p tir-apply-schedule --split-input-file --verify-diagnostics | filecheck %s

// CHECK-LABEL: @kept(
// CHECK-NEXT: %t = memref.alloca() : memref<8x16xf32, #tir.scope<local>>
// CHECK-NEXT: tir.for parallel %i = 0 to 8 {
// CHECK-NEXT:   tir.for parallel %j = 0 to 16 {
// CHECK-NEXT:     tir.for serial %k = 0 to 4 {
// CHECK-NEXT:       tir.block "mm" (%vi: spatial 8, %vj: spatial 16, %vk: reduce 4) = affine_map<(d0, d1, d2) -> (d0, d1, d2)> (%i, %j, %k) init [0.000000e+00 : f32] {
// CHECK:      tir.for parallel %i_1 = 0 to 8 {
// CHECK-NEXT:   tir.for parallel %j_1 = 0 to 16 {
// CHECK-NEXT:     tir.block "out" (%vi_1: spatial 8, %vj_1: spatial 16) = affine_map<(d0, d1) -> (d0, d1)> (%i_1, %j_1) {
tir.func @kept(%a: memref<8x4xf32>, %b: memref<4x16xf32>, %y: memref<8x16xf32>) attributes {outputs = array<i64: 2>, schedule = ["set_scope t local"]} {
  %t = memref.alloca() : memref<8x16xf32>
  tir.for parallel %i = 0 to 8 {
    tir.for parallel %j = 0 to 16 {
      tir.for serial %k = 0 to 4 {
        tir.block "mm" (%vi: spatial 8, %vj: spatial 16, %vk: reduce 4) = affine_map<(d0, d1, d2) -> (d0, d1, d2)> (%i, %j, %k) init [0.0 : f32] {
          %p = memref.load %a[%vi, %vk] : memref<8x4xf32>
          %q = memref.load %b[%vk, %vj] : memref<4x16xf32>
          %old = memref.load %t[%vi, %vj] : memref<8x16xf32>
          %pq = arith.mulf %p, %q : f32
          %new = arith.addf %old, %pq : f32
          memref.store %new, %t[%vi, %vj] : memref<8x16xf32>
        }
      }
    }
  }
  tir.for parallel %i = 0 to 8 {
    tir.for parallel %j = 0 to 16 {
      tir.block "out" (%vi: spatial 8, %vj: spatial 16) = affine_map<(d0, d1) -> (d0, d1)> (%i, %j) {
        %r = memref.load %t[%vi, %vj] : memref<8x16xf32>
        %s = arith.negf %r : f32
        memref.store %s, %y[%vi, %vj] : memref<8x16xf32>
      }
    }
  }
}

// -----

// expected-error@unknown {{@constant, memref.alloca 't': a temporary must be private, local or global, not constant}}
tir.func @constant(%a: memref<8x4xf32>, %b: memref<4x16xf32>, %y: memref<8x16xf32>) attributes {outputs = array<i64: 2>, schedule = ["set_scope t constant"]} {
  %t = memref.alloca() : memref<8x16xf32>
  tir.for parallel %i = 0 to 8 {
    tir.for parallel %j = 0 to 16 {
      tir.for serial %k = 0 to 4 {
        tir.block "mm" (%vi: spatial 8, %vj: spatial 16, %vk: reduce 4) = affine_map<(d0, d1, d2) -> (d0, d1, d2)> (%i, %j, %k) init [0.0 : f32] {
          %p = memref.load %a[%vi, %vk] : memref<8x4xf32>
          %q = memref.load %b[%vk, %vj] : memref<4x16xf32>
          %old = memref.load %t[%vi, %vj] : memref<8x16xf32>
          %pq = arith.mulf %p, %q : f32
          %new = arith.addf %old, %pq : f32
          memref.store %new, %t[%vi, %vj] : memref<8x16xf32>
        }
      }
    }
  }
  tir.for parallel %i = 0 to 8 {
    tir.for parallel %j = 0 to 16 {
      tir.block "out" (%vi: spatial 8, %vj: spatial 16) = affine_map<(d0, d1) -> (d0, d1)> (%i, %j) {
        %r = memref.load %t[%vi, %vj] : memref<8x16xf32>
        %s = arith.negf %r : f32
        memref.store %s, %y[%vi, %vj] : memref<8x16xf32>
      }
    }
  }
}

// -----

// expected-error@unknown {{@absent: there is no buffer 'u'; the buffers are a, b, y, t}}
tir.func @absent(%a: memref<8x4xf32>, %b: memref<4x16xf32>, %y: memref<8x16xf32>) attributes {outputs = array<i64: 2>, schedule = ["set_scope u private"]} {
  %t = memref.alloca() : memref<8x16xf32>
  tir.for parallel %i = 0 to 8 {
    tir.for parallel %j = 0 to 16 {
      tir.for serial %k = 0 to 4 {
        tir.block "mm" (%vi: spatial 8, %vj: spatial 16, %vk: reduce 4) = affine_map<(d0, d1, d2) -> (d0, d1, d2)> (%i, %j, %k) init [0.0 : f32] {
          %p = memref.load %a[%vi, %vk] : memref<8x4xf32>
          %q = memref.load %b[%vk, %vj] : memref<4x16xf32>
          %old = memref.load %t[%vi, %vj] : memref<8x16xf32>
          %pq = arith.mulf %p, %q : f32
          %new = arith.addf %old, %pq : f32
          memref.store %new, %t[%vi, %vj] : memref<8x16xf32>
        }
      }
    }
  }
  tir.for parallel %i = 0 to 8 {
    tir.for parallel %j = 0 to 16 {
      tir.block "out" (%vi: spatial 8, %vj: spatial 16) = affine_map<(d0, d1) -> (d0, d1)> (%i, %j) {
        %r = memref.load %t[%vi, %vj] : memref<8x16xf32>
        %s = arith.negf %r : f32
        memref.store %s, %y[%vi, %vj] : memref<8x16xf32>
      }
    }
  }
}
