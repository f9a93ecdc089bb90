// RUN: clopt %s -t opencl-c | filecheck %s

// The lanes load what they need: a vector, every second element, backwards, one for all.
tir.func @loads(%x: memref<16xf32>, %y: memref<4x4xf32>) attributes {outputs = array<i64: 1>} {
  tir.for vectorized %j = 0 to 4 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %even = affine.apply affine_map<(d0) -> (d0 * 2)> (%j)
    %back = affine.apply affine_map<(d0) -> (15 - d0)> (%j)
    %a = memref.load %x[%j] : memref<16xf32>
    %b = memref.load %x[%even] : memref<16xf32>
    %c = memref.load %x[%back] : memref<16xf32>
    %d = memref.load %x[%c3] : memref<16xf32>
    memref.store %a, %y[%c0, %j] : memref<4x4xf32>
    memref.store %b, %y[%c1, %j] : memref<4x4xf32>
    memref.store %c, %y[%c2, %j] : memref<4x4xf32>
    memref.store %d, %y[%j, %c3] : memref<4x4xf32>
  }
}

// CHECK: __kernel void loads(__global const float *restrict x, __global float *restrict y) {
// CHECK-NEXT:     const float d = x[3];
// CHECK-NEXT:     vstore4(vload4(0, x), 0, y);
// CHECK-NEXT:     vstore4(vload8(0, x).even, 0, y + 4);
// CHECK-NEXT:     vstore4(vload4(0, x + 12).s3210, 0, y + 8);
// CHECK-NEXT:     y[3] = d;
// CHECK-NEXT:     y[7] = d;
// CHECK-NEXT:     y[11] = d;
// CHECK-NEXT:     y[15] = d;
// CHECK-NEXT: }

// Truth values are masks as wide as what they choose between, and bytes in memory.
tir.func @masks(%x: memref<8xf32>, %n: memref<8xi64>, %b: memref<8xi1>, %y: memref<8xi64>, %z: memref<8xi1>)
    attributes {outputs = array<i64: 3, 4>} {
  tir.for vectorized %j = 0 to 8 {
    %v = memref.load %x[%j] : memref<8xf32>
    %w = memref.load %n[%j] : memref<8xi64>
    %flag = memref.load %b[%j] : memref<8xi1>
    %half = arith.constant 0.5 : f32
    %minus = arith.constant -1 : i64
    %above = arith.cmpf ogt, %v, %half : f32
    %both = arith.andi %above, %flag : i1
    %r = arith.select %both, %w, %minus : i64
    memref.store %r, %y[%j] : memref<8xi64>
    memref.store %above, %z[%j] : memref<8xi1>
  }
}

// CHECK: __kernel void masks(
// CHECK-NEXT:     __global const float *restrict x,
// CHECK-NEXT:     __global const long *restrict n,
// CHECK-NEXT:     __global const uchar *restrict b,
// CHECK-NEXT:     __global long *restrict y,
// CHECK-NEXT:     __global uchar *restrict z) {
// CHECK-NEXT:     const int8 above = vload8(0, x) > 0.5f;
// CHECK-NEXT:     const long8 r = convert_long8(above & convert_int8(vload8(0, b) != (uchar8)(0u))) ? vload8(0, n)
// CHECK-NEXT:             : (long8)(-1L);
// CHECK-NEXT:     vstore8(r, 0, y);
// CHECK-NEXT:     vstore8(convert_uchar8(-above), 0, z);
// CHECK-NEXT: }

// Uniform values stay scalars; builtins want all operands as vectors.
tir.func @uniform(%x: memref<8xf32>, %s: memref<1xf32>, %y: memref<8xf32>)
    attributes {outputs = array<i64: 2>} {
  tir.for vectorized %j = 0 to 8 {
    %c0 = arith.constant 0 : index
    %v = memref.load %x[%j] : memref<8xf32>
    %scale = memref.load %s[%c0] : memref<1xf32>
    %root = math.sqrt %scale : f32
    %a = arith.mulf %v, %root : f32
    %p = math.powf %a, %scale : f32
    memref.store %p, %y[%j] : memref<8xf32>
  }
}

// CHECK: __kernel void uniform(
// CHECK-NEXT:     __global const float *restrict x,
// CHECK-NEXT:     __global const float *restrict s,
// CHECK-NEXT:     __global float *restrict y) {
// CHECK-NEXT:     // Build with -cl-fp32-correctly-rounded-divide-sqrt where the device takes it.
// CHECK-NEXT:     const float scale = s[0];
// CHECK-NEXT:     vstore8(pow(vload8(0, x) * sqrt(scale), (float8)(scale)), 0, y);
// CHECK-NEXT: }

// Builtins work on at most 8 lanes.
tir.func @wide(%x: memref<16xf32>, %y: memref<16xf32>) attributes {outputs = array<i64: 1>} {
  tir.for vectorized %j = 0 to 16 {
    %v = memref.load %x[%j] : memref<16xf32>
    %e = math.exp2 %v : f32
    memref.store %e, %y[%j] : memref<16xf32>
  }
}

// CHECK: __kernel void wide(__global const float *restrict x, __global float *restrict y) {
// CHECK-NEXT:     const float16 v = vload16(0, x);
// CHECK-NEXT:     vstore16((float16)(exp2(v.lo), exp2(v.hi)), 0, y);
// CHECK-NEXT: }

// Without half arithmetic, half is only a storage format.
tir.func @halves(%x: memref<9xf16>, %y: memref<9xf16>) attributes {outputs = array<i64: 1>} {
  %two = arith.constant 2.0 : f16
  tir.for vectorized %j = 0 to 8 {
    %v = memref.load %x[%j] : memref<9xf16>
    %r = arith.mulf %v, %two : f16
    memref.store %r, %y[%j] : memref<9xf16>
  }
  %c8 = arith.constant 8 : index
  %v = memref.load %x[%c8] : memref<9xf16>
  memref.store %v, %y[%c8] : memref<9xf16>
}

// CHECK: __kernel void halves(__global const half *restrict x, __global half *restrict y) {
// CHECK-NEXT:     const float8 v = (float8)(vload_half4(0, x), vload_half4(0, x + 4));
// CHECK-NEXT:     vstore_half8(v * 2.0f, 0, y);
// CHECK-NEXT:     vstore_half(vload_half(8, x), 8, y);
// CHECK-NEXT: }

// A scalar cannot move by a vector (OpenCL C 1.2, 6.3j), so it becomes one.
tir.func @shifts(%x: memref<1xi32>, %n: memref<4xi32>, %y: memref<4xi32>) attributes {outputs = array<i64: 2>} {
  tir.for vectorized %j = 0 to 4 {
    %c0 = arith.constant 0 : index
    %a = memref.load %x[%c0] : memref<1xi32>
    %b = memref.load %n[%j] : memref<4xi32>
    %left = arith.shli %a, %b : i32
    memref.store %left, %y[%j] : memref<4xi32>
  }
}

// CHECK-LABEL: __kernel void shifts
// CHECK: (int4)(x[0]) << vload4(0, n)
