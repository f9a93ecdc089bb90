// RUN: clopt %s --target 'generic-gpu sub_buffers=true' -p nn-fuse,nn-to-cl,nn-to-tir,cl-reorder,cl-plan-memory | filecheck %s

// Two CLML graphs and a kernel between them are one program on one queue, and one arena holds what
// all three make: a tensor of a graph takes over the bytes of what is not needed any more. Nothing
// is copied but by the graphs themselves.

// CHECK:      clml.graph @clml_0
// CHECK:      clml.graph @clml_1
// CHECK:      cl.program @main(
// CHECK-NEXT: %arena = cl.arena : memref<16384xi8>
// CHECK-NEXT: %y = cl.buffer_view %arena[0] : memref<1x8x16x16xf32>
// CHECK-NEXT: %a = cl.buffer_view %arena[0] : memref<8192xi8>
// CHECK-NEXT: cl.enqueue_offload @clml_0[0] (%x) -> (%a) : memref<1x8x16x16xf32>, memref<8192xi8>
// CHECK-NEXT: %c = cl.buffer_view %arena[8192] : memref<8192xi8>
// CHECK-NEXT: cl.enqueue_offload @clml_0[1] (%a) -> (%c) : memref<8192xi8>, memref<8192xi8>
// CHECK-NEXT: cl.enqueue_offload @clml_0[2] (%c) -> (%y) : memref<8192xi8>, memref<1x8x16x16xf32>
// CHECK-NEXT: %s = cl.buffer_view %arena[8192] : memref<1x8x16x16xf32>
// CHECK-NEXT: cl.enqueue_kernel @softmax_0(%y, %s) : memref<1x8x16x16xf32>, memref<1x8x16x16xf32>
// CHECK-NEXT: %a_1 = cl.buffer_view %arena[0] : memref<8192xi8>
// CHECK-NEXT: cl.enqueue_offload @clml_1[0] (%s) -> (%a_1) : memref<1x8x16x16xf32>, memref<8192xi8>
// CHECK-NEXT: %c_1 = cl.buffer_view %arena[8192] : memref<8192xi8>
// CHECK-NEXT: cl.enqueue_offload @clml_1[1] (%a_1) -> (%c_1) : memref<8192xi8>, memref<8192xi8>
// CHECK-NEXT: cl.enqueue_offload @clml_1[2] (%c_1) -> (%0) : memref<8192xi8>, memref<1x8x16x16xf32>
// CHECK-NEXT: cl.return

clml.graph @clml_0(%x: !clml.tensor<1x8x16x16xf32, nchw>) -> !clml.tensor<1x8x16x16xf32, nchw> version 3 arithmetic fp32 {
  %w = clml.constant "w_0123456789abcdef" : !clml.tensor<8x8x3x3xf32, optimal, parameter>
  %b = clml.constant "w_123456789abcdef0" : !clml.tensor<1x8x1x1xf32, optimal, parameter>
  %a = clml.copy %x : !clml.tensor<1x8x16x16xf32, nchw> -> !clml.tensor<1x8x16x16xf32, optimal>
  %c = clml.conv_activation relu6 %a, %w, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (!clml.tensor<1x8x16x16xf32, optimal>, !clml.tensor<8x8x3x3xf32, optimal, parameter>, !clml.tensor<1x8x1x1xf32, optimal, parameter>) -> !clml.tensor<1x8x16x16xf32, optimal>
  %y = clml.copy %c : !clml.tensor<1x8x16x16xf32, optimal> -> !clml.tensor<1x8x16x16xf32, nchw>
  clml.return %y : !clml.tensor<1x8x16x16xf32, nchw>
}
clml.graph @clml_1(%x: !clml.tensor<1x8x16x16xf32, nchw>) -> !clml.tensor<1x8x16x16xf32, nchw> version 3 arithmetic fp32 {
  %w = clml.constant "w_0123456789abcdef" : !clml.tensor<8x8x3x3xf32, optimal, parameter>
  %b = clml.constant "w_123456789abcdef0" : !clml.tensor<1x8x1x1xf32, optimal, parameter>
  %a = clml.copy %x : !clml.tensor<1x8x16x16xf32, nchw> -> !clml.tensor<1x8x16x16xf32, optimal>
  %c = clml.conv_activation relu %a, %w, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (!clml.tensor<1x8x16x16xf32, optimal>, !clml.tensor<8x8x3x3xf32, optimal, parameter>, !clml.tensor<1x8x1x1xf32, optimal, parameter>) -> !clml.tensor<1x8x16x16xf32, optimal>
  %y = clml.copy %c : !clml.tensor<1x8x16x16xf32, optimal> -> !clml.tensor<1x8x16x16xf32, nchw>
  clml.return %y : !clml.tensor<1x8x16x16xf32, nchw>
}
func.func @main(%x: tensor<1x8x16x16xf32>) -> tensor<1x8x16x16xf32> {
  %y = clml.call @clml_0(%x) : (tensor<1x8x16x16xf32>) -> tensor<1x8x16x16xf32>
  %s = nn.softmax %y {axis = 3 : i64} : (tensor<1x8x16x16xf32>) -> tensor<1x8x16x16xf32>
  %z = clml.call @clml_1(%s) : (tensor<1x8x16x16xf32>) -> tensor<1x8x16x16xf32>
  func.return %z : tensor<1x8x16x16xf32>
}
