// RUN: clopt %s -t opencl-c | filecheck %s

// A register tile: vectors along the vectorized loop, loads shared by the unrolled ones.
tir.func @tile(%a: memref<64x2xf32>, %b: memref<64x8xf32>, %y: memref<2x8xf32>)
    attributes {comment = "nodes: gemm", outputs = array<i64: 2>} {
  %acc = memref.alloca() : memref<2x8xf32, #tir.scope<private>>
  %zero = arith.constant 0.0 : f32
  tir.for unrolled %i = 0 to 2 {
    tir.for vectorized %j = 0 to 8 {
      memref.store %zero, %acc[%i, %j] : memref<2x8xf32, #tir.scope<private>>
    }
  }
  tir.for serial %k = 0 to 64 {
    tir.for unrolled %i = 0 to 2 {
      tir.for vectorized %j = 0 to 8 {
        %av = memref.load %a[%k, %i] : memref<64x2xf32>
        %bv = memref.load %b[%k, %j] : memref<64x8xf32>
        %p = arith.mulf %av, %bv : f32
        %old = memref.load %acc[%i, %j] : memref<2x8xf32, #tir.scope<private>>
        %new = arith.addf %old, %p : f32
        memref.store %new, %acc[%i, %j] : memref<2x8xf32, #tir.scope<private>>
      }
    }
  }
  tir.for unrolled %i = 0 to 2 {
    tir.for vectorized %j = 0 to 8 {
      %v = memref.load %acc[%i, %j] : memref<2x8xf32, #tir.scope<private>>
      %r = arith.maximumf %v, %zero : f32
      memref.store %r, %y[%i, %j] : memref<2x8xf32>
    }
  }
}

// CHECK: // nodes: gemm
// CHECK-NEXT: __kernel void tile(
// CHECK-NEXT:     __global const float *restrict a,
// CHECK-NEXT:     __global const float *restrict b,
// CHECK-NEXT:     __global float *restrict y) {
// CHECK-NEXT:     float8 acc_0 = (float8)(0.0f);
// CHECK-NEXT:     float8 acc_1 = (float8)(0.0f);
// CHECK-NEXT:     for (int k = 0; k < 64; k++) {
// CHECK-NEXT:         const float8 bv0 = vload8(0, b + k * 8);
// CHECK-NEXT:         acc_0 += a[k * 2] * bv0;
// CHECK-NEXT:         acc_1 += a[k * 2 + 1] * bv0;
// CHECK-NEXT:     }
// CHECK-NEXT:     vstore8(acc_0 < 0.0f ? (float8)(0.0f) : acc_0, 0, y);
// CHECK-NEXT:     vstore8(acc_1 < 0.0f ? (float8)(0.0f) : acc_1, 0, y + 8);
// CHECK-NEXT: }

// Single elements of a vector register have constant indices.
tir.func @lane(%x: memref<16xf32>, %y: memref<1xf32>) attributes {outputs = array<i64: 1>} {
  %t = memref.alloca() : memref<16xf32, #tir.scope<private>>
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %c11 = arith.constant 11 : index
  tir.for unrolled %h = 0 to 2 {
    tir.for vectorized %j = 0 to 8 {
      %at = affine.apply affine_map<(d0, d1) -> (d0 * 8 + d1)> (%h, %j)
      %v = memref.load %x[%at] : memref<16xf32>
      memref.store %v, %t[%at] : memref<16xf32, #tir.scope<private>>
    }
  }
  %a = memref.load %t[%c5] : memref<16xf32, #tir.scope<private>>
  %b = memref.load %t[%c11] : memref<16xf32, #tir.scope<private>>
  %r = arith.subf %a, %b : f32
  memref.store %r, %y[%c0] : memref<1xf32>
}

// CHECK: __kernel void lane(__global const float *restrict x, __global float *restrict y) {
// CHECK-NEXT:     float8 t_0 = vload8(0, x);
// CHECK-NEXT:     float8 t_1 = vload8(0, x + 8);
// CHECK-NEXT:     y[0] = t_0.s5 - t_1.s3;
// CHECK-NEXT: }

