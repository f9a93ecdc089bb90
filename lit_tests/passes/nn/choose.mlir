// RUN: clopt %s -p nn-choose,verify --target "adreno-740" --split-input-file | filecheck %s
// RUN: clopt %s -p nn-choose --split-input-file | filecheck %s --check-prefix PLAIN

// On a target that uses no textures there is nothing to choose.
// PLAIN-NOT: nn.fused

// Channels lie in texels between convolutions, users see plain tensors, weights follow.
// CHECK-LABEL: @two_convolutions
// CHECK:       [[w:%.*]] = nn.relayout %w : tensor<16x3x3x3xf32> -> tensor<16x3x3x3xf32, #nn.layout<[0 by 4], #tir.scope<texture, [1]>>>
// CHECK-NEXT:  [[y:%.*]] = nn.fused %x, [[w]] : (tensor<1x3x32x32xf32>, {{.*}}) -> tensor<1x16x32x32xf32, #nn.layout<[1 by 4], #tir.scope<texture, [3]>>> {
// CHECK-NEXT:  ^bb0({{%.*}}: tensor<1x3x32x32xf32>, {{%.*}}: tensor<16x3x3x3xf32>):
// CHECK:       [[v:%.*]] = nn.relayout %v : tensor<16x16x3x3xf32> -> tensor<16x16x3x3xf32, #nn.layout<[1 by 4, 0 by 4], #tir.scope<texture, [1]>>>
// CHECK-NEXT:  [[z:%.*]] = nn.fused [[y]], [[v]] : {{.*}} -> tensor<1x16x32x32xf32> {
// CHECK:       func.return [[z]]
func.func @two_convolutions(%x: tensor<1x3x32x32xf32>) -> tensor<1x16x32x32xf32> {
  %w = nn.constant dense<1.0> : tensor<16x3x3x3xf32>
  %y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x3x32x32xf32>, tensor<16x3x3x3xf32>) -> tensor<1x16x32x32xf32>
  %v = nn.constant dense<1.0> : tensor<16x16x3x3xf32>
  %z = nn.conv %y, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x32x32xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x32x32xf32>
  func.return %z : tensor<1x16x32x32xf32>
}

// -----

// Elements without an image format stay in plain buffers, and what computes them stays as it is.
// CHECK-LABEL: @integers
// CHECK-NEXT:  nn.binary add %x, %x : (tensor<8x8xi64>, tensor<8x8xi64>) -> tensor<8x8xi64>
func.func @integers(%x: tensor<8x8xi64>) -> tensor<8x8xi64> {
  %y = nn.binary add %x, %x : (tensor<8x8xi64>, tensor<8x8xi64>) -> tensor<8x8xi64>
  func.return %y : tensor<8x8xi64>
}

// -----

// A row of 20000 texels is wider than an image: the remark says what became of it.
// CHECK:       clopt.remarks = ["{{.*}}: image2d of 20000x4 texels has more than 16384 columns: image1d_buffer"]
// CHECK-LABEL: @wide
// CHECK:       nn.fused {{.*}} -> tensor<1x16x1x20000xf32, #nn.layout<[1 by 4], #tir.scope<texture, []>>>
func.func @wide(%x: tensor<1x16x1x20000xf32>) -> tensor<1x16x1x20000xf32> {
  %w = nn.constant dense<1.0> : tensor<16x16x1x1xf32>
  %y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x16x1x20000xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x1x20000xf32>
  %z = nn.conv %y, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x16x1x20000xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x1x20000xf32>
  func.return %z : tensor<1x16x1x20000xf32>
}
