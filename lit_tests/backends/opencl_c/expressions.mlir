// RUN: clopt %s -t opencl-c | filecheck %s

// Parentheses where C needs them; constants as short as they can be.
tir.func @precedence(%x: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = array<i64: 1>} {
  tir.for global_x %i = 0 to 8 {
    %v = memref.load %x[%i] : memref<8xf32>
    %third = arith.constant 0.333333343 : f32
    %inf = arith.constant 0x7f800000 : f32
    %one = arith.constant 1.0 : f32
    %a = arith.addf %v, %third : f32
    %b = arith.mulf %a, %v : f32
    %c = arith.subf %one, %b : f32
    %d = arith.divf %one, %c : f32
    %n = arith.negf %d : f32
    %m = arith.minimumf %n, %inf : f32
    memref.store %m, %y[%i] : memref<8xf32>
  }
}

// CHECK: #pragma OPENCL EXTENSION cl_khr_fp64 : enable
// CHECK: __kernel void precedence(__global const float *restrict x, __global float *restrict y) {
// CHECK-NEXT:     // Build with -cl-fp32-correctly-rounded-divide-sqrt where the device takes it.
// CHECK-NEXT:     const int i = get_global_id(0);
// CHECK-NEXT:     const float v = x[i];
// CHECK-NEXT:     const float n = -(1.0f / (1.0f - (v + 0.33333334f) * v));
// CHECK-NEXT:     y[i] = n > INFINITY ? INFINITY : n;
// CHECK-NEXT: }

// A value that is used twice gets its own name; one that is used once does not.
tir.func @sharing(%x: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = array<i64: 1>} {
  tir.for global_x %i = 0 to 8 {
    %v = memref.load %x[%i] : memref<8xf32>
    %again = memref.load %x[%i] : memref<8xf32>
    %one = arith.constant 1.0 : f32
    %e = math.sinh %v : f32
    %s = arith.addf %e, %one : f32
    %l = math.log %s : f32
    %t = math.tanh %l : f32
    %r = arith.mulf %again, %t : f32
    memref.store %r, %y[%i] : memref<8xf32>
  }
}

// CHECK: __kernel void sharing(__global const float *restrict x, __global float *restrict y) {
// CHECK-NEXT:     const int i = get_global_id(0);
// CHECK-NEXT:     const float v = x[i];
// CHECK-NEXT:     y[i] = v * vector_tanh(log(sinh(v) + 1.0f));
// CHECK-NEXT: }

// What was loaded before a store stays what it was.
tir.func @order(%x: memref<2x8xf32>) attributes {outputs = array<i64: 0>} {
  tir.for global_x %i = 0 to 8 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = memref.load %x[%c0, %i] : memref<2x8xf32>
    %b = memref.load %x[%c1, %i] : memref<2x8xf32>
    memref.store %b, %x[%c0, %i] : memref<2x8xf32>
    memref.store %a, %x[%c1, %i] : memref<2x8xf32>
  }
}

// CHECK: __kernel void order(__global float *restrict x) {
// CHECK-NEXT:     const int i = get_global_id(0);
// CHECK-NEXT:     const float a = x[i];
// CHECK-NEXT:     x[i] = x[i + 8];
// CHECK-NEXT:     x[i + 8] = a;
// CHECK-NEXT: }

// Signless integers are signed in C; unsigned operations cast, narrow results wrap.
tir.func @integers(%x: memref<8xi8>, %y: memref<8xi32>, %z: memref<8xi64>)
    attributes {outputs = array<i64: 1, 2>} {
  tir.for global_x %i = 0 to 8 {
    %v = memref.load %x[%i] : memref<8xi8>
    %three = arith.constant 3 : i8
    %s = arith.addi %v, %three : i8
    %q = arith.divui %s, %three : i8
    %w = arith.extui %q : i8 to i32
    %min = arith.constant -2147483648 : i32
    %m = arith.maxsi %w, %min : i32
    memref.store %m, %y[%i] : memref<8xi32>
    %l = arith.extsi %v : i8 to i64
    %big = arith.constant 5000000000 : i64
    %r = arith.remui %big, %l : i64
    memref.store %r, %z[%i] : memref<8xi64>
  }
}

// CHECK: __kernel void integers(
// CHECK-NEXT:     __global const char *restrict x,
// CHECK-NEXT:     __global int *restrict y,
// CHECK-NEXT:     __global long *restrict z) {
// CHECK-NEXT:     const int i = get_global_id(0);
// CHECK-NEXT:     const char v = x[i];
// CHECK-NEXT:     y[i] = max((int)(uint)(uchar)((uchar)(char)(v + 3) / 3u), INT_MIN);
// CHECK-NEXT:     z[i] = 5000000000UL % (ulong)(long)v;
// CHECK-NEXT: }

// Comparisons and NaN.
tir.func @not_a_number(%x: memref<8xf32>, %w: memref<8xf32>, %y: memref<8xf32>, %z: memref<8xi1>)
    attributes {outputs = array<i64: 2, 3>} {
  tir.for global_x %i = 0 to 8 {
    %a = memref.load %x[%i] : memref<8xf32>
    %b = memref.load %w[%i] : memref<8xf32>
    %zero = arith.constant 0.0 : f32
    %m = arith.maximumf %a, %b : f32
    %r = arith.maximumf %m, %zero : f32
    memref.store %r, %y[%i] : memref<8xf32>
    %unordered = arith.cmpf ult, %a, %b : f32
    %nan = tir.call "isnan"(%b) : (f32) -> i1
    %c = arith.ori %unordered, %nan : i1
    memref.store %c, %z[%i] : memref<8xi1>
  }
}

// CHECK: __kernel void not_a_number(
// CHECK-NEXT:     __global const float *restrict x,
// CHECK-NEXT:     __global const float *restrict w,
// CHECK-NEXT:     __global float *restrict y,
// CHECK-NEXT:     __global uchar *restrict z) {
// CHECK-NEXT:     const int i = get_global_id(0);
// CHECK-NEXT:     const float a = x[i];
// CHECK-NEXT:     const float b = w[i];
// CHECK-NEXT:     const float m = (a > b || a != a) ? a : b;
// CHECK-NEXT:     y[i] = m < 0.0f ? 0.0f : m;
// CHECK-NEXT:     z[i] = !(a >= b) || isnan(b);
// CHECK-NEXT: }

// Double precision asks for its extension.
tir.func @doubles(%x: memref<8xf64>, %y: memref<8xf64>) attributes {outputs = array<i64: 1>} {
  tir.for global_x %i = 0 to 8 {
    %v = memref.load %x[%i] : memref<8xf64>
    %k = arith.constant 0.1 : f64
    %r = arith.mulf %v, %k : f64
    memref.store %r, %y[%i] : memref<8xf64>
  }
}

// CHECK: __kernel void doubles(__global const double *restrict x, __global double *restrict y) {
// CHECK-NEXT:     const int i = get_global_id(0);
// CHECK-NEXT:     y[i] = x[i] * 0.1;
// CHECK-NEXT: }
