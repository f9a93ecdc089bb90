// RUN: clopt %s -p tir-apply-schedule --split-input-file --verify-diagnostics | filecheck %s

// CHECK-LABEL: @chunks
// CHECK:      tir.for parallel %io = 0 to 4 {
// CHECK-NEXT:   tir.for parallel %ii = 0 to 4 {
// CHECK-NEXT:     tir.block "copy" (%v: spatial 16) = affine_map<(d0, d1) -> (((d0 * 4) + d1))> (%io, %ii) {
// CHECK-NEXT:       %a = memref.load %x[%v] : memref<16xf32>
tir.func @chunks(%x: memref<16xf32>, %y: memref<16xf32>) attributes {outputs = array<i64: 1>, schedule = ["split copy.i 4"]} {
  tir.for parallel %i = 0 to 16 {
    tir.block "copy" (%v: spatial 16) = affine_map<(d0) -> (d0)> (%i) {
      %a = memref.load %x[%v] : memref<16xf32>
      memref.store %a, %y[%v] : memref<16xf32>
    }
  }
}

// -----

// Several factors at once, with names; the block skips what the last chunk runs over.
// CHECK-LABEL: @names
// CHECK:      tir.for parallel %a = 0 to 3 {
// CHECK-NEXT:   tir.for parallel %b = 0 to 2 {
// CHECK-NEXT:     tir.for parallel %c = 0 to 3 {
// CHECK-NEXT:       tir.block "copy" (%v: spatial 16) = affine_map<(d0, d1, d2) -> ((((d0 * 6) + (d1 * 3)) + d2))> (%a, %b, %c) {
tir.func @names(%x: memref<16xf32>, %y: memref<16xf32>) attributes {outputs = array<i64: 1>, schedule = ["split copy.i 2 3 -> a b c"]} {
  tir.for parallel %i = 0 to 16 {
    tir.block "copy" (%v: spatial 16) = affine_map<(d0) -> (d0)> (%i) {
      %t = memref.load %x[%v] : memref<16xf32>
      memref.store %t, %y[%v] : memref<16xf32>
    }
  }
}

// -----

// A chunk of a chunk runs into the next one: a sum would count those elements twice.
// expected-error@unknown {{@twice, loop 'ki': 4 does not divide 6, and block 'sum' would accumulate some points twice}}
tir.func @twice(%x: memref<12xf32>, %y: memref<1xf32>) attributes {outputs = array<i64: 1>, schedule = ["split sum.k 6", "split sum.ki 4"]} {
  tir.for serial %k = 0 to 12 {
    tir.block "sum" (%r: reduce 12) = affine_map<(d0) -> (d0)> (%k) init [0.0 : f32] {
      %z = arith.constant 0 : index
      %a = memref.load %x[%r] : memref<12xf32>
      %b = memref.load %y[%z] : memref<1xf32>
      %c = arith.addf %a, %b : f32
      memref.store %c, %y[%z] : memref<1xf32>
    }
  }
}

// -----

// expected-error@unknown {{@bound, loop 'i': it is global_x and can no longer be split}}
tir.func @bound(%x: memref<16xf32>, %y: memref<16xf32>) attributes {outputs = array<i64: 1>, schedule = ["bind copy.i global_x", "split copy.i 4"]} {
  tir.for parallel %i = 0 to 16 {
    tir.block "copy" (%v: spatial 16) = affine_map<(d0) -> (d0)> (%i) {
      %a = memref.load %x[%v] : memref<16xf32>
      memref.store %a, %y[%v] : memref<16xf32>
    }
  }
}

// -----

// expected-error@unknown {{@zero, loop 'i': the factor must be at least 1, not 0}}
tir.func @zero(%x: memref<16xf32>, %y: memref<16xf32>) attributes {outputs = array<i64: 1>, schedule = ["split copy.i 0"]} {
  tir.for parallel %i = 0 to 16 {
    tir.block "copy" (%v: spatial 16) = affine_map<(d0) -> (d0)> (%i) {
      %a = memref.load %x[%v] : memref<16xf32>
      memref.store %a, %y[%v] : memref<16xf32>
    }
  }
}
