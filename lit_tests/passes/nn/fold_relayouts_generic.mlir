// RUN: clopt %s -p nn-fold-relayouts,verify --target generic | filecheck %s

// A target without blocks keeps constants plain.
// CHECK:     nn.fused %x, %w : (tensor<1x4x8x8xf32>, tensor<8x4x1x1xf32>)
// CHECK-NOT: nn.relayout
func.func @main(%x: tensor<1x4x8x8xf32>) -> tensor<1x8x8x8xf32> {
  %p = nn.relayout %x : tensor<1x4x8x8xf32> -> tensor<1x4x8x8xf32, #nn.layout<[1 by 4]>>
  %w = nn.constant dense<1.0> : tensor<8x4x1x1xf32>
  %y = nn.fused %p, %w : (tensor<1x4x8x8xf32, #nn.layout<[1 by 4]>>, tensor<8x4x1x1xf32>) -> tensor<1x8x8x8xf32, #nn.layout<[1 by 4]>> {
  ^bb0(%a: tensor<1x4x8x8xf32>, %f: tensor<8x4x1x1xf32>):
    %r = nn.conv %a, %f {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x8x8xf32>
    nn.yield %r : tensor<1x8x8x8xf32>
  }
  %z = nn.relayout %y : tensor<1x8x8x8xf32, #nn.layout<[1 by 4]>> -> tensor<1x8x8x8xf32>
  func.return %z : tensor<1x8x8x8xf32>
}
