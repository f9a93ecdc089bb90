// RUN: clopt %s -p tir-choose-plan,tir-apply-plan --target generic | filecheck %s
builtin.module {

// A kernel that carries a schedule gets that one and not a rule's.
// CHECK-LABEL: tir.func @own
// CHECK-NEXT:    tir.for parallel %a = 0 to 4 {
// CHECK-NEXT:      tir.for unrolled %b = 0 to 4 {
// CHECK-NEXT:        tir.block "copy"
tir.func @own(%x: memref<16xf32>, %y: memref<16xf32>) attributes {outputs = array<i64: 1>, schedule = ["split copy.i 4 -> a b", "unroll copy.b"]} {
  tir.for parallel %i = 0 to 16 {
    tir.block "copy" (%vi: spatial 16) = affine_map<(d0) -> (d0)> (%i) {
      %a = memref.load %x[%vi] : memref<16xf32>
      memref.store %a, %y[%vi] : memref<16xf32>
    }
  }
}

// Rules know naive kernels. Others stay as their authors wrote them: loops with places,
// CHECK-LABEL: tir.func @bound
// CHECK-NEXT:    tir.for global_x %j = 0 to 16 {
// CHECK-NEXT:      tir.block "out"
tir.func @bound(%x: memref<16xf32>, %y: memref<16xf32>) attributes {outputs = array<i64: 1>} {
  tir.for global_x %j = 0 to 16 {
    tir.block "out" (%i: spatial 16) = affine_map<(d0) -> (d0)> (%j) {
      %a = memref.load %x[%i] : memref<16xf32>
      memref.store %a, %y[%i] : memref<16xf32>
    }
  }
}

// loops that are split,
// CHECK-LABEL: tir.func @split
// CHECK-NEXT:    tir.for serial %j = 0 to 2 {
// CHECK-NEXT:      tir.for serial %k = 0 to 8 {
// CHECK-NEXT:        tir.block "out"
tir.func @split(%x: memref<16xf32>, %y: memref<16xf32>) attributes {outputs = array<i64: 1>} {
  tir.for serial %j = 0 to 2 {
    tir.for serial %k = 0 to 8 {
      tir.block "out" (%i: spatial 16) = affine_map<(d0, d1) -> (d0 * 8 + d1)> (%j, %k) {
        %a = memref.load %x[%i] : memref<16xf32>
        memref.store %a, %y[%i] : memref<16xf32>
      }
    }
  }
}

// and loops without blocks.
// CHECK-LABEL: tir.func @none
// CHECK-NEXT:    tir.for serial %j = 0 to 16 {
// CHECK-NEXT:      %a = memref.load
tir.func @none(%x: memref<16xf32>, %y: memref<16xf32>) attributes {outputs = array<i64: 1>} {
  tir.for serial %j = 0 to 16 {
    %a = memref.load %x[%j] : memref<16xf32>
    memref.store %a, %y[%j] : memref<16xf32>
  }
}

}
