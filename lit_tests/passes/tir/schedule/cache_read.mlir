// RUN: clopt %s -p tir-apply-schedule --split-input-file --verify-diagnostics | filecheck %s

// CHECK-LABEL: @shared(
// CHECK-NEXT: %b_local = memref.alloca() : memref<4x16xf32, #tir.scope<local>>
// CHECK-NEXT: %t = memref.alloca() : memref<8x16xf32>
// CHECK-NEXT: tir.for serial %ko = 0 to 2 {
// CHECK-NEXT:   tir.for parallel %ax0 = 0 to 2 {
// CHECK-NEXT:     tir.for parallel %ax1 = 0 to 16 {
// CHECK-NEXT:       tir.block "load" (%ax0_1: spatial 4, %ax1_1: spatial 16) = affine_map<(d0, d1, d2) -> (((d0 * 2) + d1), d2)> (%ko, %ax0, %ax1) {
// CHECK:        tir.for parallel %i = 0 to 8 {
// CHECK-NEXT:     tir.for parallel %j = 0 to 16 {
// CHECK-NEXT:       tir.for serial %ki = 0 to 2 {
// CHECK-NEXT:         tir.block "mm" (%vi: spatial 8, %vj: spatial 16, %vk: reduce 4) = affine_map<(d0, d1, d2, d3) -> (d0, d1, ((d2 * 2) + d3))> (%i, %j, %ko, %ki) init [0.000000e+00 : f32] {
// CHECK:      tir.for parallel %i_1 = 0 to 8 {
// CHECK-NEXT:   tir.for parallel %j_1 = 0 to 16 {
// CHECK-NEXT:     tir.block "out" (%vi_1: spatial 8, %vj_1: spatial 16) = affine_map<(d0, d1) -> (d0, d1)> (%i_1, %j_1) {
tir.func @shared(%a: memref<8x4xf32>, %b: memref<4x16xf32>, %y: memref<8x16xf32>) attributes {outputs = array<i64: 2>, schedule = ["cache_read mm b local -> load", "split mm.k 2", "reorder mm.ko mm.i mm.j mm.ki", "compute_at load mm.ko"]} {
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

// expected-error@unknown {{@absent, block 'out': it does not read 'b'}}
tir.func @absent(%a: memref<8x4xf32>, %b: memref<4x16xf32>, %y: memref<8x16xf32>) attributes {outputs = array<i64: 2>, schedule = ["cache_read out b private"]} {
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

// expected-error@unknown {{@own, block 'mm': it writes 't' as well}}
tir.func @own(%a: memref<8x4xf32>, %b: memref<4x16xf32>, %y: memref<8x16xf32>) attributes {outputs = array<i64: 2>, schedule = ["cache_read mm t private"]} {
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

// expected-error@unknown {{@global, block 'mm': a copy must be in private or local memory, not global}}
tir.func @global(%a: memref<8x4xf32>, %b: memref<4x16xf32>, %y: memref<8x16xf32>) attributes {outputs = array<i64: 2>, schedule = ["cache_read mm b global"]} {
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

// expected-error@unknown {{@late, block 'out': block 'mm' fills 't' inside its loops; cache the read before moving that block}}
tir.func @late(%a: memref<8x4xf32>, %b: memref<4x16xf32>, %y: memref<8x16xf32>) attributes {outputs = array<i64: 2>, schedule = ["compute_at mm out.i", "cache_read out t private"]} {
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
