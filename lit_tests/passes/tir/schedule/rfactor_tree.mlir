// RUN: clopt %s -p tir-apply-schedule --split-input-file --verify-diagnostics | filecheck %s

// 64 partial sums become 16, then 4, then the sum: each step adds four that are far apart.
// CHECK-LABEL: @tree(
// CHECK-DAG:  %y_rf = memref.alloca() : memref<4x64xf32>
// CHECK-DAG:  memref.alloca() : memref<4x16xf32>
// CHECK:      tir.block "sum_rf" (%vi: spatial 4, %ki_1: spatial 64, %ko_1: reduce 2)
// CHECK:      tir.for parallel %ki_{{.*}} = 0 to 16 {
// CHECK-NEXT:   tir.for serial %part = 0 to 4 {
// CHECK-NEXT:     tir.block "sum_16" ({{.*}} spatial 4, {{.*}} spatial 16, {{.*}} reduce 4) = {{.*}} init [0.000000e+00 : f32]
// CHECK-NEXT:       [[at:%.*]] = affine.apply affine_map<(d0, d1) -> (((d0 * 16) + d1))> (%part_1, %ki_{{.*}})
// CHECK-NEXT:       memref.load %y_rf[%i_{{.*}}, [[at]]]
// CHECK:          tir.block "sum_4" ({{.*}} spatial 4, {{.*}} spatial 4, {{.*}} reduce 4)
// CHECK:          tir.block "sum" ({{.*}} spatial 4, {{.*}} reduce 4) = {{.*}} init [1.000000e+00 : f32]
tir.func @tree(%x: memref<4x128xf32>, %y: memref<4xf32>) attributes {outputs = array<i64: 1>, schedule = ["split sum.k 64", "rfactor_tree sum.ki 4"]} {
  tir.for parallel %i = 0 to 4 {
    tir.for serial %k = 0 to 128 {
      tir.block "sum" (%vi: spatial 4, %vk: reduce 128) = affine_map<(d0, d1) -> (d0, d1)> (%i, %k) init [1.0 : f32] {
        %p = memref.load %x[%vi, %vk] : memref<4x128xf32>
        %old = memref.load %y[%vi] : memref<4xf32>
        %new = arith.addf %old, %p : f32
        memref.store %new, %y[%vi] : memref<4xf32>
      }
    }
  }
}

// -----

// Of two candidates with their positions the greater one stays, of equal ones the first: where
// neither beats the other, the position decides.
// CHECK-LABEL: @argmax(
// CHECK:      tir.block "best_rf" {{.*}} init [0xff800000 : f32, 0 : i64]
// CHECK:      tir.block "best" {{.*}} init [0xff800000 : f32, 0 : i64]
// CHECK:        [[part:%.*]] = memref.load %m_rf[
// CHECK-NEXT:   [[there:%.*]] = memref.load %y_rf[
// CHECK-NEXT:   [[best:%.*]] = memref.load %m[
// CHECK-NEXT:   [[where:%.*]] = memref.load %y[
// CHECK-NEXT:   [[takes:%.*]] = arith.cmpf ogt, [[part]], [[best]]
// CHECK-NEXT:   [[keeps:%.*]] = arith.cmpf ogt, [[best]], [[part]]
// CHECK-NEXT:   [[before:%.*]] = arith.cmpi slt, [[there]], [[where]]
// CHECK-NEXT:   [[behind:%.*]] = arith.cmpi sgt, [[there]], [[where]]
// CHECK-NEXT:   [[tied:%.*]] = arith.select [[takes]], [[behind]], [[before]]
// CHECK-NEXT:   [[differ:%.*]] = arith.xori [[takes]], [[keeps]]
// CHECK-NEXT:   arith.select [[differ]], [[takes]], [[tied]]
tir.func @argmax(%x: memref<128xf32>, %m: memref<1xf32>, %y: memref<1xi64>) attributes {outputs = array<i64: 1, 2>, schedule = ["split best.k 8", "rfactor best.ki"]} {
  tir.for serial %k = 0 to 128 {
    tir.block "best" (%vk: reduce 128) = affine_map<(d0) -> (d0)> (%k) init [0xff800000 : f32, 0 : i64] {
      %z = arith.constant 0 : index
      %p = memref.load %x[%vk] : memref<128xf32>
      %old = memref.load %m[%z] : memref<1xf32>
      %where = memref.load %y[%z] : memref<1xi64>
      %better = arith.cmpf ogt, %p, %old : f32
      %at = arith.index_cast %vk : index to i64
      %new = arith.select %better, %p, %old : f32
      %place = arith.select %better, %at, %where : i64
      memref.store %new, %m[%z] : memref<1xf32>
      memref.store %place, %y[%z] : memref<1xi64>
    }
  }
}

// -----

// expected-error@unknown {{@two, block 'both': it reduces to 2 results; only a selected element and its position can be factored together}}
tir.func @two(%x: memref<128xf32>, %m: memref<1xf32>, %y: memref<1xf32>) attributes {outputs = array<i64: 1, 2>, schedule = ["rfactor_tree both.k 4"]} {
  tir.for serial %k = 0 to 128 {
    tir.block "both" (%vk: reduce 128) = affine_map<(d0) -> (d0)> (%k) init [0.0 : f32, 1.0 : f32] {
      %z = arith.constant 0 : index
      %p = memref.load %x[%vk] : memref<128xf32>
      %a = memref.load %m[%z] : memref<1xf32>
      %b = memref.load %y[%z] : memref<1xf32>
      %c = arith.addf %a, %p : f32
      %d = arith.mulf %b, %p : f32
      memref.store %c, %m[%z] : memref<1xf32>
      memref.store %d, %y[%z] : memref<1xf32>
    }
  }
}

// -----

// expected-error@unknown {{@one, loop 'k': a level of the tree must combine at least 2 results, not 1}}
tir.func @one(%x: memref<8xf32>, %y: memref<1xf32>) attributes {outputs = array<i64: 1>, schedule = ["rfactor_tree sum.k 1"]} {
  tir.for serial %k = 0 to 8 {
    tir.block "sum" (%vk: reduce 8) = affine_map<(d0) -> (d0)> (%k) init [0.0 : f32] {
      %z = arith.constant 0 : index
      %p = memref.load %x[%vk] : memref<8xf32>
      %old = memref.load %y[%z] : memref<1xf32>
      %new = arith.addf %old, %p : f32
      memref.store %new, %y[%z] : memref<1xf32>
    }
  }
}
