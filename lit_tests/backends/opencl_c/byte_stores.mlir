// RUN: clopt %s --target "pocl vector_width=16 dot_product=plain" -t opencl-c | filecheck %s
// RUN: clopt %s --target pocl -t opencl-c | filecheck %s --check-prefix=PLAIN

// Where bytes are multiplied, 16 of them are stored as four ints if they start at a multiple of four.
// CHECK-LABEL: copy(
// CHECK:      vstore4(as_int4(v), 0, (__global int *)(y + i * 16));
// CHECK-NEXT: vstore16(v, 0, y + i * 16 + 66);
// PLAIN-LABEL: copy(
// PLAIN:       vstore16(v, 0, y + i * 16);
tir.func @copy(%x: memref<64xi8>, %y: memref<130xi8>) attributes {outputs = array<i64: 1>, global_size = array<i64: 4>, local_size = array<i64: 4>} {
  tir.for local_x %i = 0 to 4 {
    tir.for vectorized %j = 0 to 16 {
      %a = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1)> (%i, %j)
      %v = memref.load %x[%a] : memref<64xi8>
      memref.store %v, %y[%a] : memref<130xi8>
      %b = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1 + 66)> (%i, %j)
      memref.store %v, %y[%b] : memref<130xi8>
    }
  }
}
