// RUN: clopt %s -p nn-split-padding --split-input-file | filecheck %s

// CHECK-LABEL: @conv
// CHECK-NEXT: [[p:%.*]] = nn.pad constant %x {low = array<i64: 0, 0, 0, 1>, high = array<i64: 0, 0, 1, 2>}
// CHECK-NEXT: nn.conv [[p]], %w, %b {{.*}}pads = array<i64: 0, 0, 0, 0>, groups = 2
func.func @conv(%x: tensor<1x2x6x8xf32>, %w: tensor<4x1x3x3xf32>, %b: tensor<4xf32>) -> tensor<1x4x3x5xf32> {
  %y = nn.conv %x, %w, %b {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 1, 1, 2>, groups = 2 : i64} : (tensor<1x2x6x8xf32>, tensor<4x1x3x3xf32>, tensor<4xf32>) -> tensor<1x4x3x5xf32>
  func.return %y : tensor<1x4x3x5xf32>
}

// -----

// The border of a maximum is never the greatest.
// CHECK-LABEL: @max_pool
// CHECK-NEXT: [[p:%.*]] = nn.pad constant %x {low = array<i64: 0, 0, 1>, high = array<i64: 0, 0, 0>, value = 0xff800000 : f32}
// CHECK-NEXT: nn.pool max [[p]] {{.*}}pads = array<i64: 0, 0>
func.func @max_pool(%x: tensor<1x2x7xf32>) -> tensor<1x2x4xf32> {
  %y = nn.pool max %x {kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 1, 0>} : (tensor<1x2x7xf32>) -> tensor<1x2x4xf32>
  func.return %y : tensor<1x2x4xf32>
}

// -----

// In ceil mode the last window may reach further than the padding that is stated.
// CHECK-LABEL: @ceil
// CHECK-NEXT: nn.pad constant %x {low = array<i64: 0, 0, 1>, high = array<i64: 0, 0, 2>
// CHECK-NOT: ceil_mode
func.func @ceil(%x: tensor<1x2x6xf32>) -> tensor<1x2x3xf32> {
  %y = nn.pool max %x {kernel = array<i64: 3>, strides = array<i64: 3>, dilations = array<i64: 1>, pads = array<i64: 1, 0>, ceil_mode} : (tensor<1x2x6xf32>) -> tensor<1x2x3xf32>
  func.return %y : tensor<1x2x3xf32>
}

// -----

// An average may count the border; one that leaves it out has to know it.
// CHECK-LABEL: @averages
// CHECK-NEXT: [[p:%.*]] = nn.pad constant %x {low = array<i64: 0, 0, 1>, high = array<i64: 0, 0, 0>}
// CHECK-NEXT: nn.pool average [[p]] {{.*}}pads = array<i64: 0, 0>
// CHECK-NEXT: nn.pool average %x {{.*}}pads = array<i64: 1, 0>
func.func @averages(%x: tensor<1x2x7xf32>) -> (tensor<1x2x4xf32>, tensor<1x2x4xf32>) {
  %a = nn.pool average %x {kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 1, 0>, count_include_pad} : (tensor<1x2x7xf32>) -> tensor<1x2x4xf32>
  %b = nn.pool average %x {kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 1, 0>} : (tensor<1x2x7xf32>) -> tensor<1x2x4xf32>
  func.return %a, %b : tensor<1x2x4xf32>, tensor<1x2x4xf32>
}

// -----

// Nothing to move, and integers, which are rare.
// CHECK-LABEL: @unchanged
// CHECK-NOT: nn.pad
func.func @unchanged(%x: tensor<1x2x7xf32>, %i: tensor<1x2x7xi32>, %w: tensor<2x2x1xf32>) -> (tensor<1x2x7xf32>, tensor<1x2x4xi32>) {
  %a = nn.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : (tensor<1x2x7xf32>, tensor<2x2x1xf32>) -> tensor<1x2x7xf32>
  %b = nn.pool max %i {kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 1, 0>} : (tensor<1x2x7xi32>) -> tensor<1x2x4xi32>
  func.return %a, %b : tensor<1x2x7xf32>, tensor<1x2x4xi32>
}
