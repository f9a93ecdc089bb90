// RUN: clopt %s -p nn-fold-batch-norm --split-input-file | filecheck %s
// RUN: clopt %s -p nn-fold-batch-norm --split-input-file --print-debuginfo | filecheck %s --check-prefix=LOC

// (x - 1) / sqrt(4) * 2 + 3 = x + 2 in the first channel; (x - 0) / sqrt(1) * 3 - 1 in the second.
// CHECK-LABEL: @into_conv
// LOC-LABEL: @into_conv
func.func @into_conv(%x: tensor<1x1x4x4xf32>) -> tensor<1x2x2x2xf32> {
  %w = nn.constant dense<1.0> : tensor<2x1x3x3xf32>
  %b = nn.constant dense<[5.0, 6.0]> : tensor<2xf32>
  %scale = nn.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %bias = nn.constant dense<[3.0, -1.0]> : tensor<2xf32>
  %mean = nn.constant dense<[1.0, 0.0]> : tensor<2xf32>
  %var = nn.constant dense<[4.0, 1.0]> : tensor<2xf32>
  %y = nn.conv %x, %w, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x1x4x4xf32>, tensor<2x1x3x3xf32>, tensor<2xf32>) -> tensor<1x2x2x2xf32> loc("conv1")
  %z = nn.batch_norm %y, %scale, %bias, %mean, %var {epsilon = 0.0} : (tensor<1x2x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x2x2xf32> loc("bn1")
  func.return %z : tensor<1x2x2x2xf32>
}
// CHECK-NOT: nn.batch_norm
// CHECK: nn.constant dense<[7.000000e+00, 1.700000e+01]> : tensor<2xf32>
// CHECK-NEXT: nn.conv %x
// CHECK-NEXT: func.return
// LOC: nn.conv {{.*}} loc("conv1")

// -----

// A transposed convolution in two groups, its scale spelled as a product.
// CHECK-LABEL: @into_conv_transpose
func.func @into_conv_transpose(%x: tensor<1x2x3xf32>) -> tensor<1x2x3xf32> {
  %w = nn.constant dense<[[[1.0]], [[2.0]]]> : tensor<2x1x1xf32>
  %y = nn.conv_transpose %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>, output_padding = array<i64: 0>, groups = 2 : i64} : (tensor<1x2x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3xf32>
  %s = nn.constant dense<[[10.0], [100.0]]> : tensor<2x1xf32>
  %z = nn.binary mul %y, %s : (tensor<1x2x3xf32>, tensor<2x1xf32>) -> tensor<1x2x3xf32>
  func.return %z : tensor<1x2x3xf32>
}
// CHECK{LITERAL}: nn.constant dense<[[[1.000000e+01]], [[2.000000e+02]]]> : tensor<2x1x1xf32>
// CHECK-NEXT: nn.conv_transpose
// CHECK-NEXT: func.return

// -----

// What a second user sees must not change.
// CHECK-LABEL: @shared_conv
func.func @shared_conv(%x: tensor<1x1x3xf32>) -> (tensor<1x1x3xf32>, tensor<1x1x3xf32>) {
  %w = nn.constant dense<1.0> : tensor<1x1x1xf32>
  %two = nn.constant dense<2.0> : tensor<f32>
  %y = nn.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : (tensor<1x1x3xf32>, tensor<1x1x1xf32>) -> tensor<1x1x3xf32>
  %z = nn.binary mul %y, %two : (tensor<1x1x3xf32>, tensor<f32>) -> tensor<1x1x3xf32>
  func.return %y, %z : tensor<1x1x3xf32>, tensor<1x1x3xf32>
}
// CHECK: nn.conv
// CHECK-NEXT: nn.binary mul

// -----

// Nothing before it to fold into: a scale and a shift.
// CHECK-LABEL: @alone
func.func @alone(%x: tensor<1x2x3xf32>) -> tensor<1x2x3xf32> {
  %one = nn.constant dense<[1.0, 4.0]> : tensor<2xf32>
  %z = nn.batch_norm %x, %one, %one, %one, %one {epsilon = 0.0} : (tensor<1x2x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x3xf32>
  func.return %z : tensor<1x2x3xf32>
}
// CHECK{LITERAL}: dense<[[1.000000e+00], [2.000000e+00]]> : tensor<2x1xf32>
// CHECK{LITERAL}: dense<[[0.000000e+00], [-4.000000e+00]]> : tensor<2x1xf32>
// CHECK: nn.binary mul %x
// CHECK: nn.binary add

// -----

// CHECK-LABEL: @computed
func.func @computed(%x: tensor<1x2x3xf32>, %v: tensor<2xf32>) -> tensor<1x2x3xf32> {
  %z = nn.batch_norm %x, %v, %v, %v, %v {epsilon = 0.001} : (tensor<1x2x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x3xf32>
  func.return %z : tensor<1x2x3xf32>
}
// CHECK-NOT: nn.batch_norm
// CHECK: nn.unary rsqrt

// -----

// x @ W + b, then * s: the scale passes the bias.
// CHECK-LABEL: @into_matmul
func.func @into_matmul(%x: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %w = nn.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = nn.constant dense<[5.0, 6.0]> : tensor<2xf32>
  %s = nn.constant dense<[10.0, 100.0]> : tensor<2xf32>
  %y = nn.matmul %x, %w {transpose_b} : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %z = nn.binary add %y, %b : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  %r = nn.binary mul %z, %s : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  func.return %r : tensor<4x2xf32>
}
// CHECK-DAG: dense<[5.000000e+01, 6.000000e+02]> : tensor<2xf32>
// CHECK-DAG{LITERAL}: dense<[[1.000000e+01, 2.000000e+01], [3.000000e+02, 4.000000e+02]]> : tensor<2x2xf32>
// CHECK: nn.matmul {{.*}} {transpose_b}
// CHECK-NEXT: nn.binary add
// CHECK-NEXT: func.return
