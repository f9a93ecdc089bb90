// RUN: clopt %s -p tir-hoist-guards --split-input-file | filecheck %s

// A row outside of the image adds nothing: the loop over its taps is skipped. The test of a column
// differs from tap to tap and stays.
// CHECK-LABEL: @rows(
// CHECK:      tir.for serial %kh = 0 to 3 {
// CHECK:        %[[ROW:.*]] = affine.apply affine_map<(d0, d1) -> (((d0 + d1) + -1))> (%h, %kh)
// CHECK-NEXT:   %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-NEXT:   %[[TEST:.*]] = arith.cmpi sge, %[[ROW]], %[[ZERO]] : index
// CHECK-NEXT:   scf.if %[[TEST]] {
// CHECK-NEXT:     tir.for serial %kw = 0 to 3 {
// CHECK:            %[[COLUMN:.*]] = arith.cmpi sge
// CHECK-NEXT:       scf.if %[[COLUMN]] -> (f32) {
tir.func @rows(%x: memref<8x8xf32>, %w: memref<3x3xf32>, %y: memref<8xf32>) attributes {outputs = array<i64: 2>, global_size = array<i64: 8>} {
  tir.for global_x %h = 0 to 8 {
    %sum = memref.alloca() : memref<1xf32, #tir.scope<private>>
    %0 = arith.constant 0 : index
    %start = arith.constant 0.0 : f32
    memref.store %start, %sum[%0] : memref<1xf32, #tir.scope<private>>
    tir.for serial %kh = 0 to 3 {
      tir.for serial %kw = 0 to 3 {
        %before = memref.load %sum[%0] : memref<1xf32, #tir.scope<private>>
        %row = affine.apply affine_map<(d0, d1) -> (d0 + d1 + -1)> (%h, %kh)
        %c = affine.apply affine_map<(d0) -> (d0 + -1)> (%kw)
        %1 = arith.cmpi sge, %row, %0 : index
        %2 = arith.cmpi sge, %c, %0 : index
        %3 = arith.andi %1, %2 : i1
        %4 = scf.if %3 -> (f32) {
          %5 = memref.load %x[%row, %c] : memref<8x8xf32>
          scf.yield %5 : f32
        } else {
          %zero = arith.constant 0.0 : f32
          scf.yield %zero : f32
        }
        %weight = memref.load %w[%kh, %kw] : memref<3x3xf32>
        %term = arith.mulf %4, %weight : f32
        %after = arith.addf %before, %term : f32
        memref.store %after, %sum[%0] : memref<1xf32, #tir.scope<private>>
      }
    }
    %total = memref.load %sum[%0] : memref<1xf32, #tir.scope<private>>
    memref.store %total, %y[%h] : memref<8xf32>
  }
}

// -----

// Without a test that is left, the load needs no condition.
// CHECK-LABEL: @whole(
// CHECK:      scf.if %{{.*}} {
// CHECK-NEXT:   tir.for serial %k = 0 to 3 {
// CHECK-NOT:    scf.if
// CHECK:        memref.load %x
// CHECK:        arith.addf
tir.func @whole(%x: memref<8x3xf32>, %y: memref<9xf32>) attributes {outputs = array<i64: 1>, global_size = array<i64: 9>} {
  tir.for global_x %h = 0 to 9 {
    %0 = arith.constant 0 : index
    tir.for serial %k = 0 to 3 {
      %before = memref.load %y[%h] : memref<9xf32>
      %8 = arith.constant 8 : index
      %1 = arith.cmpi slt, %h, %8 : index
      %4 = scf.if %1 -> (f32) {
        %5 = memref.load %x[%h, %k] : memref<8x3xf32>
        scf.yield %5 : f32
      } else {
        %zero = arith.constant 0.0 : f32
        scf.yield %zero : f32
      }
      %after = arith.addf %before, %4 : f32
      memref.store %after, %y[%h] : memref<9xf32>
    }
  }
}

// -----

// Elsewhere something else than zero is added, or the loop stores more than the sum.
// CHECK-LABEL: @stay(
// CHECK:      tir.for serial %k = 0 to 3 {
// CHECK-NEXT:   memref.load
// CHECK-LABEL: @two(
// CHECK:      tir.for serial %k = 0 to 3 {
// CHECK-NEXT:   memref.load
tir.func @stay(%x: memref<8x3xf32>, %y: memref<9xf32>) attributes {outputs = array<i64: 1>, global_size = array<i64: 9>} {
  tir.for global_x %h = 0 to 9 {
    tir.for serial %k = 0 to 3 {
      %before = memref.load %y[%h] : memref<9xf32>
      %8 = arith.constant 8 : index
      %1 = arith.cmpi slt, %h, %8 : index
      %4 = scf.if %1 -> (f32) {
        %5 = memref.load %x[%h, %k] : memref<8x3xf32>
        scf.yield %5 : f32
      } else {
        %one = arith.constant 1.0 : f32
        scf.yield %one : f32
      }
      %after = arith.addf %before, %4 : f32
      memref.store %after, %y[%h] : memref<9xf32>
    }
  }
}
tir.func @two(%x: memref<8x3xf32>, %y: memref<9xf32>, %z: memref<9xf32>) attributes {outputs = array<i64: 1, 2>, global_size = array<i64: 9>} {
  tir.for global_x %h = 0 to 9 {
    tir.for serial %k = 0 to 3 {
      %before = memref.load %y[%h] : memref<9xf32>
      %8 = arith.constant 8 : index
      %1 = arith.cmpi slt, %h, %8 : index
      %4 = scf.if %1 -> (f32) {
        %5 = memref.load %x[%h, %k] : memref<8x3xf32>
        scf.yield %5 : f32
      } else {
        %zero = arith.constant 0.0 : f32
        scf.yield %zero : f32
      }
      %after = arith.addf %before, %4 : f32
      memref.store %after, %y[%h] : memref<9xf32>
      memref.store %after, %z[%h] : memref<9xf32>
    }
  }
}

// -----

// The test of an unrolled column is known in each copy of the body: outside of the image there is
// no term.
// CHECK-LABEL: @columns(
// CHECK:      tir.for serial %k = 0 to 5 {
// CHECK-NEXT:   tir.for unrolled %w = 0 to 3 {
// CHECK:          %[[TEST:.*]] = arith.cmpi sge
// CHECK-NEXT:     scf.if %[[TEST]] {
// CHECK-NEXT:       tir.for vectorized %o = 0 to 4 {
// CHECK-NOT:        scf.if
// CHECK:            arith.addf
tir.func @columns(%x: memref<5x3xf32>, %v: memref<5x4xf32>, %y: memref<3x4xf32>) attributes {outputs = array<i64: 2>, global_size = array<i64: 1>} {
  %0 = arith.constant 0 : index
  tir.for serial %k = 0 to 5 {
    tir.for unrolled %w = 0 to 3 {
      tir.for vectorized %o = 0 to 4 {
        %before = memref.load %y[%w, %o] : memref<3x4xf32>
        %c = affine.apply affine_map<(d0) -> (d0 + -1)> (%w)
        %1 = arith.cmpi sge, %c, %0 : index
        %2 = scf.if %1 -> (f32) {
          %3 = memref.load %x[%k, %c] : memref<5x3xf32>
          scf.yield %3 : f32
        } else {
          %zero = arith.constant 0.0 : f32
          scf.yield %zero : f32
        }
        %weight = memref.load %v[%k, %o] : memref<5x4xf32>
        %term = arith.mulf %2, %weight : f32
        %after = arith.addf %before, %term : f32
        memref.store %after, %y[%w, %o] : memref<3x4xf32>
      }
    }
  }
}