// A buffer of each lane: a vector, or an array of vectors where the index changes.
tir.func @lanes(%x: memref<5x4xf32>, %y: memref<4xf32>) attributes {outputs = array<i64: 1>} {
  tir.for vectorized %j = 0 to 4 {
    %best = memref.alloca() : memref<f32, #tir.scope<private>>
    %all = memref.alloca() : memref<5xf32, #tir.scope<private>>
    %c0 = arith.constant 0 : index
    %first = memref.load %x[%c0, %j] : memref<5x4xf32>
    memref.store %first, %best[] : memref<f32, #tir.scope<private>>
    tir.for serial %k = 0 to 5 {
      %v = memref.load %x[%k, %j] : memref<5x4xf32>
      memref.store %v, %all[%k] : memref<5xf32, #tir.scope<private>>
      %old = memref.load %best[] : memref<f32, #tir.scope<private>>
      %new = arith.maximumf %old, %v : f32
      memref.store %new, %best[] : memref<f32, #tir.scope<private>>
    }
    %sum = memref.alloca() : memref<f32, #tir.scope<private>>
    %zero = arith.constant 0.0 : f32
    memref.store %zero, %sum[] : memref<f32, #tir.scope<private>>
    tir.for serial %k = 0 to 5 {
      %v = memref.load %all[%k] : memref<5xf32, #tir.scope<private>>
      %max = memref.load %best[] : memref<f32, #tir.scope<private>>
      %d = arith.subf %v, %max : f32
      %e = math.exp %d : f32
      %old = memref.load %sum[] : memref<f32, #tir.scope<private>>
      %new = arith.addf %old, %e : f32
      memref.store %new, %sum[] : memref<f32, #tir.scope<private>>
    }
    %r = memref.load %sum[] : memref<f32, #tir.scope<private>>
    memref.store %r, %y[%j] : memref<4xf32>
  }
}

// CHECK: __kernel void lanes(__global const float *restrict x, __global float *restrict y) {
// CHECK-NEXT:     float4 all0[5];
// CHECK-NEXT:     float4 best = vload4(0, x);
// CHECK-NEXT:     for (int k = 0; k < 5; k++) {
// CHECK-NEXT:         const float4 v = vload4(0, x + k * 4);
// CHECK-NEXT:         all0[k] = v;
// CHECK-NEXT:         best = ((best > v) | (best != best)) ? best : v;
// CHECK-NEXT:     }
// CHECK-NEXT:     float4 sum = (float4)(0.0f);
// CHECK-NEXT:     for (int k = 0; k < 5; k++) {
// CHECK-NEXT:         sum += vector_exp4(all0[k] - best);
// CHECK-NEXT:     }
// CHECK-NEXT:     vstore4(sum, 0, y);
// CHECK-NEXT: }

// An index that is not constant needs an array.
tir.func @array(%x: memref<12xf32>, %y: memref<12xf32>) attributes {outputs = array<i64: 1>} {
  %t = memref.alloca() : memref<12xf32, #tir.scope<private>>
  tir.for serial %i = 0 to 12 {
    %v = memref.load %x[%i] : memref<12xf32>
    memref.store %v, %t[%i] : memref<12xf32, #tir.scope<private>>
  }
  tir.for serial %i = 0 to 3 {
    tir.for vectorized %j = 0 to 4 {
      %at = affine.apply affine_map<(d0, d1) -> (d0 * 4 + d1)> (%i, %j)
      %v = memref.load %t[%at] : memref<12xf32, #tir.scope<private>>
      %w = arith.addf %v, %v : f32
      memref.store %w, %y[%at] : memref<12xf32>
    }
  }
}

// CHECK: __kernel void array(__global const float *restrict x, __global float *restrict y) {
// CHECK-NEXT:     float t[12];
// CHECK-NEXT:     for (int i = 0; i < 12; i++) {
// CHECK-NEXT:         t[i] = x[i];
// CHECK-NEXT:     }
// CHECK-NEXT:     for (int i = 0; i < 3; i++) {
// CHECK-NEXT:         const float4 v = vload4(0, t + i * 4);
// CHECK-NEXT:         vstore4(v + v, 0, y + i * 4);
// CHECK-NEXT:     }
// CHECK-NEXT: }
