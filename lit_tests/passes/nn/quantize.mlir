// RUN: clopt %s -p "nn-quantize{global_scale=4.0 shifts=true},canonicalize,cse,dce" --split-input-file | filecheck %s
// RUN: clopt %s -p "nn-quantize{per_channel=true shifts=true},canonicalize,cse,dce" --split-input-file | filecheck %s --check-prefix CHANNELS

// A residual block: products, sums and means read int8, and the maximum handles int8 itself.
// CHECK-LABEL: @residual
// CHANNELS-LABEL: @residual
func.func @residual(%x: tensor<1x2x4x4xf32>) -> tensor<1x3xf32> {
  %w1 = nn.constant dense<[[[[0.5]],[[-0.25]]],[[[1.5]],[[-0.25]]]]> : tensor<2x2x1x1xf32>
  %b1 = nn.constant dense<[0.1, -0.2]> : tensor<2xf32>
  %0 = nn.conv %x, %w1, %b1 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  %1 = nn.unary relu %0 : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %2 = nn.conv %1, %w1 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %3 = nn.binary add %2, %1 : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %4 = nn.unary relu %3 : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %5 = nn.pool max %4 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  %m = nn.reduce mean %5 {axes = array<i64: 2, 3>, keepdims} : (tensor<1x2x2x2xf32>) -> tensor<1x2x1x1xf32>
  %6 = nn.reshape %m {shape = array<i64: 1, 2>} : (tensor<1x2x1x1xf32>) -> tensor<1x2xf32>
  %w2 = nn.constant dense<[[0.5, 0.7, -0.1],[0.3, 0.2, -0.9]]> : tensor<2x3xf32>
  %b2 = nn.constant dense<[0.5, 0.7, -0.1]> : tensor<3xf32>
  %7 = nn.matmul %6, %w2 : (tensor<1x2xf32>, tensor<2x3xf32>) -> tensor<1x3xf32>
  %8 = nn.binary add %7, %b2 : (tensor<1x3xf32>, tensor<3xf32>) -> tensor<1x3xf32>
  func.return %8 : tensor<1x3xf32>
}
// CHECK: [[S:%.*]] = nn.constant dense<3.125000e-02> : tensor<f32>
// CHECK: [[Z:%.*]] = nn.constant dense<0> : tensor<i8>
// CHECK: %x_int8 = nn.quantize half_up %x, [[S]], [[Z]]
// CHECK-NEXT: [[X:%.*]] = nn.dequantize %x_int8, [[S]], [[Z]]
// The largest weight is 1.5, so a step is 2/128.
// CHECK-NEXT: %w1 = nn.constant dense<{{.*}}32]], {{.*}}-16]]], {{.*}}96]], {{.*}}-16]]]]> : tensor<2x2x1x1xi8>
// CHECK-NEXT: [[SW:%.*]] = nn.constant dense<1.562500e-02> : tensor<f32>
// CHECK-NEXT: [[W:%.*]] = nn.dequantize %w1, [[SW]], [[Z]]
// CHECK-NEXT: %b1 = nn.constant dense<[205, -410]> : tensor<2xi32>
// CHECK: [[B:%.*]] = nn.dequantize %b1
// CHECK-NEXT: [[C:%.*]] = nn.conv [[X]], [[W]], [[B]]
// CHECK-NEXT: [[R:%.*]] = nn.unary relu [[C]]
// CHECK-NEXT: [[RQ:%.*]] = nn.quantize half_up [[R]], [[S]], [[Z]]
// CHECK-NEXT: [[RD:%.*]] = nn.dequantize [[RQ]]
// CHECK-NEXT: [[C2:%.*]] = nn.conv [[RD]], [[W]]
// CHECK-NEXT: [[CQ:%.*]] = nn.quantize half_up [[C2]]
// CHECK-NEXT: [[CD:%.*]] = nn.dequantize [[CQ]]
// CHECK-NEXT: [[A:%.*]] = nn.binary add [[CD]], [[RD]]
// CHECK-NEXT: [[AR:%.*]] = nn.unary relu [[A]]
// CHECK-NEXT: [[AQ:%.*]] = nn.quantize half_up [[AR]]
// CHECK-NEXT: [[P:%.*]] = nn.pool max [[AQ]] {{.*}} -> tensor<1x2x2x2xi8>
// CHECK-NEXT: [[PD:%.*]] = nn.dequantize [[P]]
// CHECK-NEXT: [[M:%.*]] = nn.reduce mean [[PD]]
// CHECK-NEXT: [[MQ:%.*]] = nn.quantize half_up [[M]]
// CHECK-NEXT: nn.reshape [[MQ]] {{.*}} -> tensor<1x2xi8>
// CHECK: nn.matmul
// CHECK-NEXT: %b2 = nn.constant dense<[2048, 2867, -410]> : tensor<3xi32>
// CHECK: [[SUM:%.*]] = nn.binary add
// CHECK-NEXT: func.return [[SUM]]

// CHANNELS: nn.dequantize %w1, {{.*}} : (tensor<2x2x1x1xi8>, tensor<2x1x1x1xf32>, tensor<i8>)
// CHANNELS: nn.dequantize %b1, {{.*}} : (tensor<2xi32>, tensor<2xf32>, tensor<i32>)
// CHANNELS: nn.dequantize %w2, {{.*}} : (tensor<2x3xi8>, tensor<3xf32>, tensor<i8>)

// -----

// The parts of a concatenation share its scale, by the measured ranges 1 and 3.
// CHECK-LABEL: @concatenation
func.func @concatenation(%x: tensor<1x2xf32>, %y: tensor<1x2xf32>) -> tensor<1x2xf32> attributes {nn.ranges = {x = 1.0, y = 3.0}} {
  %w = nn.constant dense<[[0.5, 1.0],[0.3, 0.2],[0.5, 1.0],[0.3, 0.2]]> : tensor<4x2xf32>
  %0 = nn.concat %x, %y {axis = 1 : i64} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x4xf32>
  %1 = nn.matmul %0, %w : (tensor<1x4xf32>, tensor<4x2xf32>) -> tensor<1x2xf32>
  func.return %1 : tensor<1x2xf32>
}
// CHECK-NOT: nn.ranges
// CHECK: [[S:%.*]] = nn.constant dense<3.125000e-02> : tensor<f32>
// CHECK-DAG: %x_int8 = nn.quantize half_up %x, [[S]]
// CHECK-DAG: %y_int8 = nn.quantize half_up %y, [[S]]
// CHECK: nn.concat %{{[xy]}}_int8, %{{[xy]}}_int8 {{.*}} -> tensor<1x4xi8>

// -----

// Attention multiplies no constants, and nothing else needs int8.
// CHECK-LABEL: @floats
func.func @floats(%q: tensor<4x4xf32>, %k: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = nn.matmul %q, %k : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = nn.binary add %0, %q : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %1 : tensor<4x4xf32>
}
// CHECK-NEXT: nn.matmul
// CHECK-NEXT: nn.binary add
