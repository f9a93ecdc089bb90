// RUN: clopt %s -t opencl-c | filecheck %s

// A vector of weights is fetched once, however many columns it is multiplied by.

// CHECK: #if defined(__has_builtin) && !defined(__NV_CL_C_VERSION)
// CHECK: #define FETCH(pointer) __builtin_prefetch(pointer)
// CHECK: #define FETCH(pointer)
// CHECK-LABEL: __kernel void columns(
// CHECK:      for (int k = 0; k < 64; k++) {
// CHECK-NEXT:   FETCH(w + k * 4 + 16);
// CHECK-NEXT:   const float4 b0 = vload4(0, w + k * 4);
// CHECK-NEXT:   t_0 += x[k] * b0;
// CHECK-NEXT:   t_1 += x[k + 64] * b0;
// CHECK-NEXT: }
tir.func @columns(%x: memref<2x64xf32>, %w: memref<64x4xf32>, %y: memref<2x4xf32>) attributes {outputs = array<i64: 2>, global_size = array<i64: 1>, local_size = array<i64: 1>} {
  %t = memref.alloca() : memref<2x4xf32, #tir.scope<private>>
  %zero = arith.constant 0.0 : f32
  tir.for unrolled %c = 0 to 2 {
    tir.for vectorized %l = 0 to 4 {
      memref.store %zero, %t[%c, %l] : memref<2x4xf32, #tir.scope<private>>
    }
  }
  tir.for serial %k = 0 to 64 {
    tir.for unrolled %c = 0 to 2 {
      tir.for vectorized %l = 0 to 4 {
        %a = memref.load %x[%c, %k] : memref<2x64xf32>
        %b = memref.load %w[%k, %l] {tir.ahead = 64 : i64} : memref<64x4xf32>
        %old = memref.load %t[%c, %l] : memref<2x4xf32, #tir.scope<private>>
        %p = arith.mulf %a, %b : f32
        %s = arith.addf %old, %p : f32
        memref.store %s, %t[%c, %l] : memref<2x4xf32, #tir.scope<private>>
      }
    }
  }
  tir.for unrolled %c = 0 to 2 {
    tir.for vectorized %l = 0 to 4 {
      %r = memref.load %t[%c, %l] : memref<2x4xf32, #tir.scope<private>>
      memref.store %r, %y[%c, %l] : memref<2x4xf32>
    }
  }
}
