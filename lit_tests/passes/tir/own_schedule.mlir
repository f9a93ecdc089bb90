// RUN: clopt %s -p tir-auto-schedule --target generic | filecheck %s

// A kernel that carries a schedule gets that one and not a rule's.
// CHECK:      tir.for parallel %a = 0 to 4 {
// CHECK-NEXT:   tir.for unrolled %b = 0 to 4 {
// CHECK-NEXT:     tir.block "copy"
builtin.module {
  tir.func @own(%x: memref<16xf32>, %y: memref<16xf32>) attributes {outputs = array<i64: 1>, schedule = ["split copy.i 4 -> a b", "unroll copy.b"]} {
    tir.for parallel %i = 0 to 16 {
      tir.block "copy" (%vi: spatial 16) = affine_map<(d0) -> (d0)> (%i) {
        %a = memref.load %x[%vi] : memref<16xf32>
        memref.store %a, %y[%vi] : memref<16xf32>
      }
    }
  }
}
