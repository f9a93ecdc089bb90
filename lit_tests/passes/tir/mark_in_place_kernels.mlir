// RUN: clopt %s --target pocl winograd=off -p fuse,lower,schedule,tir-mark-in-place | filecheck %s
// RUN: clopt %s --target generic-gpu -p fuse,lower,schedule,tir-mark-in-place | filecheck %s

// What the rules for CPUs and for GPUs make of the usual candidates.

// CHECK-LABEL: tir.func @relu_0({{.*}} in_place = [array<i64: 0, 1>]
func.func @unary(%x: tensor<1x8x6x5xf32>) -> tensor<1x8x6x5xf32> {
  %y = nn.unary relu %x : (tensor<1x8x6x5xf32>) -> tensor<1x8x6x5xf32>
  func.return %y : tensor<1x8x6x5xf32>
}

// Both operands; a broadcast one is smaller.
// CHECK-LABEL: tir.func @add_1({{.*}} in_place = [array<i64: 0, 2>, array<i64: 1, 2>]
func.func @sum(%x: tensor<1x8x8x8xf32>, %z: tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32> {
  %y = nn.binary add %x, %z : (tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  func.return %y : tensor<1x8x8x8xf32>
}

// CHECK-LABEL: tir.func @mul_2({{.*}} in_place = [array<i64: 0, 2>]
func.func @scale(%x: tensor<1x8x8x8xf32>, %z: tensor<1x8x1x1xf32>) -> tensor<1x8x8x8xf32> {
  %y = nn.binary mul %x, %z : (tensor<1x8x8x8xf32>, tensor<1x8x1x1xf32>) -> tensor<1x8x8x8xf32>
  func.return %y : tensor<1x8x8x8xf32>
}

// A residual sum behind a convolution: of the same shape are its input, which other work-items read,
// and what is added.
// CHECK-LABEL: tir.func @conv_4({{.*}} in_place = [array<i64: 2, 3>]
func.func @residual(%x: tensor<1x16x16x16xf32>, %z: tensor<1x16x16x16xf32>) -> tensor<1x16x16x16xf32> {
  %w = nn.constant dense<0.5> : tensor<16x16x3x3xf32>
  %c = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x16x16xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x16x16xf32>
  %s = nn.binary add %c, %z : (tensor<1x16x16x16xf32>, tensor<1x16x16x16xf32>) -> tensor<1x16x16x16xf32>
  %y = nn.unary relu %s : (tensor<1x16x16x16xf32>) -> tensor<1x16x16x16xf32>
  func.return %y : tensor<1x16x16x16xf32>
}

// CHECK-LABEL: tir.func @matmul_5({{.*}} in_place = [array<i64: 2, 3>]
func.func @product(%a: tensor<16x64xf32>, %b: tensor<64x64xf32>, %z: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %c = nn.matmul %a, %b : (tensor<16x64xf32>, tensor<64x64xf32>) -> tensor<16x64xf32>
  %y = nn.binary add %z, %c : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
  func.return %y : tensor<16x64xf32>
}

// A row is reduced, then written.
// CHECK-LABEL: tir.func @softmax_6({{.*}} in_place = [array<i64: 0, 1>]
func.func @softmax(%x: tensor<1x4x16x64xf32>) -> tensor<1x4x16x64xf32> {
  %y = nn.softmax %x {axis = 3 : i64} : (tensor<1x4x16x64xf32>) -> tensor<1x4x16x64xf32>
  func.return %y : tensor<1x4x16x64xf32>
}

// CHECK-LABEL: tir.func @layer_norm_7({{.*}} in_place = [array<i64: 0, 2>]
func.func @norm(%x: tensor<1x16x64xf32>) -> tensor<1x16x64xf32> {
  %s = nn.constant dense<0.5> : tensor<64xf32>
  %y = nn.layer_norm %x, %s {axis = 2 : i64, epsilon = 1.0e-5 : f64} : (tensor<1x16x64xf32>, tensor<64xf32>) -> tensor<1x16x64xf32>
  func.return %y : tensor<1x16x64xf32>
}

// Elements change places.
// CHECK-LABEL: tir.func @transpose_8(
// CHECK-NOT: in_place
// CHECK: {
func.func @moved(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %y = nn.transpose %x {perm = array<i64: 1, 0>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  func.return %y : tensor<8x8xf32>
}
