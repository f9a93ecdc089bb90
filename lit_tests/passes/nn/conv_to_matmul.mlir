// RUN: clopt %s -p nn-conv-to-matmul --split-input-file | filecheck %s

// CHECK-LABEL: @pointwise
func.func @pointwise(%x: tensor<2x3x4x5xf32>) -> tensor<2x7x4x5xf32> {
  %w = nn.constant dense<1.0> : tensor<7x3x1x1xf32>
  %b = nn.constant dense<2.0> : tensor<7xf32>
  %y = nn.conv %x, %w, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<2x3x4x5xf32>, tensor<7x3x1x1xf32>, tensor<7xf32>) -> tensor<2x7x4x5xf32>
  func.return %y : tensor<2x7x4x5xf32>
}
// CHECK: [[w:%.*]] = nn.constant dense<1.000000e+00> : tensor<7x3xf32>
// CHECK-NEXT: [[r:%.*]] = nn.reshape %x {{.*}} -> tensor<2x3x20xf32>
// CHECK-NEXT: [[m:%.*]] = nn.matmul [[w]], [[r]] : {{.*}} -> tensor<2x7x20xf32>
// CHECK-NEXT: [[b:%.*]] = nn.constant dense<2.000000e+00> : tensor<7x1xf32>
// CHECK-NEXT: [[a:%.*]] = nn.binary add [[m]], [[b]]
// CHECK-NEXT: nn.reshape [[a]] {{.*}} -> tensor<2x7x4x5xf32>

// -----

// CHECK-LABEL: @computed_weights
func.func @computed_weights(%x: tensor<1x3x5xf32>, %w: tensor<7x3x1xf32>) -> tensor<1x7x5xf32> {
  %y = nn.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : (tensor<1x3x5xf32>, tensor<7x3x1xf32>) -> tensor<1x7x5xf32>
  func.return %y : tensor<1x7x5xf32>
}
// CHECK-NEXT: nn.reshape %w {{.*}} -> tensor<7x3xf32>

// -----

// CHECK-LABEL: @strided
func.func @strided(%x: tensor<1x3x6xf32>, %w: tensor<7x3x1xf32>) -> tensor<1x7x3xf32> {
  %y = nn.conv %x, %w {strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : (tensor<1x3x6xf32>, tensor<7x3x1xf32>) -> tensor<1x7x3xf32>
  func.return %y : tensor<1x7x3xf32>
}
// CHECK-NEXT: [[s:%.*]] = nn.slice %x {{.*}}steps = array<i64: 1, 1, 2>{{.*}} -> tensor<1x3x3xf32>
// CHECK: nn.reshape [[s]] {{.*}} -> tensor<1x3x3xf32>
// CHECK: nn.matmul

// -----

// Padding, groups and larger kernels compute more than that.
// CHECK-LABEL: @not_pointwise
func.func @not_pointwise(%x: tensor<1x4x6xf32>, %w: tensor<4x4x1xf32>, %g: tensor<4x2x1xf32>, %k: tensor<4x4x2xf32>) -> (tensor<1x4x7xf32>, tensor<1x4x6xf32>, tensor<1x4x5xf32>) {
  %b = nn.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 1, 0>} : (tensor<1x4x6xf32>, tensor<4x4x1xf32>) -> tensor<1x4x7xf32>
  %c = nn.conv %x, %g {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>, groups = 2 : i64} : (tensor<1x4x6xf32>, tensor<4x2x1xf32>) -> tensor<1x4x6xf32>
  %d = nn.conv %x, %k {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : (tensor<1x4x6xf32>, tensor<4x4x2xf32>) -> tensor<1x4x5xf32>
  func.return %b, %c, %d : tensor<1x4x7xf32>, tensor<1x4x6xf32>, tensor<1x4x5xf32>
}
// CHECK-NOT: nn.matmul

// -----

// CHECK: cl.choices = [#cl.choice<"form", "c66f794e8c1dea46", "direct", "nn.conv", ["matmul"]>]
// CHECK: nn.conv
module attributes {cl.choices = [#cl.choice<"form", "c66f794e8c1dea46", "direct", "", []>]} {
  func.func @demanded(%x: tensor<2x3x4x5xf32>) -> tensor<2x7x4x5xf32> {
    %w = nn.constant dense<1.0> : tensor<7x3x1x1xf32>
    %y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<2x3x4x5xf32>, tensor<7x3x1x1xf32>) -> tensor<2x7x4x5xf32>
    func.return %y : tensor<2x7x4x5xf32>
  }
}
