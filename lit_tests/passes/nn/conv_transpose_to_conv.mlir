// RUN: clopt %s -p nn-conv-transpose-to-conv --split-input-file | filecheck %s
// RUN: clopt %s -p nn-conv-transpose-to-conv --target "adreno-740" --split-input-file | filecheck %s --check-prefix TEXELS

// Tap k of four belongs to phase k mod 2; the taps of a phase are reversed.
// CHECK-LABEL: @line
// CHECK: [[w:%.*]] = nn.constant dense<{{\[\[\[3.*, 1.*\]\], \[\[4.*, 2.*\]\]\]}}> : tensor<2x1x2xf32>
// CHECK-NEXT: [[c:%.*]] = nn.conv %x, [[w]] {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 1, 1>} : {{.*}} -> tensor<1x2x6xf32>
// CHECK-NEXT: [[r:%.*]] = nn.reshape [[c]] {{.*}} -> tensor<1x1x2x6xf32>
// CHECK-NEXT: [[t:%.*]] = nn.transpose [[r]] {perm = array<i64: 0, 1, 3, 2>}
// CHECK-NEXT: nn.reshape [[t]] {{.*}} -> tensor<1x1x12xf32>
func.func @line(%x: tensor<1x1x5xf32>) -> tensor<1x1x12xf32> {
  %w = nn.constant dense<[[[1.0, 2.0, 3.0, 4.0]]]> : tensor<1x1x4xf32>
  %y = nn.conv_transpose %x, %w {strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 0, 0>, output_padding = array<i64: 0>} : (tensor<1x1x5xf32>, tensor<1x1x4xf32>) -> tensor<1x1x12xf32>
  func.return %y : tensor<1x1x12xf32>
}

// -----

// Padding cuts the result. Where channels are texels, those of one phase are neighbours.
// CHECK-LABEL: @plane
// CHECK: [[b:%.*]] = nn.constant dense<[5.{{.*}}, 5.{{.*}}, 5.{{.*}}, 5.{{.*}}, 6.{{.*}}]> : tensor<8xf32>
// CHECK-NEXT: [[c:%.*]] = nn.conv %x, {{.*}}, [[b]] {{.*}} -> tensor<1x8x4x4xf32>
// CHECK-NEXT: [[d:%.*]] = nn.depth_to_space crd [[c]] {block = 2 : i64} : {{.*}} -> tensor<1x2x8x8xf32>
// CHECK-NEXT: nn.slice [[d]] {starts = array<i64: 0, 0, 1, 0>, {{.*}} -> tensor<1x2x7x7xf32>
// TEXELS-LABEL: @plane
// TEXELS: nn.constant dense<[5.{{.*}}, 6.{{.*}}, 5.{{.*}}, 6.{{.*}}, 5.{{.*}}]> : tensor<8xf32>
// TEXELS: nn.depth_to_space dcr
func.func @plane(%x: tensor<1x1x4x4xf32>) -> tensor<1x2x7x7xf32> {
  %w = nn.constant dense<1.0> : tensor<1x2x2x2xf32>
  %b = nn.constant dense<[5.0, 6.0]> : tensor<2xf32>
  %y = nn.conv_transpose %x, %w, %b {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 0, 0, 1>, output_padding = array<i64: 0, 0>} : (tensor<1x1x4x4xf32>, tensor<1x2x2x2xf32>, tensor<2xf32>) -> tensor<1x2x7x7xf32>
  func.return %y : tensor<1x2x7x7xf32>
}

// -----

// CHECK-LABEL: @dilated
// CHECK: nn.conv_transpose
func.func @dilated(%x: tensor<1x1x5xf32>) -> tensor<1x1x11xf32> {
  %w = nn.constant dense<1.0> : tensor<1x1x2xf32>
  %y = nn.conv_transpose %x, %w {strides = array<i64: 2>, dilations = array<i64: 2>, pads = array<i64: 0, 0>, output_padding = array<i64: 0>} : (tensor<1x1x5xf32>, tensor<1x1x2xf32>) -> tensor<1x1x11xf32>
  func.return %y : tensor<1x1x11xf32>
}

// -----

// CHECK-LABEL: @computed_weights
// CHECK: nn.conv_transpose
func.func @computed_weights(%x: tensor<1x1x5xf32>, %w: tensor<1x1x2xf32>) -> tensor<1x1x10xf32> {
  %y = nn.conv_transpose %x, %w {strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 0, 0>, output_padding = array<i64: 0>} : (tensor<1x1x5xf32>, tensor<1x1x2xf32>) -> tensor<1x1x10xf32>
  func.return %y : tensor<1x1x10xf32>
}

// -----

// CHECK-LABEL: @no_stride
// CHECK: nn.conv_transpose
func.func @no_stride(%x: tensor<1x1x5xf32>) -> tensor<1x1x6xf32> {
  %w = nn.constant dense<1.0> : tensor<1x1x2xf32>
  %y = nn.conv_transpose %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>, output_padding = array<i64: 0>} : (tensor<1x1x5xf32>, tensor<1x1x2xf32>) -> tensor<1x1x6xf32>
  func.return %y : tensor<1x1x6xf32>
}
