// RUN: clopt %s -p tir-apply-schedule --split-input-file --verify-diagnostics | filecheck %s

// CHECK-LABEL: @items(
// CHECK-NEXT: tir.for group_x %i = 0 to 6 {
// CHECK-NEXT:   tir.for local_x %j = 0 to 16 {
// CHECK-NEXT:     tir.block "copy" (%vi: spatial 6, %vj: spatial 16) = affine_map<(d0, d1) -> (d0, d1)> (%i, %j) {
tir.func @items(%x: memref<6x16xf32>, %y: memref<6x16xf32>) attributes {outputs = array<i64: 1>, schedule = ["bind copy.i group_x", "bind copy.j local_x"]} {
  tir.for parallel %i = 0 to 6 {
    tir.for parallel %j = 0 to 16 {
      tir.block "copy" (%vi: spatial 6, %vj: spatial 16) = affine_map<(d0, d1) -> (d0, d1)> (%i, %j) {
        %a = memref.load %x[%vi, %vj] : memref<6x16xf32>
        memref.store %a, %y[%vi, %vj] : memref<6x16xf32>
      }
    }
  }
}

// -----

// A temporary may be computed once per work-item.
// CHECK-LABEL: @each(
// CHECK-NEXT: %t = memref.alloca() : memref<8x16xf32>
// CHECK-NEXT: tir.for global_x %i = 0 to 8 {
// CHECK-NEXT:   tir.for parallel %i_1 = 0 to 1 {
// CHECK-NEXT:     tir.for parallel %j = 0 to 16 {
// CHECK-NEXT:       tir.for serial %k = 0 to 4 {
// CHECK-NEXT:         tir.block "mm" (%vi: spatial 8, %vj: spatial 16, %vk: reduce 4) = affine_map<(d0, d1, d2, d3) -> ((d0 + d1), d2, d3)> (%i, %i_1, %j, %k) init [0.000000e+00 : f32] {
// CHECK:        tir.for parallel %j_1 = 0 to 16 {
// CHECK-NEXT:     tir.block "out" (%vi_1: spatial 8, %vj_1: spatial 16) = affine_map<(d0, d1) -> (d0, d1)> (%i, %j_1) {
tir.func @each(%a: memref<8x4xf32>, %b: memref<4x16xf32>, %y: memref<8x16xf32>) attributes {outputs = array<i64: 2>, schedule = ["bind out.i global_x", "compute_at mm out.i"]} {
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

// expected-error@unknown {{@reduction, loop 'k': it drives a reduction of block 'sum' and cannot be bound; factor the reduction first}}
tir.func @reduction(%x: memref<4x10xf32>, %y: memref<4xf32>) attributes {outputs = array<i64: 1>, schedule = ["bind sum.k local_x"]} {
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

// expected-error@unknown {{@taken, loop 'j': global_x is already bound: loop 'i' around it is global_x}}
tir.func @taken(%x: memref<6x16xf32>, %y: memref<6x16xf32>) attributes {outputs = array<i64: 1>, schedule = ["bind copy.i global_x", "bind copy.j global_x"]} {
  tir.for parallel %i = 0 to 6 {
    tir.for parallel %j = 0 to 16 {
      tir.block "copy" (%vi: spatial 6, %vj: spatial 16) = affine_map<(d0, d1) -> (d0, d1)> (%i, %j) {
        %a = memref.load %x[%vi, %vj] : memref<6x16xf32>
        memref.store %a, %y[%vi, %vj] : memref<6x16xf32>
      }
    }
  }
}

// -----

// expected-error@unknown {{@mixed, loop 'j': local_x is already bound: loop 'i' around it is global_x}}
tir.func @mixed(%x: memref<6x16xf32>, %y: memref<6x16xf32>) attributes {outputs = array<i64: 1>, schedule = ["bind copy.i global_x", "bind copy.j local_x"]} {
  tir.for parallel %i = 0 to 6 {
    tir.for parallel %j = 0 to 16 {
      tir.block "copy" (%vi: spatial 6, %vj: spatial 16) = affine_map<(d0, d1) -> (d0, d1)> (%i, %j) {
        %a = memref.load %x[%vi, %vj] : memref<6x16xf32>
        memref.store %a, %y[%vi, %vj] : memref<6x16xf32>
      }
    }
  }
}

// -----

// expected-error@unknown {{@inside, loop 'j': a group_x loop must have only global and group loops around it}}
tir.func @inside(%x: memref<6x16xf32>, %y: memref<6x16xf32>) attributes {outputs = array<i64: 1>, schedule = ["bind copy.j group_x"]} {
  tir.for parallel %i = 0 to 6 {
    tir.for parallel %j = 0 to 16 {
      tir.block "copy" (%vi: spatial 6, %vj: spatial 16) = affine_map<(d0, d1) -> (d0, d1)> (%i, %j) {
        %a = memref.load %x[%vi, %vj] : memref<6x16xf32>
        memref.store %a, %y[%vi, %vj] : memref<6x16xf32>
      }
    }
  }
}

// -----

// expected-error@unknown {{@serial, loop 'i': 'serial' is not an OpenCL index}}
tir.func @serial(%x: memref<6x16xf32>, %y: memref<6x16xf32>) attributes {outputs = array<i64: 1>, schedule = ["bind copy.i serial"]} {
  tir.for parallel %i = 0 to 6 {
    tir.for parallel %j = 0 to 16 {
      tir.block "copy" (%vi: spatial 6, %vj: spatial 16) = affine_map<(d0, d1) -> (d0, d1)> (%i, %j) {
        %a = memref.load %x[%vi, %vj] : memref<6x16xf32>
        memref.store %a, %y[%vi, %vj] : memref<6x16xf32>
      }
    }
  }
}

// -----

// expected-error@unknown {{'global_w' in 'bind copy.i global_w' must be one of serial}}
tir.func @unknown(%x: memref<6x16xf32>, %y: memref<6x16xf32>) attributes {outputs = array<i64: 1>, schedule = ["bind copy.i global_w"]} {
  tir.for parallel %i = 0 to 6 {
    tir.for parallel %j = 0 to 16 {
      tir.block "copy" (%vi: spatial 6, %vj: spatial 16) = affine_map<(d0, d1) -> (d0, d1)> (%i, %j) {
        %a = memref.load %x[%vi, %vj] : memref<6x16xf32>
        memref.store %a, %y[%vi, %vj] : memref<6x16xf32>
      }
    }
  }
}

// -----

// expected-error@unknown {{@axes, loop 'i': loops are bound to both global_x and group_x}}
tir.func @axes(%a: memref<8x4xf32>, %b: memref<4x16xf32>, %y: memref<8x16xf32>) attributes {outputs = array<i64: 2>, schedule = ["bind mm.i group_x", "bind out.i global_x"]} {
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
