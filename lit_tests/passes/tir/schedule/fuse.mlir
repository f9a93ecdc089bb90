// RUN: clopt %s -p tir-apply-schedule --split-input-file --verify-diagnostics | filecheck %s

// CHECK-LABEL: @flat(
// CHECK-NEXT: tir.for parallel %ij = 0 to 96 {
// CHECK-NEXT:   tir.block "copy" (%vi: spatial 6, %vj: spatial 16) = affine_map<(d0) -> ((d0 floordiv 16), (d0 mod 16))> (%ij) {
tir.func @flat(%x: memref<6x16xf32>, %y: memref<6x16xf32>) attributes {outputs = array<i64: 1>, schedule = ["fuse copy.i copy.j"]} {
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

// What fusing puts together, splitting by the same factor takes apart again.
// CHECK-LABEL: @undone(
// CHECK-NEXT: tir.for parallel %fo = 0 to 6 {
// CHECK-NEXT:   tir.for parallel %fi = 0 to 16 {
// CHECK-NEXT:     tir.block "copy" (%vi: spatial 6, %vj: spatial 16) = affine_map<(d0, d1) -> (d0, d1)> (%fo, %fi) {
tir.func @undone(%x: memref<6x16xf32>, %y: memref<6x16xf32>) attributes {outputs = array<i64: 1>, schedule = ["fuse copy.i copy.j -> f", "split copy.f 16"]} {
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

// A loop that was serial, as the order of its iterations may matter, stays so.
// CHECK-LABEL: @serial(
// CHECK-NEXT: tir.for serial %ij = 0 to 96 {
tir.func @serial(%x: memref<6x16xf32>, %y: memref<6x16xf32>) attributes {outputs = array<i64: 1>, schedule = ["fuse copy.i copy.j"]} {
  tir.for parallel %i = 0 to 6 {
    tir.for serial %j = 0 to 16 {
      tir.block "copy" (%vi: spatial 6, %vj: spatial 16) = affine_map<(d0, d1) -> (d0, d1)> (%i, %j) {
        %a = memref.load %x[%vi, %vj] : memref<6x16xf32>
        memref.store %a, %y[%vi, %vj] : memref<6x16xf32>
      }
    }
  }
}

// -----

// expected-error@unknown {{@apart, loop 'i': it contains more than loop 'ji'}}
tir.func @apart(%x: memref<6x16xf32>, %y: memref<6x16xf32>) attributes {outputs = array<i64: 1>, schedule = ["split copy.j 4", "fuse copy.i copy.ji"]} {
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

// expected-error@unknown {{@mixed, loop 'i': it and loop 'k' drive both a spatial and a reduce variable of block 'sum'}}
tir.func @mixed(%x: memref<4x10xf32>, %y: memref<4xf32>) attributes {outputs = array<i64: 1>, schedule = ["fuse sum.i sum.k"]} {
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

// expected-error@unknown {{@expanded, loop 'j': it is unrolled and can no longer be fused}}
tir.func @expanded(%x: memref<6x16xf32>, %y: memref<6x16xf32>) attributes {outputs = array<i64: 1>, schedule = ["unroll copy.j", "fuse copy.i copy.j"]} {
  tir.for parallel %i = 0 to 6 {
    tir.for parallel %j = 0 to 16 {
      tir.block "copy" (%vi: spatial 6, %vj: spatial 16) = affine_map<(d0, d1) -> (d0, d1)> (%i, %j) {
        %a = memref.load %x[%vi, %vj] : memref<6x16xf32>
        memref.store %a, %y[%vi, %vj] : memref<6x16xf32>
      }
    }
  }
}
