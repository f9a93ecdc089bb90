// RUN: clopt %s -p canonicalize --split-input-file | filecheck %s

// As exported before ONNX had LayerNormalization.
// CHECK-LABEL: @layer_norm
func.func @layer_norm(%x: tensor<2x3x4xf32>, %scale: tensor<4xf32>, %bias: tensor<4xf32>) -> tensor<2x3x4xf32> {
  %two = nn.constant dense<2.0> : tensor<f32>
  %epsilon = nn.constant dense<0.125> : tensor<f32>
  %m = nn.reduce mean %x {axes = array<i64: 2>, keepdims} : (tensor<2x3x4xf32>) -> tensor<2x3x1xf32>
  %d = nn.binary sub %x, %m : (tensor<2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<2x3x4xf32>
  %q = nn.binary pow %d, %two : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3x4xf32>
  %v = nn.reduce mean %q {axes = array<i64: 2>, keepdims} : (tensor<2x3x4xf32>) -> tensor<2x3x1xf32>
  %e = nn.binary add %v, %epsilon : (tensor<2x3x1xf32>, tensor<f32>) -> tensor<2x3x1xf32>
  %s = nn.unary sqrt %e : (tensor<2x3x1xf32>) -> tensor<2x3x1xf32>
  %n = nn.binary div %d, %s : (tensor<2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<2x3x4xf32>
  %y = nn.binary mul %n, %scale : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  %z = nn.binary add %y, %bias : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  func.return %z : tensor<2x3x4xf32>
}
// CHECK-NEXT: [[r:%.*]] = nn.layer_norm %x, %scale, %bias {axis = 2 : i64, epsilon = 1.250000e-01 : f64}
// CHECK-NEXT: func.return [[r]]

// -----

// CHECK-LABEL: @rms_norm
func.func @rms_norm(%x: tensor<2x3x4xf32>, %scale: tensor<3x4xf32>) -> tensor<2x3x4xf32> {
  %one = nn.constant dense<1.0> : tensor<f32>
  %epsilon = nn.constant dense<0.125> : tensor<f32>
  %q = nn.binary mul %x, %x : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %v = nn.reduce mean %q {axes = array<i64: 1, 2>, keepdims} : (tensor<2x3x4xf32>) -> tensor<2x1x1xf32>
  %e = nn.binary add %v, %epsilon : (tensor<2x1x1xf32>, tensor<f32>) -> tensor<2x1x1xf32>
  %s = nn.unary sqrt %e : (tensor<2x1x1xf32>) -> tensor<2x1x1xf32>
  %i = nn.binary div %one, %s : (tensor<f32>, tensor<2x1x1xf32>) -> tensor<2x1x1xf32>
  %n = nn.binary mul %x, %i : (tensor<2x3x4xf32>, tensor<2x1x1xf32>) -> tensor<2x3x4xf32>
  %y = nn.binary mul %scale, %n : (tensor<3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  func.return %y : tensor<2x3x4xf32>
}
// CHECK-NEXT: [[r:%.*]] = nn.rms_norm %x, %scale {axis = 1 : i64, epsilon = 1.250000e-01 : f64}
// CHECK-NEXT: func.return [[r]]

// -----

// A scale per other dimension, and a mean over an inner dimension, are no layer norm.
// CHECK-LABEL: @not_trailing
func.func @not_trailing(%x: tensor<3x4xf32>, %scale: tensor<3x1xf32>, %other: tensor<4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %epsilon = nn.constant dense<0.125> : tensor<f32>
  %q = nn.binary mul %x, %x : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %v = nn.reduce mean %q {axes = array<i64: 1>, keepdims} : (tensor<3x4xf32>) -> tensor<3x1xf32>
  %e = nn.binary add %v, %epsilon : (tensor<3x1xf32>, tensor<f32>) -> tensor<3x1xf32>
  %s = nn.unary rsqrt %e : (tensor<3x1xf32>) -> tensor<3x1xf32>
  %n = nn.binary mul %x, %s : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  %y = nn.binary mul %n, %scale : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  %v0 = nn.reduce mean %q {axes = array<i64: 0>, keepdims} : (tensor<3x4xf32>) -> tensor<1x4xf32>
  %e0 = nn.binary add %v0, %epsilon : (tensor<1x4xf32>, tensor<f32>) -> tensor<1x4xf32>
  %s0 = nn.unary rsqrt %e0 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %n0 = nn.binary mul %x, %s0 : (tensor<3x4xf32>, tensor<1x4xf32>) -> tensor<3x4xf32>
  %y0 = nn.binary mul %n0, %other : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  func.return %y, %y0 : tensor<3x4xf32>, tensor<3x4xf32>
}
// CHECK-NOT: norm

// -----

// A sum of 3 * 4 terms over their number is their mean; over another number it is not.
// CHECK-LABEL: @mean
// CHECK: nn.reduce mean %x {axes = array<i64: 1, 2>}
// CHECK-NOT: nn.reduce mean
// CHECK: nn.binary div
func.func @mean(%x: tensor<2x3x4xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %n = nn.constant dense<12.0> : tensor<f32>
  %m = nn.constant dense<4.0> : tensor<f32>
  %s = nn.reduce sum %x {axes = array<i64: 1, 2>} : (tensor<2x3x4xf32>) -> tensor<2xf32>
  %y = nn.binary div %s, %n : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %z = nn.binary div %s, %m : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  func.return %y, %z : tensor<2xf32>, tensor<2xf32>
}

// -----

// CHECK-LABEL: @softmax
// CHECK-NEXT: [[Y:%.*]] = nn.softmax %x {axis = 1 : i64}
// CHECK-NEXT: func.return [[Y]]
func.func @softmax(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %m = nn.reduce max %x {axes = array<i64: 1>, keepdims} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %d = nn.binary sub %x, %m : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %e = nn.unary exp %d : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %s = nn.reduce sum %e {axes = array<i64: 1>, keepdims} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %y = nn.binary div %e, %s : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// -----

// The maximum along another axis makes no softmax.
// CHECK-LABEL: @no_softmax
// CHECK-NOT: nn.softmax
// CHECK: nn.binary div
func.func @no_softmax(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %m = nn.reduce max %x {axes = array<i64: 0>, keepdims} : (tensor<3x3xf32>) -> tensor<1x3xf32>
  %d = nn.binary sub %x, %m : (tensor<3x3xf32>, tensor<1x3xf32>) -> tensor<3x3xf32>
  %e = nn.unary exp %d : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %s = nn.reduce sum %e {axes = array<i64: 1>, keepdims} : (tensor<3x3xf32>) -> tensor<3x1xf32>
  %y = nn.binary div %e, %s : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x3xf32>
  func.return %y : tensor<3x3xf32>
}
