// RUN: clopt %s -p tir-apply-schedule --split-input-file --verify-diagnostics | filecheck %s

// CHECK-LABEL: @lanes(
// CHECK-NEXT: tir.for parallel %i = 0 to 6 {
// CHECK-NEXT:   tir.for parallel %jo = 0 to 4 {
// CHECK-NEXT:     tir.for vectorized %ji = 0 to 4 {
// CHECK-NEXT:       tir.block "copy" (%vi: spatial 6, %vj: spatial 16) = affine_map<(d0, d1, d2) -> (d0, ((d1 * 4) + d2))> (%i, %jo, %ji) {
tir.func @lanes(%x: memref<6x16xf32>, %y: memref<6x16xf32>) attributes {outputs = array<i64: 1>, schedule = ["split copy.j 4", "vectorize copy.ji"]} {
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

// expected-error@unknown {{@width, loop 'i': OpenCL vectors have 2, 3, 4, 8 or 16 elements, not 6; split the loop}}
tir.func @width(%x: memref<6x16xf32>, %y: memref<6x16xf32>) attributes {outputs = array<i64: 1>, schedule = ["reorder copy.j copy.i", "vectorize copy.i"]} {
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

// expected-error@unknown {{@outer, loop 'io': it contains loop 'ii'; vectorize that one}}
tir.func @outer(%x: memref<6x16xf32>, %y: memref<6x16xf32>) attributes {outputs = array<i64: 1>, schedule = ["split copy.i 3", "reorder copy.j copy.io copy.ii", "vectorize copy.io"]} {
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

// expected-error@unknown {{@reduction, loop 'ki': it drives a reduction of block 'sum' and cannot be vectorized; factor the reduction first}}
tir.func @reduction(%x: memref<4x10xf32>, %y: memref<4xf32>) attributes {outputs = array<i64: 1>, schedule = ["split sum.k 2", "vectorize sum.ki"]} {
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

// expected-error@unknown {{@again, loop 'j': it is vectorized and can no longer be vectorized}}
tir.func @again(%x: memref<6x16xf32>, %y: memref<6x16xf32>) attributes {outputs = array<i64: 1>, schedule = ["vectorize copy.j", "vectorize copy.j"]} {
  tir.for parallel %i = 0 to 6 {
    tir.for parallel %j = 0 to 16 {
      tir.block "copy" (%vi: spatial 6, %vj: spatial 16) = affine_map<(d0, d1) -> (d0, d1)> (%i, %j) {
        %a = memref.load %x[%vi, %vj] : memref<6x16xf32>
        memref.store %a, %y[%vi, %vj] : memref<6x16xf32>
      }
    }
  }
}
