// RUN: clopt %s -t opencl-c | filecheck %s

// Bound loops are work-item indices; more work-items than iterations need a guard.
tir.func @grid(%x: memref<5x7xf32>, %y: memref<5x7xf32>)
    attributes {outputs = array<i64: 1>, global_size = array<i64: 8, 5>, local_size = array<i64: 8, 1>} {
  tir.for global_y %i = 0 to 5 {
    tir.for global_x %j = 0 to 7 {
      %v = memref.load %x[%i, %j] : memref<5x7xf32>
      %r = math.sqrt %v : f32
      memref.store %r, %y[%i, %j] : memref<5x7xf32>
    }
  }
}

// CHECK: __attribute__((reqd_work_group_size(8, 1, 1)))
// CHECK-NEXT: __kernel void grid(__global const float *restrict x, __global float *restrict y) {
// CHECK-NEXT:     // Build with -cl-fp32-correctly-rounded-divide-sqrt where the device takes it.
// CHECK-NEXT:     const int i = get_global_id(1);
// CHECK-NEXT:     const int j = get_global_id(0);
// CHECK-NEXT:     if (j < 7) {
// CHECK-NEXT:         y[i * 7 + j] = sqrt(x[i * 7 + j]);
// CHECK-NEXT:     }
// CHECK-NEXT: }

// Groups share local memory; what they load before a barrier is not reused after it.
tir.func @groups(%x: memref<4x8xf32>, %y: memref<4x8xf32>)
    attributes {outputs = array<i64: 1>, global_size = array<i64: 32>, local_size = array<i64: 8>} {
  tir.for group_x %g = 0 to 4 {
    tir.for local_x %l = 0 to 8 {
      %tile = memref.alloca() : memref<8xf32, #tir.scope<local>>
      %v = memref.load %x[%g, %l] : memref<4x8xf32>
      memref.store %v, %tile[%l] : memref<8xf32, #tir.scope<local>>
      %mine = memref.load %tile[%l] : memref<8xf32, #tir.scope<local>>
      tir.barrier
      %mirror = affine.apply affine_map<(d0) -> (7 - d0)> (%l)
      %other = memref.load %tile[%mirror] : memref<8xf32, #tir.scope<local>>
      %r = arith.addf %mine, %other : f32
      memref.store %r, %y[%g, %l] : memref<4x8xf32>
    }
  }
}

// CHECK: __attribute__((reqd_work_group_size(8, 1, 1)))
// CHECK-NEXT: __kernel void groups(__global const float *restrict x, __global float *restrict y) {
// CHECK-NEXT:     __local float tile[8];
// CHECK-NEXT:     const int g = get_group_id(0);
// CHECK-NEXT:     const int l = get_local_id(0);
// CHECK-NEXT:     tile[l] = x[g * 8 + l];
// CHECK-NEXT:     const float mine = tile[l];
// CHECK-NEXT:     barrier(CLK_LOCAL_MEM_FENCE);
// CHECK-NEXT:     y[g * 8 + l] = mine + tile[7 - l];
// CHECK-NEXT: }

// Padding: a condition around a load stays around it; unrolling decides it.
tir.func @padding(%x: memref<8xf32>, %y: memref<3x8xf32>) attributes {outputs = array<i64: 1>} {
  tir.for unrolled %k = 0 to 3 {
    tir.for serial %i = 0 to 8 {
      %at = affine.apply affine_map<(d0, d1) -> (d0 + d1 - 1)> (%i, %k)
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %low = arith.cmpi sge, %at, %c0 : index
      %high = arith.cmpi slt, %at, %c8 : index
      %inside = arith.andi %low, %high : i1
      %v = scf.if %inside -> (f32) {
        %in = memref.load %x[%at] : memref<8xf32>
        scf.yield %in : f32
      } else {
        %zero = arith.constant 0.0 : f32
        scf.yield %zero : f32
      }
      memref.store %v, %y[%k, %i] : memref<3x8xf32>
    }
  }
}

// CHECK: __kernel void padding(__global const float *restrict x, __global float *restrict y) {
// CHECK-NEXT:     for (int i = 0; i < 8; i++) {
// CHECK-NEXT:         y[i] = i >= 1 ? x[i - 1] : 0.0f;
// CHECK-NEXT:     }
// CHECK-NEXT:     for (int i = 0; i < 8; i++) {
// CHECK-NEXT:         y[i + 8] = x[i];
// CHECK-NEXT:     }
// CHECK-NEXT:     for (int i = 0; i < 8; i++) {
// CHECK-NEXT:         y[i + 16] = i < 7 ? x[i + 1] : 0.0f;
// CHECK-NEXT:     }
// CHECK-NEXT: }

// Two results, or a store, make a statement of it.
tir.func @statement(%x: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = array<i64: 1>} {
  tir.for serial %i = 0 to 8 {
    %v = memref.load %x[%i] : memref<8xf32>
    %zero = arith.constant 0.0 : f32
    %positive = arith.cmpf ogt, %v, %zero : f32
    %a, %b = scf.if %positive -> (f32, f32) {
      %root = math.sqrt %v : f32
      scf.yield %root, %v : f32, f32
    } else {
      scf.yield %zero, %zero : f32, f32
    }
    %sum = arith.addf %a, %b : f32
    scf.if %positive {
      memref.store %sum, %y[%i] : memref<8xf32>
    }
  }
}

