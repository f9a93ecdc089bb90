// RUN: clopt %s -t opencl-c | filecheck %s

// Both names may lead to the same memory: they are not `restrict`, and what is read first is read
// before the first store, although the second store alone needs it.
// CHECK:      __kernel void reversed(
// CHECK-NEXT:     __global const float *x,
// CHECK-NEXT:     __global const float *restrict scale,
// CHECK-NEXT:     __global float *y) {
// CHECK-NEXT:     const int i = get_global_id(0);
// CHECK-NEXT:     const float a = x[i];
// CHECK-NEXT:     y[i] = x[7 - i] * scale[0];
// CHECK-NEXT:     y[7 - i] = a;
// CHECK-NEXT: }
tir.func @reversed(%x: memref<8xf32>, %scale: memref<1xf32>, %y: memref<8xf32>)
    attributes {outputs = array<i64: 2>, in_place = [array<i64: 0, 2>], global_size = array<i64: 4>} {
  tir.for global_x %i = 0 to 4 {
    %c0 = arith.constant 0 : index
    %j = affine.apply affine_map<(d0) -> (7 - d0)> (%i)
    %a = memref.load %x[%i] : memref<8xf32>
    %b = memref.load %x[%j] : memref<8xf32>
    %s = memref.load %scale[%c0] : memref<1xf32>
    %p = arith.mulf %b, %s : f32
    memref.store %p, %y[%i] : memref<8xf32>
    memref.store %a, %y[%j] : memref<8xf32>
  }
}

// Without the pair each load is written where it is needed.
// CHECK:      __kernel void apart(__global const float *restrict x, __global float *restrict y) {
// CHECK-NEXT:     const int i = get_global_id(0);
// CHECK-NEXT:     y[i] = x[7 - i];
// CHECK-NEXT:     y[7 - i] = x[i];
// CHECK-NEXT: }
tir.func @apart(%x: memref<8xf32>, %y: memref<8xf32>)
    attributes {outputs = array<i64: 1>, global_size = array<i64: 4>} {
  tir.for global_x %i = 0 to 4 {
    %j = affine.apply affine_map<(d0) -> (7 - d0)> (%i)
    %a = memref.load %x[%i] : memref<8xf32>
    %b = memref.load %x[%j] : memref<8xf32>
    memref.store %b, %y[%i] : memref<8xf32>
    memref.store %a, %y[%j] : memref<8xf32>
  }
}

// A texel is an array of vectors only where it is one under both names.
// CHECK:      __kernel void texels(__global const float *x, __global float *y) {
// CHECK:        vload4({{.*}}, x)
tir.func @texels(%x: memref<2x4xf32>, %y: memref<8xf32>)
    attributes {outputs = array<i64: 1>, in_place = [array<i64: 0, 1>], global_size = array<i64: 2>} {
  tir.for global_x %i = 0 to 2 {
    tir.for unrolled %l = 0 to 4 {
      %v = tir.texel_read %x[%i] lane %l : memref<2x4xf32> -> f32
      %r = math.sqrt %v : f32
      %j = affine.apply affine_map<(d0, d1) -> (d0 * 4 + d1)> (%i, %l)
      memref.store %r, %y[%j] : memref<8xf32>
    }
  }
}
