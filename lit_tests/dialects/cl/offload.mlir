// RUN: clopt %s | clopt | filecheck %s
// RUN: clopt %s --print-op-generic | clopt | filecheck %s

// A kernel between two CLML graphs: all three share buffers of the program.

// CHECK: clml.graph @clml_0
clml.graph @clml_0(%x: !clml.tensor<1x8x4x4xf32, nchw>) -> !clml.tensor<1x8x4x4xf32, nchw> version 3 arithmetic fp32 {
  %scale = clml.constant "w_0123456789abcdef" : !clml.tensor<1x8x4x4xf32, optimal, parameter>
  %a = clml.copy %x : !clml.tensor<1x8x4x4xf32, nchw> -> !clml.tensor<1x8x4x4xf32, optimal>
  %b = clml.binary mul %a, %scale : (!clml.tensor<1x8x4x4xf32, optimal>, !clml.tensor<1x8x4x4xf32, optimal, parameter>) -> !clml.tensor<1x8x4x4xf32, optimal>
  %c = clml.binary add %b, %a : (!clml.tensor<1x8x4x4xf32, optimal>, !clml.tensor<1x8x4x4xf32, optimal>) -> !clml.tensor<1x8x4x4xf32, optimal>
  %y = clml.copy %c : !clml.tensor<1x8x4x4xf32, optimal> -> !clml.tensor<1x8x4x4xf32, nchw>
  clml.return %y : !clml.tensor<1x8x4x4xf32, nchw>
}
// CHECK: clml.graph @clml_1
clml.graph @clml_1(%x: !clml.tensor<1x8x4x4xf32, nchw>) -> !clml.tensor<1x8x4x4xf32, nchw> version 3 arithmetic fp32 {
  %y = clml.activation relu %x : (!clml.tensor<1x8x4x4xf32, nchw>) -> !clml.tensor<1x8x4x4xf32, nchw>
  clml.return %y : !clml.tensor<1x8x4x4xf32, nchw>
}
cl.kernel @turn(memref<128xf32>, memref<1x8x4x4xf32>) outputs [1] global [128] local [1]
// CHECK: cl.program @main(
cl.program @main(%x: memref<1x8x4x4xf32> {cl.name = "x"}, %y: memref<128xf32> {cl.name = "y"}) inputs 1 {
  %a = cl.alloc : memref<512xi8>
  %b = cl.alloc : memref<512xi8>
  %c = cl.alloc : memref<512xi8>
  // The shape of a plain memory may be another one.
  %t = cl.alloc : memref<128xf32>
  %u = cl.alloc : memref<1x8x4x4xf32>
  // CHECK:      %u = cl.alloc
  // CHECK-NEXT: cl.enqueue_offload @clml_0[0] (%x) -> (%a) : memref<1x8x4x4xf32>, memref<512xi8>
  cl.enqueue_offload @clml_0[0] (%x) -> (%a) : memref<1x8x4x4xf32>, memref<512xi8>
  // CHECK-NEXT: cl.enqueue_offload @clml_0[1] (%a) -> (%b) {note = "no memory for the constant"} : memref<512xi8>, memref<512xi8>
  cl.enqueue_offload @clml_0[1] (%a) -> (%b) {note = "no memory for the constant"} : memref<512xi8>, memref<512xi8>
  // CHECK-NEXT: cl.enqueue_offload @clml_0[2] (%b, %a) -> (%c) : memref<512xi8>, memref<512xi8>, memref<512xi8>
  cl.enqueue_offload @clml_0[2] (%b, %a) -> (%c) : memref<512xi8>, memref<512xi8>, memref<512xi8>
  // CHECK-NEXT: cl.enqueue_offload @clml_0[3] (%c) -> (%t) : memref<512xi8>, memref<128xf32>
  cl.enqueue_offload @clml_0[3] (%c) -> (%t) : memref<512xi8>, memref<128xf32>
  // CHECK-NEXT: cl.enqueue_kernel @turn(%t, %u) : memref<128xf32>, memref<1x8x4x4xf32>
  cl.enqueue_kernel @turn(%t, %u) : memref<128xf32>, memref<1x8x4x4xf32>
  // CHECK-NEXT: cl.enqueue_offload @clml_1[0] (%u) -> (%y) : memref<1x8x4x4xf32>, memref<128xf32>
  cl.enqueue_offload @clml_1[0] (%u) -> (%y) : memref<1x8x4x4xf32>, memref<128xf32>
  cl.return
}
