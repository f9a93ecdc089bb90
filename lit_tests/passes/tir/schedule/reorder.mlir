// RUN: clopt %s -p tir-apply-schedule --split-input-file --verify-diagnostics | filecheck %s

// CHECK-LABEL: @swap(
// CHECK-NEXT: tir.for parallel %jo = 0 to 4 {
// CHECK-NEXT:   tir.for parallel %i = 0 to 6 {
// CHECK-NEXT:     tir.for parallel %ji = 0 to 4 {
// CHECK-NEXT:       tir.block "copy" (%vi: spatial 6, %vj: spatial 16) = affine_map<(d0, d1, d2) -> (d0, ((d1 * 4) + d2))> (%i, %jo, %ji) {
tir.func @swap(%x: memref<6x16xf32>, %y: memref<6x16xf32>) attributes {outputs = array<i64: 1>, schedule = ["split copy.j 4", "reorder copy.jo copy.i copy.ji"]} {
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

// Loops that are not listed stay where they are.
// CHECK-LABEL: @partial(
// CHECK-NEXT: tir.for parallel %ji = 0 to 4 {
// CHECK-NEXT:   tir.for parallel %jo = 0 to 4 {
// CHECK-NEXT:     tir.for parallel %i = 0 to 6 {
// CHECK-NEXT:       tir.block "copy" (%vi: spatial 6, %vj: spatial 16) = affine_map<(d0, d1, d2) -> (d0, ((d1 * 4) + d2))> (%i, %jo, %ji) {
tir.func @partial(%x: memref<6x16xf32>, %y: memref<6x16xf32>) attributes {outputs = array<i64: 1>, schedule = ["split copy.j 4", "reorder copy.ji copy.i"]} {
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

// expected-error@unknown {{@missing, block 'copy': it is not inside a loop 'k'; the loops are i, j}}
tir.func @missing(%x: memref<6x16xf32>, %y: memref<6x16xf32>) attributes {outputs = array<i64: 1>, schedule = ["reorder copy.k copy.i"]} {
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

// expected-error@unknown {{@repeated, loop 'i': a loop is listed twice}}
tir.func @repeated(%x: memref<6x16xf32>, %y: memref<6x16xf32>) attributes {outputs = array<i64: 1>, schedule = ["reorder copy.i copy.i"]} {
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

// expected-error@unknown {{@imperfect, loop 'i': the loops must be perfectly nested, but it has other statements}}
tir.func @imperfect(%a: memref<8x4xf32>, %b: memref<4x16xf32>, %y: memref<8x16xf32>) attributes {outputs = array<i64: 2>, schedule = ["compute_at mm out.i", "reorder out.j out.i"]} {
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

// expected-error@unknown {{@inside, loop 'io': a group_x loop must have only global and group loops around it}}
tir.func @inside(%x: memref<6x16xf32>, %y: memref<6x16xf32>) attributes {outputs = array<i64: 1>, schedule = ["split copy.i 2", "bind copy.io group_x", "reorder copy.ii copy.io"]} {
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

// expected-error@unknown {{@lanes, loop 'j': a vectorized loop can contain only unrolled loops}}
tir.func @lanes(%x: memref<6x16xf32>, %y: memref<6x16xf32>) attributes {outputs = array<i64: 1>, schedule = ["vectorize copy.j", "reorder copy.j copy.i"]} {
  tir.for parallel %i = 0 to 6 {
    tir.for parallel %j = 0 to 16 {
      tir.block "copy" (%vi: spatial 6, %vj: spatial 16) = affine_map<(d0, d1) -> (d0, d1)> (%i, %j) {
        %a = memref.load %x[%vi, %vj] : memref<6x16xf32>
        memref.store %a, %y[%vi, %vj] : memref<6x16xf32>
      }
    }
  }
}
