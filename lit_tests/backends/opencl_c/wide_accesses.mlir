// RUN: clopt %s --target nvidia -t opencl-c | filecheck %s
// RUN: clopt %s --target generic-gpu -t opencl-c | filecheck %s --check-prefix=NARROW
// RUN: clopt %s --target adreno-740 -t opencl-c | filecheck %s --check-prefix=LOCAL

// Vectors of 16 bytes at multiples of 16 bytes are accesses of a vector type; others may be
// anywhere, or have another size.
// CHECK-LABEL: copy(
// CHECK:      __local float l[16] __attribute__((aligned(16)));
// CHECK:      vstore4(*(__global const float4 *)(x + i * 4) + vload4(0, x + i * 4 + 1), 0, l + i * 4);
// CHECK-NEXT: *(__global float4 *)(y + i * 4) = vload4(0, l + i * 4);
// CHECK-NEXT: vstore2(vload2(0, x + i * 4), 0, y + i * 2 + 32);
// NARROW-LABEL: copy(
// NARROW:      __local float l[16];
// NARROW:      vstore4(vload4(0, x + i * 4) + vload4(0, x + i * 4 + 1), 0, l + i * 4);
// NARROW-NEXT: vstore4(vload4(0, l + i * 4), 0, y + i * 4);
// LOCAL-LABEL: copy(
// LOCAL:       __local float l[16] __attribute__((aligned(16)));
// LOCAL:       *(__local float4 *)(l + i * 4) = *(__global const float4 *)(x + i * 4) +
// LOCAL-NEXT:  vload4(0, x + i * 4 + 1);
// LOCAL-NEXT:  *(__global float4 *)(y + i * 4) = *(__local float4 *)(l + i * 4);
tir.func @copy(%x: memref<64xf32>, %y: memref<64xf32>) attributes {outputs = array<i64: 1>, global_size = array<i64: 4>, local_size = array<i64: 4>} {
  %l = memref.alloca() : memref<16xf32, #tir.scope<local>>
  tir.for local_x %i = 0 to 4 {
    tir.for vectorized %j = 0 to 4 {
      %a = affine.apply affine_map<(d0, d1) -> (d0 * 4 + d1)> (%i, %j)
      %v = memref.load %x[%a] : memref<64xf32>
      %b = affine.apply affine_map<(d0, d1) -> (d0 * 4 + d1 + 1)> (%i, %j)
      %w = memref.load %x[%b] : memref<64xf32>
      %s = arith.addf %v, %w : f32
      memref.store %s, %l[%a] : memref<16xf32, #tir.scope<local>>
      %t = memref.load %l[%a] : memref<16xf32, #tir.scope<local>>
      memref.store %t, %y[%a] : memref<64xf32>
    }
    tir.for vectorized %j = 0 to 2 {
      %a = affine.apply affine_map<(d0, d1) -> (d0 * 4 + d1)> (%i, %j)
      %v = memref.load %x[%a] : memref<64xf32>
      %b = affine.apply affine_map<(d0, d1) -> (d0 * 2 + d1 + 32)> (%i, %j)
      memref.store %v, %y[%b] : memref<64xf32>
    }
  }
}
