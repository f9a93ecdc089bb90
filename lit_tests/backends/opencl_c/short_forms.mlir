// RUN: clopt %s --target adreno-740 -t opencl-c | filecheck %s
// RUN: clopt %s --target nvidia -t opencl-c | filecheck %s --check-prefix=OTHER

// Where a NaN may be lost, the greater number is `fmax`, and one quotient serves four lanes.
// CHECK-LABEL: __kernel void row(
// CHECK:         *(__global const float4 *)(x) *
// CHECK-NEXT:    (1.0f / (fmax(a, b) + ((a > b || a != a) ? a : b)))
// OTHER-LABEL: __kernel void row(
// OTHER:         const float m = (a > b || a != a) ? a : b;
// OTHER:         / (m + m);
tir.func @row(%x: memref<4xf32>, %w: memref<2xf32>, %y: memref<4xf32>)
    attributes {outputs = array<i64: 2>, global_size = array<i64: 1>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %a = memref.load %w[%zero] : memref<2xf32>
  %b = memref.load %w[%one] : memref<2xf32>
  %m = arith.maximumf %a, %b fastmath<nnan> : f32
  %n = arith.maximumf %a, %b : f32
  %s = arith.addf %m, %n : f32
  tir.for vectorized %i = 0 to 4 {
    %v = memref.load %x[%i] : memref<4xf32>
    %q = arith.divf %v, %s fastmath<arcp> : f32
    memref.store %q, %y[%i] : memref<4xf32>
  }
}
