// RUN: clopt %s --target nvidia -p nn-flatten-products --split-input-file | filecheck %s
// RUN: clopt %s --target adreno-740 -p nn-flatten-products --split-input-file | filecheck %s --check-prefix OTHER
// OTHER-NOT: nn.reshape

// CHECK-LABEL: @stacked
func.func @stacked(%x: tensor<4x3x5x6xf32>, %w: tensor<6x7xf32>) -> tensor<4x3x5x7xf32> {
  %y = nn.matmul %x, %w : (tensor<4x3x5x6xf32>, tensor<6x7xf32>) -> tensor<4x3x5x7xf32>
  func.return %y : tensor<4x3x5x7xf32>
}
// CHECK-NEXT: [[flat:%.*]] = nn.reshape %x {{.*}} -> tensor<60x6xf32>
// CHECK-NEXT: [[m:%.*]] = nn.matmul [[flat]], %w : {{.*}} -> tensor<60x7xf32>
// CHECK-NEXT: nn.reshape [[m]] {{.*}} -> tensor<4x3x5x7xf32>

// -----

// CHECK-LABEL: @transposed_weights
func.func @transposed_weights(%x: tensor<4x5x6xf16>, %w: tensor<7x6xf16>) -> tensor<4x5x7xf16> {
  %y = nn.matmul %x, %w {transpose_b, accumulate = f16} : (tensor<4x5x6xf16>, tensor<7x6xf16>) -> tensor<4x5x7xf16>
  func.return %y : tensor<4x5x7xf16>
}
// CHECK: nn.matmul {{.*}} {transpose_b, accumulate = f16} : (tensor<20x6xf16>, tensor<7x6xf16>) -> tensor<20x7xf16>

// -----

// Rows of one matrix are no more than they were, and others are not rows of one matrix.
// CHECK-LABEL: @others
func.func @others(%x: tensor<1x5x6xf32>, %w: tensor<6x7xf32>, %a: tensor<4x6x5xf32>, %b: tensor<4x6x7xf32>) -> (tensor<1x5x7xf32>, tensor<4x5x7xf32>, tensor<4x5x7xf32>) {
  %0 = nn.matmul %x, %w : (tensor<1x5x6xf32>, tensor<6x7xf32>) -> tensor<1x5x7xf32>
  %1 = nn.matmul %a, %w {transpose_a} : (tensor<4x6x5xf32>, tensor<6x7xf32>) -> tensor<4x5x7xf32>
  %2 = nn.matmul %a, %b {transpose_a} : (tensor<4x6x5xf32>, tensor<4x6x7xf32>) -> tensor<4x5x7xf32>
  func.return %0, %1, %2 : tensor<1x5x7xf32>, tensor<4x5x7xf32>, tensor<4x5x7xf32>
}
// CHECK-NOT: nn.reshape
