// RUN: clopt %s -p tir-apply-schedule --split-input-file --verify-diagnostics | filecheck %s

// CHECK-LABEL: @rows
// CHECK:      tir.for rolled %i = 0 to 3 {
// CHECK-NEXT:   tir.for parallel %j = 0 to 4 {
tir.func @rows(%x: memref<3x4xf32>, %y: memref<3x4xf32>) attributes {outputs = array<i64: 1>, schedule = ["roll copy.i"]} {
  tir.for parallel %i = 0 to 3 {
    tir.for parallel %j = 0 to 4 {
      tir.block "copy" (%v: spatial 3, %w: spatial 4) = affine_map<(d0, d1) -> (d0, d1)> (%i, %j) {
        %a = memref.load %x[%v, %w] : memref<3x4xf32>
        memref.store %a, %y[%v, %w] : memref<3x4xf32>
      }
    }
  }
}

// -----

// A loop that runs once is in nobody's way until it is rolled, or split past its end.
// expected-error@unknown {{@once, loop 'j': a global_x loop must have only global and group loops around it}}
tir.func @once(%x: memref<1x4xf32>, %y: memref<1x4xf32>) attributes {outputs = array<i64: 1>, schedule = ["bind copy.j global_x", "roll copy.i"]} {
  tir.for parallel %i = 0 to 1 {
    tir.for parallel %j = 0 to 4 {
      tir.block "copy" (%v: spatial 1, %w: spatial 4) = affine_map<(d0, d1) -> (d0, d1)> (%i, %j) {
        %a = memref.load %x[%v, %w] : memref<1x4xf32>
        memref.store %a, %y[%v, %w] : memref<1x4xf32>
      }
    }
  }
}

// -----

// expected-error@unknown {{@past, loop 'j': a global_x loop must have only global and group loops around it}}
tir.func @past(%x: memref<1x4xf32>, %y: memref<1x4xf32>) attributes {outputs = array<i64: 1>, schedule = ["bind copy.j global_x", "split copy.i 2"]} {
  tir.for parallel %i = 0 to 1 {
    tir.for parallel %j = 0 to 4 {
      tir.block "copy" (%v: spatial 1, %w: spatial 4) = affine_map<(d0, d1) -> (d0, d1)> (%i, %j) {
        %a = memref.load %x[%v, %w] : memref<1x4xf32>
        memref.store %a, %y[%v, %w] : memref<1x4xf32>
      }
    }
  }
}
