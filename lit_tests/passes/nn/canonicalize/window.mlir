// RUN: clopt %s -p canonicalize --split-input-file | filecheck %s

// CHECK-LABEL: @pad_conv
func.func @pad_conv(%x: tensor<1x2x5xf32>, %w: tensor<3x2x3xf32>) -> tensor<1x3x8xf32> {
  %0 = nn.pad constant %x {low = array<i64: 0, 0, 1>, high = array<i64: 0, 0, 2>} : (tensor<1x2x5xf32>) -> tensor<1x2x8xf32>
  %1 = nn.conv %0, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 1, 1>} : (tensor<1x2x8xf32>, tensor<3x2x3xf32>) -> tensor<1x3x8xf32>
  func.return %1 : tensor<1x3x8xf32>
}
// CHECK-NEXT: nn.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 2, 3>}

// -----

// Neither another value nor padded channels are the convolution's.
// CHECK-LABEL: @other_pads
func.func @other_pads(%x: tensor<1x2x5xf32>, %w: tensor<3x2x3xf32>, %v: tensor<3x4x3xf32>) -> (tensor<1x3x4xf32>, tensor<1x3x3xf32>) {
  %0 = nn.pad constant %x {low = array<i64: 0, 0, 1>, high = array<i64: 0, 0, 0>, value = 1.0 : f32} : (tensor<1x2x5xf32>) -> tensor<1x2x6xf32>
  %1 = nn.conv %0, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : (tensor<1x2x6xf32>, tensor<3x2x3xf32>) -> tensor<1x3x4xf32>
  %2 = nn.pad constant %x {low = array<i64: 0, 2, 0>, high = array<i64: 0, 0, 0>} : (tensor<1x2x5xf32>) -> tensor<1x4x5xf32>
  %3 = nn.conv %2, %v {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : (tensor<1x4x5xf32>, tensor<3x4x3xf32>) -> tensor<1x3x3xf32>
  func.return %1, %3 : tensor<1x3x4xf32>, tensor<1x3x3xf32>
}
// CHECK: nn.pad
// CHECK: nn.pad

// -----

// CHECK-LABEL: @pad_pool
func.func @pad_pool(%x: tensor<1x2x5xf32>) -> (tensor<1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>) {
  %inf = nn.pad constant %x {low = array<i64: 0, 0, 1>, high = array<i64: 0, 0, 0>, value = 0xFF800000 : f32} : (tensor<1x2x5xf32>) -> tensor<1x2x6xf32>
  %0 = nn.pool max %inf {kernel = array<i64: 3>, strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : (tensor<1x2x6xf32>) -> tensor<1x2x4xf32>
  %zero = nn.pad constant %x {low = array<i64: 0, 0, 1>, high = array<i64: 0, 0, 0>} : (tensor<1x2x5xf32>) -> tensor<1x2x6xf32>
  %1 = nn.pool average %zero {kernel = array<i64: 3>, strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : (tensor<1x2x6xf32>) -> tensor<1x2x4xf32>
  // The maximum of negative elements is not zero.
  %2 = nn.pool max %zero {kernel = array<i64: 3>, strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : (tensor<1x2x6xf32>) -> tensor<1x2x4xf32>
  func.return %0, %1, %2 : tensor<1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>
}
// CHECK-NEXT: nn.pool max %x {{{.*}}pads = array<i64: 1, 0>}
// CHECK-NEXT: [[p:%.*]] = nn.pad
// CHECK-NEXT: nn.pool average %x {{{.*}}pads = array<i64: 1, 0>, count_include_pad}
// CHECK-NEXT: nn.pool max [[p]]

// -----

// CHECK-LABEL: @single
func.func @single(%x: tensor<1x2x5xf32>) -> (tensor<1x2x5xf32>, tensor<1x2x3xf32>) {
  %0 = nn.pool max %x {kernel = array<i64: 1>, strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : (tensor<1x2x5xf32>) -> tensor<1x2x5xf32>
  %1 = nn.pool average %x {kernel = array<i64: 1>, strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : (tensor<1x2x5xf32>) -> tensor<1x2x3xf32>
  func.return %0, %1 : tensor<1x2x5xf32>, tensor<1x2x3xf32>
}
// CHECK-NEXT: [[s:%.*]] = nn.slice %x {starts = array<i64: 0, 0, 0>, steps = array<i64: 1, 1, 2>, sizes = array<i64: 1, 2, 3>}
// CHECK-NEXT: func.return %x, [[s]]
