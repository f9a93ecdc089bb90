// RUN: clopt %s -p nn-fuse --split-input-file --verify-diagnostics

// Layouts belong to regions: an operation on a packed tensor has no kernel on any target.
func.func @packed_reshape(%x: tensor<1x4xf32>) -> tensor<4xf32> {
  %p = nn.relayout %x : tensor<1x4xf32> -> tensor<1x4xf32, #nn.layout<[1 by 4]>>
  // expected-error@unknown {{flat: nn.reshape needs plain tensors, but got tensor<1x4xf32, #nn.layout<[1 by 4]>>; convert it to the plain layout with nn.relayout}}
  %r = nn.reshape %p {shape = array<i64: 4>} : (tensor<1x4xf32, #nn.layout<[1 by 4]>>) -> tensor<4xf32> loc("flat")
  func.return %r : tensor<4xf32>
}

// -----

func.func @packed_relu(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %p = nn.relayout %x : tensor<1x4xf32> -> tensor<1x4xf32, #nn.layout<[1 by 4]>>
  // expected-error@unknown {{nn.unary: nn.unary needs plain tensors}}
  %r = nn.unary relu %p : (tensor<1x4xf32, #nn.layout<[1 by 4]>>) -> tensor<1x4xf32>
  func.return %r : tensor<1x4xf32>
}
