// RUN: clopt %s -p tir-apply-schedule --split-input-file --verify-diagnostics | filecheck %s

// One row of the product at a time.
// CHECK-LABEL: @row(
// CHECK-NEXT: %t = memref.alloca() : memref<8x16xf32>
// CHECK-NEXT: tir.for parallel %i = 0 to 8 {
// CHECK-NEXT:   tir.for parallel %i_1 = 0 to 1 {
// CHECK-NEXT:     tir.for parallel %j = 0 to 16 {
// CHECK-NEXT:       tir.for serial %k = 0 to 4 {
// CHECK-NEXT:         tir.block "mm" (%vi: spatial 8, %vj: spatial 16, %vk: reduce 4) = affine_map<(d0, d1, d2, d3) -> ((d0 + d1), d2, d3)> (%i, %i_1, %j, %k) init [0.000000e+00 : f32] {
// CHECK:        tir.for parallel %j_1 = 0 to 16 {
// CHECK-NEXT:     tir.block "out" (%vi_1: spatial 8, %vj_1: spatial 16) = affine_map<(d0, d1) -> (d0, d1)> (%i, %j_1) {
tir.func @row(%a: memref<8x4xf32>, %b: memref<4x16xf32>, %y: memref<8x16xf32>) attributes {outputs = array<i64: 2>, schedule = ["compute_at mm out.i"]} {
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

// A tile of it; the loops are new and cover what the tile needs.
// CHECK-LABEL: @tile(
// CHECK-NEXT: %t = memref.alloca() : memref<8x16xf32>
// CHECK-NEXT: tir.for parallel %io = 0 to 2 {
// CHECK-NEXT:   tir.for parallel %jo = 0 to 2 {
// CHECK-NEXT:     tir.for parallel %i = 0 to 4 {
// CHECK-NEXT:       tir.for parallel %j = 0 to 8 {
// CHECK-NEXT:         tir.for serial %k = 0 to 4 {
// CHECK-NEXT:           tir.block "mm" (%vi: spatial 8, %vj: spatial 16, %vk: reduce 4) = affine_map<(d0, d1, d2, d3, d4) -> (((d0 * 4) + d2), ((d1 * 8) + d3), d4)> (%io, %jo, %i, %j, %k) init [0.000000e+00 : f32] {
// CHECK:          tir.for parallel %ii = 0 to 4 {
// CHECK-NEXT:       tir.for parallel %ji = 0 to 8 {
// CHECK-NEXT:         tir.block "out" (%vi_1: spatial 8, %vj_1: spatial 16) = affine_map<(d0, d1, d2, d3) -> (((d0 * 4) + d1), ((d2 * 8) + d3))> (%io, %ii, %jo, %ji) {
tir.func @tile(%a: memref<8x4xf32>, %b: memref<4x16xf32>, %y: memref<8x16xf32>) attributes {outputs = array<i64: 2>, schedule = ["split out.i 4", "split out.j 8", "reorder out.io out.jo out.ii out.ji", "compute_at mm out.jo"]} {
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

// expected-error@unknown {{@output, block 'out': it writes an output of the kernel, which must be complete}}
tir.func @output(%a: memref<8x4xf32>, %b: memref<4x16xf32>, %y: memref<8x16xf32>) attributes {outputs = array<i64: 2>, schedule = ["compute_at out mm.i"]} {
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

// expected-error@unknown {{@inside, block 'mm': it is already inside loop 'i'}}
tir.func @inside(%a: memref<8x4xf32>, %b: memref<4x16xf32>, %y: memref<8x16xf32>) attributes {outputs = array<i64: 2>, schedule = ["compute_at mm out.i", "compute_at mm out.i"]} {
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

// expected-error@unknown {{@local, block 'mm': it writes local memory, which the whole group shares; compute it outside the local_x loop 'j'}}
tir.func @local(%a: memref<8x4xf32>, %b: memref<4x16xf32>, %y: memref<8x16xf32>) attributes {outputs = array<i64: 2>, schedule = ["set_scope t local", "bind out.i group_x", "bind out.j local_x", "compute_at mm out.j"]} {
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

// expected-error@unknown {{@bound, loop 'i': a stage must be moved before its loops are bound}}
tir.func @bound(%a: memref<8x4xf32>, %b: memref<4x16xf32>, %y: memref<8x16xf32>) attributes {outputs = array<i64: 2>, schedule = ["bind mm.i global_x", "compute_at mm out.i"]} {
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

// The new loops may be named. Of several loops with one name, a number chooses.
// CHECK-LABEL: @named(
// CHECK:      tir.for parallel %p = 0 to 4 {
// CHECK-NEXT:   tir.for parallel %q = 0 to 1 {
// CHECK-NEXT:     tir.for unrolled %i = 0 to 1 {
// CHECK-NEXT:       tir.block "a"
tir.func @named(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = array<i64: 1>, schedule = ["compute_at a b.i -> i", "unroll a.i#2", "split a.i#1 1 -> p q", "set_scope t private"]} {
  %t = memref.alloca() : memref<4xf32>
  tir.for parallel %i = 0 to 4 {
    tir.block "a" (%vi: spatial 4) = affine_map<(d0) -> (d0)> (%i) {
      %v = memref.load %x[%vi] : memref<4xf32>
      memref.store %v, %t[%vi] : memref<4xf32>
    }
  }
  tir.for parallel %i = 0 to 4 {
    tir.block "b" (%vi: spatial 4) = affine_map<(d0) -> (d0)> (%i) {
      %v = memref.load %t[%vi] : memref<4xf32>
      memref.store %v, %y[%vi] : memref<4xf32>
    }
  }
}
