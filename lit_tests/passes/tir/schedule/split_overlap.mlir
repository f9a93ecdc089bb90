// RUN: clopt %s -p tir-apply-schedule --split-input-file --verify-diagnostics | filecheck %s

// The last chunk starts at 6: it computes two points again, and needs no guard.
// CHECK-LABEL: @last
// CHECK:      tir.for parallel %a = 0 to 3 {
// CHECK-NEXT:   tir.for parallel %b = 0 to 4 {
// CHECK-NEXT:     tir.block "copy" (%v: spatial 10) = affine_map<(d0, d1) -> ((((d0 * 4) + d1) + ((d0 floordiv 2) * -2)))> (%a, %b) {
tir.func @last(%x: memref<10xf32>, %y: memref<10xf32>) attributes {outputs = array<i64: 1>, schedule = ["split_overlap copy.i 4 -> a b"]} {
  tir.for parallel %i = 0 to 10 {
    tir.block "copy" (%v: spatial 10) = affine_map<(d0) -> (d0)> (%i) {
      %t = memref.load %x[%v] : memref<10xf32>
      memref.store %t, %y[%v] : memref<10xf32>
    }
  }
}

// -----

// Where the factor divides, it is any split.
// CHECK-LABEL: @even
// CHECK:      tir.block "copy" (%v: spatial 12) = affine_map<(d0, d1) -> (((d0 * 4) + d1))> (%io, %ii) {
tir.func @even(%x: memref<12xf32>, %y: memref<12xf32>) attributes {outputs = array<i64: 1>, schedule = ["split_overlap copy.i 4"]} {
  tir.for parallel %i = 0 to 12 {
    tir.block "copy" (%v: spatial 12) = affine_map<(d0) -> (d0)> (%i) {
      %t = memref.load %x[%v] : memref<12xf32>
      memref.store %t, %y[%v] : memref<12xf32>
    }
  }
}

// -----

// expected-error@unknown {{@larger, loop 'i': a chunk of 4 is larger than 3 iterations}}
tir.func @larger(%x: memref<3xf32>, %y: memref<3xf32>) attributes {outputs = array<i64: 1>, schedule = ["split_overlap copy.i 4"]} {
  tir.for parallel %i = 0 to 3 {
    tir.block "copy" (%v: spatial 3) = affine_map<(d0) -> (d0)> (%i) {
      %t = memref.load %x[%v] : memref<3xf32>
      memref.store %t, %y[%v] : memref<3xf32>
    }
  }
}

// -----

// expected-error@unknown {{@sum, loop 'k': block 'sum' updates its results, so no point may be computed twice}}
tir.func @sum(%x: memref<10xf32>, %y: memref<1xf32>) attributes {outputs = array<i64: 1>, schedule = ["split_overlap sum.k 4"]} {
  tir.for serial %k = 0 to 10 {
    tir.block "sum" (%r: reduce 10) = affine_map<(d0) -> (d0)> (%k) init [0.0 : f32] {
      %z = arith.constant 0 : index
      %a = memref.load %x[%r] : memref<10xf32>
      %b = memref.load %y[%z] : memref<1xf32>
      %c = arith.addf %a, %b : f32
      memref.store %c, %y[%z] : memref<1xf32>
    }
  }
}
