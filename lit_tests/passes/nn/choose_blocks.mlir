// RUN: clopt %s -p nn-choose,verify --target pocl | filecheck %s

// A convolution between plain arguments and results: a copy of its operand into blocks costs less
// than to read transformed weights that are not in blocks.
// CHECK-LABEL: @alone
// CHECK:       [[x:%.*]] = nn.relayout %x : tensor<1x64x14x14xf32> -> tensor<1x64x14x14xf32, #nn.layout<[1 by 8]>>
// CHECK-NEXT:  [[w:%.*]] = nn.relayout {{.*}} : tensor<64x36x64xf32> -> tensor<64x36x64xf32, #nn.layout<[2 by 8, 0 by 8]>>
// CHECK-NEXT:  [[y:%.*]] = nn.fused [[x]], [[w]] : {{.*}} -> tensor<1x64x14x14xf32> {
// CHECK:       nn.winograd_conv
// CHECK:       func.return [[y]]
func.func @alone(%x: tensor<1x64x14x14xf32>) -> tensor<1x64x14x14xf32> {
  %w = nn.constant dense<1.0> : tensor<64x64x3x3xf32>
  %y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x64x14x14xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x14x14xf32>
  func.return %y : tensor<1x64x14x14xf32>
}
