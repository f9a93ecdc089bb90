// RUN: clopt %s -t opencl-c | filecheck %s

// Addresses are sums of products; unrolled variables are part of the constant.
tir.func @address(%w: memref<32x64x3x3xf32>, %y: memref<32x64x2xf32>)
    attributes {outputs = array<i64: 1>} {
  tir.for serial %oc = 0 to 32 {
    tir.for serial %ic = 0 to 64 {
      tir.for unrolled %kw = 0 to 2 {
        %c1 = arith.constant 1 : index
        %v = memref.load %w[%oc, %ic, %c1, %kw] : memref<32x64x3x3xf32>
        memref.store %v, %y[%oc, %ic, %kw] : memref<32x64x2xf32>
      }
    }
  }
}

// CHECK: __kernel void address(__global const float *restrict w, __global float *restrict y) {
// CHECK-NEXT:     for (int oc = 0; oc < 32; oc++) {
// CHECK-NEXT:         for (int ic = 0; ic < 64; ic++) {
// CHECK-NEXT:             y[oc * 128 + ic * 2] = w[oc * 576 + ic * 9 + 3];
// CHECK-NEXT:             y[oc * 128 + ic * 2 + 1] = w[oc * 576 + ic * 9 + 4];
// CHECK-NEXT:         }
// CHECK-NEXT:     }
// CHECK-NEXT: }

// Quotients and remainders that the extents decide are gone; the others are computed once.
tir.func @division(%x: memref<7x9x4xf32>, %y: memref<252xf32>) attributes {outputs = array<i64: 1>} {
  tir.for serial %i = 0 to 63 {
    tir.for serial %j = 0 to 4 {
      %row = affine.apply affine_map<(d0, d1) -> ((d0 * 4 + d1) floordiv 36)> (%i, %j)
      %col = affine.apply affine_map<(d0, d1) -> ((d0 * 4 + d1) floordiv 4 mod 9)> (%i, %j)
      %last = affine.apply affine_map<(d0, d1) -> ((d0 * 4 + d1) mod 4)> (%i, %j)
      %swapped = affine.apply affine_map<(d0, d1, d2) -> (d1 * 28 + d0 * 4 + d2)> (%row, %col, %last)
      %v = memref.load %x[%row, %col, %last] : memref<7x9x4xf32>
      memref.store %v, %y[%swapped] : memref<252xf32>
    }
  }
}

// CHECK: __kernel void division(__global const float *restrict x, __global float *restrict y) {
// CHECK-NEXT:     for (int i = 0; i < 63; i++) {
// CHECK-NEXT:         for (int j = 0; j < 4; j++) {
// CHECK-NEXT:             y[(i % 9) * 28 + (i / 9) * 4 + j] = x[i * 4 + j];
// CHECK-NEXT:         }
// CHECK-NEXT:     }
// CHECK-NEXT: }

// Powers of two are shifts and masks, which round down: compilers do not know the sign.
tir.func @power_of_two(%y: memref<40x2xindex>) attributes {outputs = array<i64: 0>} {
  tir.for serial %i = 0 to 40 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %block = affine.apply affine_map<(d0) -> ((d0 - 5) floordiv 16)> (%i)
    %lane = affine.apply affine_map<(d0) -> (d0 mod 16)> (%i)
    memref.store %block, %y[%i, %c0] : memref<40x2xindex>
    memref.store %lane, %y[%i, %c1] : memref<40x2xindex>
  }
}

// CHECK: __kernel void power_of_two(
// CHECK-NEXT:     for (int i = 0; i < 40; i++) {
// CHECK-NEXT:         y[i * 2] = ((i + 11) >> 4) - 1;
// CHECK-NEXT:         y[i * 2 + 1] = i & 15;
// CHECK-NEXT:     }

