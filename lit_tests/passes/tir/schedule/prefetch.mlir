// RUN: clopt %s -p tir-apply-schedule --split-input-file --verify-diagnostics | filecheck %s
// RUN: clopt %s -p tir-apply-schedule,tir-lower-blocks --split-input-file --verify-diagnostics | filecheck %s --check-prefix=LOWER

// Two chunks of four remain of the buffer. The first is filled before the loop; each iteration loads
// the next one into registers, computes, and stores it. A group waits once in each iteration.
// CHECK-LABEL: @ahead(
// CHECK-NEXT: %x_local_ahead = memref.alloca() : memref<4xf32, #tir.scope<private>>
// CHECK-NEXT: %x_local = memref.alloca() : memref<2x4xf32, #tir.scope<local>>
// CHECK-NEXT: tir.for local_x %j = 0 to 4 {
// CHECK-NEXT:   tir.block "copy_first" (%vj: spatial 12) = affine_map<(d0) -> (d0)> (%j) {
// CHECK:      tir.for serial %ko = 0 to 3 {
// CHECK-NEXT:   tir.for local_x %j_1 = 0 to 4 {
// CHECK-NEXT:     tir.block "copy" (%vj_1: spatial 12, %j_2: spatial 4) = affine_map<(d0, d1) -> ((((d0 * 4) + d1) + 4), d1)> (%ko, %j_1) {
// CHECK-NEXT:       %{{.*}} = memref.load %x[%vj_1] : memref<12xf32>
// CHECK-NEXT:       memref.store %{{.*}}, %x_local_ahead[%j_2] : memref<4xf32, #tir.scope<private>>
// CHECK:        tir.block "sum"
// CHECK:        tir.for local_x %j_3 = 0 to 4 {
// CHECK-NEXT:     tir.block "copy_store"

// LOWER-LABEL: @ahead(
// LOWER:      memref.store %{{.*}}, %x_local[
// LOWER:      tir.barrier
// LOWER-NEXT: tir.for serial %ko = 0 to 2 {
// LOWER:        memref.store %{{.*}}, %x_local_ahead
// LOWER-NOT:  tir.barrier
// LOWER:        memref.load %x_local[
// LOWER-NOT:  tir.barrier
// LOWER:        memref.store %{{.*}}, %x_local[
// LOWER:        tir.barrier
// LOWER:      memref.load %x_local[
tir.func @ahead(%x: memref<12xf32>, %y: memref<4xf32>) attributes {outputs = array<i64: 1>, schedule = ["prefetch copy.ko 2"]} {
  %x_local = memref.alloca() : memref<12xf32, #tir.scope<local>>
  tir.for serial %ko = 0 to 3 {
    tir.for local_x %j = 0 to 4 {
      tir.block "copy" (%vj: spatial 12) = affine_map<(d0, d1) -> (d0 * 4 + d1)> (%ko, %j) {
        %a = memref.load %x[%vj] : memref<12xf32>
        memref.store %a, %x_local[%vj] : memref<12xf32, #tir.scope<local>>
      }
    }
    tir.for local_x %i = 0 to 4 {
      tir.for serial %ki = 0 to 4 {
        tir.block "sum" (%vi: spatial 4, %vk: reduce 12) = affine_map<(d0, d1, d2) -> (d2, d0 * 4 + d1)> (%ko, %ki, %i) init [0.0 : f32] {
          %a = memref.load %x_local[%vk] : memref<12xf32, #tir.scope<local>>
          %old = memref.load %y[%vi] : memref<4xf32>
          %new = arith.addf %old, %a : f32
          memref.store %new, %y[%vi] : memref<4xf32>
        }
      }
    }
  }
}

// -----

// The second iteration would find what the first one left.
// expected-error@unknown {{@left, block 'copy': its readers need elements from other iterations}}
tir.func @left(%x: memref<12xf32>, %y: memref<4xf32>) attributes {outputs = array<i64: 1>, schedule = ["prefetch copy.ko 2"]} {
  %x_local = memref.alloca() : memref<12xf32, #tir.scope<local>>
  tir.for serial %ko = 0 to 3 {
    tir.for local_x %j = 0 to 2 {
      tir.block "copy" (%vj: spatial 12) = affine_map<(d0, d1) -> (d0 * 4 + d1)> (%ko, %j) {
        %a = memref.load %x[%vj] : memref<12xf32>
        memref.store %a, %x_local[%vj] : memref<12xf32, #tir.scope<local>>
      }
    }
    tir.for local_x %i = 0 to 4 {
      tir.for serial %ki = 0 to 4 {
        tir.block "sum" (%vi: spatial 4, %vk: reduce 12) = affine_map<(d0, d1, d2) -> (d2, d0 * 4 + d1)> (%ko, %ki, %i) init [0.0 : f32] {
          %a = memref.load %x_local[%vk] : memref<12xf32, #tir.scope<local>>
          %old = memref.load %y[%vi] : memref<4xf32>
          %new = arith.addf %old, %a : f32
          memref.store %new, %y[%vi] : memref<4xf32>
        }
      }
    }
  }
}

// -----

// expected-error@unknown {{@window, block 'sum': iterations of loop 'ko' share elements of 'x_local'}}
tir.func @window(%x: memref<5xf32>, %y: memref<4xf32>) attributes {outputs = array<i64: 1>, schedule = ["prefetch copy.ko 2"]} {
  %x_local = memref.alloca() : memref<5xf32, #tir.scope<private>>
  tir.for serial %ko = 0 to 4 {
    tir.for serial %j = 0 to 2 {
      tir.block "copy" (%vj: spatial 5) = affine_map<(d0, d1) -> (d0 + d1)> (%ko, %j) {
        %a = memref.load %x[%vj] : memref<5xf32>
        memref.store %a, %x_local[%vj] : memref<5xf32, #tir.scope<private>>
      }
    }
    tir.for serial %ki = 0 to 2 {
      tir.block "sum" (%vi: spatial 4, %vk: reduce 2) = affine_map<(d0, d1) -> (d0, d1)> (%ko, %ki) init [0.0 : f32] {
        %at = affine.apply affine_map<(d0, d1) -> (d0 + d1)> (%vi, %vk)
        %a = memref.load %x_local[%at] : memref<5xf32, #tir.scope<private>>
        %old = memref.load %y[%vi] : memref<4xf32>
        %new = arith.addf %old, %a : f32
        memref.store %new, %y[%vi] : memref<4xf32>
      }
    }
  }
}

// -----

// expected-error@unknown {{@short, loop 'ko': it runs 1 times, too few to work 1 ahead}}
tir.func @short(%x: memref<1xf32>, %y: memref<1xf32>) attributes {outputs = array<i64: 1>, schedule = ["prefetch copy.ko 1"]} {
  tir.for serial %ko = 0 to 1 {
    tir.block "copy" (%vj: spatial 1) = affine_map<(d0) -> (d0)> (%ko) {
      %a = memref.load %x[%vj] : memref<1xf32>
      memref.store %a, %y[%vj] : memref<1xf32>
    }
  }
}
