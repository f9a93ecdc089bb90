// RUN: clopt %s --target pocl -t opencl-c | filecheck %s
// RUN: clopt %s --target nvidia -t opencl-c | filecheck %s --check-prefix=SUMS

// Compilers for CPUs compute the sum of two ints for each access; constants are added to a pointer.
// CHECK-LABEL: columns(
// CHECK:       const int at = i * 8 + k;
// CHECK-NEXT:  y[k] = x[at] + (x + at)[64] + (x + at)[128];
// SUMS-LABEL:  columns(
// SUMS:        const int at = i * 8 + k;
// SUMS-NEXT:   y[k] = x[at] + x[at + 64] + x[at + 128];
tir.func @columns(%x: memref<3x8x8xf32>, %y: memref<8xf32>) attributes {outputs = array<i64: 1>, global_size = array<i64: 8>, local_size = array<i64: 1>} {
  tir.for global_x %i = 0 to 8 {
    tir.for serial %k = 0 to 8 {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %two = arith.constant 2 : index
      %a = memref.load %x[%zero, %i, %k] : memref<3x8x8xf32>
      %b = memref.load %x[%one, %i, %k] : memref<3x8x8xf32>
      %c = memref.load %x[%two, %i, %k] : memref<3x8x8xf32>
      %ab = arith.addf %a, %b : f32
      %abc = arith.addf %ab, %c : f32
      memref.store %abc, %y[%k] : memref<8xf32>
    }
  }
}