// Quotients round down where the dividend may be negative.
tir.func @negative(%d: memref<1xi32>, %y: memref<5x6xi32>) attributes {outputs = array<i64: 1>} {
  %c0 = arith.constant 0 : index
  %loaded = memref.load %d[%c0] : memref<1xi32>
  %n = arith.index_cast %loaded : i32 to index
  tir.for serial %i = 0 to 6 {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %a = affine.apply affine_map<(d0) -> ((d0 - 4) floordiv 3)> (%i)
    %b = affine.apply affine_map<(d0) -> (d0 floordiv 8)> (%n)
    %c = affine.apply affine_map<(d0) -> (d0 mod 8)> (%n)
    %d0 = affine.apply affine_map<(d0) -> (d0 floordiv 3)> (%n)
    %e = affine.apply affine_map<(d0) -> (d0 mod 3)> (%n)
    %ai = arith.index_cast %a : index to i32
    %bi = arith.index_cast %b : index to i32
    %ci = arith.index_cast %c : index to i32
    %di = arith.index_cast %d0 : index to i32
    %ei = arith.index_cast %e : index to i32
    memref.store %ai, %y[%c0, %i] : memref<5x6xi32>
    memref.store %bi, %y[%c1, %i] : memref<5x6xi32>
    memref.store %ci, %y[%c2, %i] : memref<5x6xi32>
    memref.store %di, %y[%c3, %i] : memref<5x6xi32>
    memref.store %ei, %y[%c4, %i] : memref<5x6xi32>
  }
}

// CHECK: __kernel void negative(__global const int *restrict d, __global int *restrict y) {
// CHECK-NEXT:     const int loaded = d[0];
// CHECK-NEXT:     #pragma unroll
// CHECK-NEXT:     for (int i = 0; i < 6; i++) {
// CHECK-NEXT:         y[i] = (i + 2) / 3 - 2;
// CHECK-NEXT:         y[i + 6] = loaded >> 3;
// CHECK-NEXT:         y[i + 12] = loaded & 7;
// CHECK-NEXT:         y[i + 18] = (loaded - (loaded < 0 ? 2 : 0)) / 3;
// CHECK-NEXT:         y[i + 24] = (loaded % 3 + 3) % 3;
// CHECK-NEXT:     }
// CHECK-NEXT: }

// Loaded indices wrap, clamp and choose.
tir.func @gather(%x: memref<10x3xf32>, %at: memref<8xi64>, %y: memref<8x3xf32>)
    attributes {outputs = array<i64: 2>} {
  tir.for serial %i = 0 to 8 {
    tir.for serial %j = 0 to 3 {
      %raw = memref.load %at[%i] : memref<8xi64>
      %zero = arith.constant 0 : i64
      %ten = arith.constant 10 : i64
      %negative = arith.cmpi slt, %raw, %zero : i64
      %wrapped = arith.addi %raw, %ten : i64
      %chosen = arith.select %negative, %wrapped, %raw : i64
      %row = arith.index_cast %chosen : i64 to index
      %v = memref.load %x[%row, %j] : memref<10x3xf32>
      memref.store %v, %y[%i, %j] : memref<8x3xf32>
    }
  }
}

// CHECK: __kernel void gather(
// CHECK-NEXT:     __global const float *restrict x,
// CHECK-NEXT:     __global const long *restrict at,
// CHECK-NEXT:     __global float *restrict y) {
// CHECK-NEXT:     for (int i = 0; i < 8; i++) {
// CHECK-NEXT:         const long raw = at[i];
// CHECK-NEXT:         const int t = (int)(raw < 0L ? raw + 10L : raw);
// CHECK-NEXT:         for (int j = 0; j < 3; j++) {
// CHECK-NEXT:             y[i * 3 + j] = x[t * 3 + j];
// CHECK-NEXT:         }
// CHECK-NEXT:     }
// CHECK-NEXT: }

// More than 2^31 elements: indices are long.
tir.func @large(%x: memref<3x1073741824xi8>, %y: memref<3xi8>) attributes {outputs = array<i64: 1>} {
  tir.for global_x %i = 0 to 3 {
    %c7 = arith.constant 7 : index
    %v = memref.load %x[%i, %c7] : memref<3x1073741824xi8>
    memref.store %v, %y[%i] : memref<3xi8>
  }
}

// CHECK: __kernel void large(__global const char *restrict x, __global char *restrict y) {
// CHECK-NEXT:     const long i = get_global_id(0);
// CHECK-NEXT:     y[i] = x[i * 1073741824 + 7];
// CHECK-NEXT: }
