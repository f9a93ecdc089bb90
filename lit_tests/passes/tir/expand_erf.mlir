// RUN: clopt %s --target pocl -p tir-expand-erf | filecheck %s
// RUN: clopt %s --target nvidia -p tir-expand-erf | filecheck %s --check-prefix=GPU
// RUN: clopt %s --target adreno-740 -p tir-expand-erf | filecheck %s --check-prefix=SHORT
// RUN: clopt %s --target pocl -p tir-expand-erf -t opencl-c | filecheck %s --check-prefix=TEXT

// A CPU gets arithmetic between two clamps, a GPU has a function for it. One whose function is slow
// gets a polynomial without a division, whose results need no clamp.
// CHECK-LABEL: @floats(
// CHECK:      arith.cmpf ogt
// CHECK:      arith.divf
// CHECK-NOT:  math.erf
// GPU:        math.erf
// SHORT:      arith.cmpf ogt
// SHORT:      arith.cmpf olt
// SHORT-NOT:  arith.divf
// SHORT-NOT:  arith.cmpf
// SHORT-NOT:  math.erf
// SHORT:      memref.store
// TEXT:       __kernel void floats(
// TEXT-NOT:   erf(
tir.func @floats(%x: memref<16xf32>, %y: memref<16xf32>) attributes {outputs = array<i64: 1>, global_size = array<i64: 16>} {
  tir.for global_x %i = 0 to 16 {
    %a = memref.load %x[%i] : memref<16xf32>
    %b = math.erf %a : f32
    memref.store %b, %y[%i] : memref<16xf32>
  }
}
