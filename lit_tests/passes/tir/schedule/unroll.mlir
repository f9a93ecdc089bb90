// RUN: clopt %s -p tir-apply-schedule --split-input-file --verify-diagnostics | filecheck %s

// CHECK-LABEL: @tile(
// CHECK-NEXT: tir.for unrolled %i = 0 to 6 {
// CHECK-NEXT:   tir.for parallel %jo = 0 to 4 {
// CHECK-NEXT:     tir.for unrolled %ji = 0 to 4 {
// CHECK-NEXT:       tir.block "copy" (%vi: spatial 6, %vj: spatial 16) = affine_map<(d0, d1, d2) -> (d0, ((d1 * 4) + d2))> (%i, %jo, %ji) {
tir.func @tile(%x: memref<6x16xf32>, %y: memref<6x16xf32>) attributes {outputs = array<i64: 1>, schedule = ["split copy.j 4", "unroll copy.i", "unroll copy.ji"]} {
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

// expected-error@unknown {{@much, loop 'i': unrolling makes 1536 copies of its body, over 1024}}
tir.func @much(%x: memref<6x16xf32>, %y: memref<6x16xf32>) attributes {outputs = array<i64: 1>, schedule = ["split copy.j 1", "split copy.ji 16 -> a b", "unroll copy.b", "unroll copy.jo", "unroll copy.i"]} {
  tir.for parallel %i = 0 to 6 {
    tir.for parallel %j = 0 to 16 {
      tir.block "copy" (%vi: spatial 6, %vj: spatial 16) = affine_map<(d0, d1) -> (d0, d1)> (%i, %j) {
        %a = memref.load %x[%vi, %vj] : memref<6x16xf32>
        memref.store %a, %y[%vi, %vj] : memref<6x16xf32>
      }
    }
  }
}
