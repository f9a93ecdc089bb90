// RUN: clopt %s -t opencl-c | filecheck %s

// Work-items return at once if a condition does not hold, which may be a row of a buffer.
// CHECK:      __kernel void branch(
// CHECK-NEXT:     __global const float *restrict x,
// CHECK-NEXT:     __global const uchar *restrict taken,
// CHECK-NEXT:     __global const uchar *restrict taken0,
// CHECK-NEXT:     __global float *restrict y,
// CHECK-NEXT:     const int taken_at) {
// CHECK-NEXT:     taken0 += taken_at;
// CHECK-NEXT:     if (!*taken) return;
// CHECK-NEXT:     if (*taken0) return;
// CHECK-NEXT:     const int i = get_global_id(0);
// CHECK-NEXT:     y[i] = x[i];
// CHECK-NEXT: }
tir.func @branch(%x: memref<8xf32>, %taken: memref<i1>, %taken_1: memref<1xi1>, %y: memref<8xf32>)
    attributes {outputs = array<i64: 3>, rows = array<i64: 2>, runs_if = [array<i64: 1, 1>, array<i64: 2, 0>], global_size = array<i64: 8>} {
  tir.for global_x %i = 0 to 8 {
    %a = memref.load %x[%i] : memref<8xf32>
    memref.store %a, %y[%i] : memref<8xf32>
  }
}
