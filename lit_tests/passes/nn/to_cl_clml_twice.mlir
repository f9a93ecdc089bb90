// RUN: not clopt %s -p nn-to-cl 2>&1 | filecheck %s

// CHECK: second: the graph @g is called twice, but its tensors exist once; give each call a graph of its own
clml.graph @g(%x: !clml.tensor<1x4x4x4xf32, nchw>) -> !clml.tensor<1x4x4x4xf32, nchw> version 3 arithmetic fp32 {
  %y = clml.activation relu %x : (!clml.tensor<1x4x4x4xf32, nchw>) -> !clml.tensor<1x4x4x4xf32, nchw>
  clml.return %y : !clml.tensor<1x4x4x4xf32, nchw>
}
func.func @main(%x: tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32> {
  %y = clml.call @g(%x) : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %z = clml.call @g(%y) : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32> loc("second")
  func.return %z : tensor<1x4x4x4xf32>
}