// CHECK: __kernel void statement(__global const float *restrict x, __global float *restrict y) {
// CHECK-NEXT:     // Build with -cl-fp32-correctly-rounded-divide-sqrt where the device takes it.
// CHECK-NEXT:     #pragma unroll
// CHECK-NEXT:     for (int i = 0; i < 8; i++) {
// CHECK-NEXT:         const float v = x[i];
// CHECK-NEXT:         const int positive = v > 0.0f;
// CHECK-NEXT:         float a, b;
// CHECK-NEXT:         if (positive) {
// CHECK-NEXT:             a = sqrt(v);
// CHECK-NEXT:             b = v;
// CHECK-NEXT:         } else {
// CHECK-NEXT:             a = 0.0f;
// CHECK-NEXT:             b = 0.0f;
// CHECK-NEXT:         }
// CHECK-NEXT:         if (positive) {
// CHECK-NEXT:             y[i] = a + b;
// CHECK-NEXT:         }
// CHECK-NEXT:     }
// CHECK-NEXT: }

// Two products share each element of x: compilers would load such elements early and spill them.
tir.func @pairs(%x: memref<32xf32>, %w: memref<8xf32>, %y: memref<32xf32>, %z: memref<32xf32>) attributes {outputs = array<i64: 2, 3>} {
  tir.for serial %i = 0 to 8 {
    %v = memref.load %w[%i] : memref<8xf32>
    %w0 = math.sqrt %v : f32
    %c8 = arith.constant 8 : index
    %at1 = arith.addi %i, %c8 : index
    %c16 = arith.constant 16 : index
    %at2 = arith.addi %i, %c16 : index
    %c24 = arith.constant 24 : index
    %at3 = arith.addi %i, %c24 : index
    %x0 = memref.load %x[%i] : memref<32xf32>
    %x1 = memref.load %x[%at1] : memref<32xf32>
    %x2 = memref.load %x[%at2] : memref<32xf32>
    %x3 = memref.load %x[%at3] : memref<32xf32>
    %p0 = arith.mulf %x0, %v : f32
    memref.store %p0, %y[%i] : memref<32xf32>
    %q0 = arith.mulf %x0, %w0 : f32
    memref.store %q0, %z[%i] : memref<32xf32>
    %p1 = arith.mulf %x1, %v : f32
    memref.store %p1, %y[%at1] : memref<32xf32>
    %q1 = arith.mulf %x1, %w0 : f32
    memref.store %q1, %z[%at1] : memref<32xf32>
    %p2 = arith.mulf %x2, %v : f32
    memref.store %p2, %y[%at2] : memref<32xf32>
    %q2 = arith.mulf %x2, %w0 : f32
    memref.store %q2, %z[%at2] : memref<32xf32>
    %p3 = arith.mulf %x3, %v : f32
    memref.store %p3, %y[%at3] : memref<32xf32>
    %q3 = arith.mulf %x3, %w0 : f32
    memref.store %q3, %z[%at3] : memref<32xf32>
  }
}

// CHECK: __kernel void pairs(
// CHECK: #pragma unroll 4{{$}}
// CHECK-NEXT:     for (int i = 0; i < 8; i++) {

// All lanes store to one place: they take turns.
tir.func @reduction(%x: memref<4xf32>, %y: memref<1xf32>) attributes {outputs = array<i64: 1>} {
  %c0 = arith.constant 0 : index
  tir.for vectorized %j = 0 to 4 {
    %v = memref.load %x[%j] : memref<4xf32>
    %old = memref.load %y[%c0] : memref<1xf32>
    %new = arith.addf %old, %v : f32
    memref.store %new, %y[%c0] : memref<1xf32>
  }
}

// CHECK: __kernel void reduction(__global const float *restrict x, __global float *restrict y) {
// CHECK-NEXT:     y[0] += x[0];
// CHECK-NEXT:     y[0] += x[1];
// CHECK-NEXT:     y[0] += x[2];
// CHECK-NEXT:     y[0] += x[3];
// CHECK-NEXT: }

// A loop that the device's compiler must not see through is one even where it runs once, and what
// it computes stays in it.
tir.func @once(%x: memref<8xf32>, %y: memref<8xf32>)
    attributes {outputs = array<i64: 1>, global_size = array<i64: 8>} {
  tir.for global_x %i = 0 to 8 {
    tir.for rolled %r = 0 to 1 {
      %v = memref.load %x[%i] : memref<8xf32>
      %s = arith.mulf %v, %v : f32
      memref.store %s, %y[%i] : memref<8xf32>
    }
  }
}

// CHECK: __kernel void once(
// CHECK: for (int r = 0; r < r_end; r++) {
// CHECK-NEXT: const float v = x[i];
// CHECK-NEXT: y[i] = v * v;
// CHECK-NEXT: }
