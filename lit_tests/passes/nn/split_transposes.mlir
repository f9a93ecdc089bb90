// RUN: clopt %s --target generic-gpu -p nn-split-transposes --split-input-file | filecheck %s
// RUN: clopt %s --target generic -p nn-split-transposes --split-input-file | filecheck %s --check-prefix CPU

// Schedules of CPUs transpose the part that a work-item needs.
// CPU-NOT: nn.transpose

// A computed right operand is written in the order in which the product reads it.
// CHECK-LABEL: @attention
// CHECK-NEXT: [[t:%.*]] = nn.transpose %k {perm = array<i64: 0, 2, 1>} : {{.*}} -> tensor<2x8x6xf32>
// CHECK-NEXT: nn.matmul %q, [[t]] : (tensor<2x4x8xf32>, tensor<2x8x6xf32>) -> tensor<2x4x6xf32>
func.func @attention(%q: tensor<2x4x8xf32>, %k: tensor<2x6x8xf32>) -> tensor<2x4x6xf32> {
  %y = nn.matmul %q, %k {transpose_b} : (tensor<2x4x8xf32>, tensor<2x6x8xf32>) -> tensor<2x4x6xf32>
  func.return %y : tensor<2x4x6xf32>
}

// -----

// The left operand keeps its flag, and so does the type of the sums.
// CHECK-LABEL: @both
// CHECK-NEXT: [[t:%.*]] = nn.transpose %b {perm = array<i64: 1, 0>}
// CHECK-NEXT: nn.matmul %a, [[t]] {transpose_a, accumulate = f16}
func.func @both(%a: tensor<8x4xf16>, %b: tensor<6x8xf16>) -> tensor<4x6xf16> {
  %y = nn.matmul %a, %b {transpose_a, transpose_b, accumulate = f16} : (tensor<8x4xf16>, tensor<6x8xf16>) -> tensor<4x6xf16>
  func.return %y : tensor<4x6xf16>
}

// -----

// The schedule lays constants out at compile time.
// CHECK-LABEL: @constant
// CHECK-NEXT: nn.constant
// CHECK-NEXT: nn.matmul %a, %w {transpose_b}
func.func @constant(%a: tensor<4x8xf32>) -> tensor<4x6xf32> {
  %w = nn.constant dense<1.0> : tensor<6x8xf32>
  %y = nn.matmul %a, %w {transpose_b} : (tensor<4x8xf32>, tensor<6x8xf32>) -> tensor<4x6xf32>
  func.return %y : tensor<4x6xf32>
}

// -----

// CHECK-LABEL: @in_a_kernel
// CHECK-NOT: nn.transpose
// CHECK: nn.matmul %c, %d {transpose_b}
func.func @in_a_kernel(%a: tensor<4x8xf32>, %b: tensor<6x8xf32>) -> tensor<4x6xf32> {
  %y = nn.fused %a, %b : (tensor<4x8xf32>, tensor<6x8xf32>) -> tensor<4x6xf32> {
  ^bb0(%c: tensor<4x8xf32>, %d: tensor<6x8xf32>):
    %z = nn.matmul %c, %d {transpose_b} : (tensor<4x8xf32>, tensor<6x8xf32>) -> tensor<4x6xf32>
    nn.yield %z : tensor<4x6xf32>
  }
  func.return %y : tensor<4x6xf32>
}
