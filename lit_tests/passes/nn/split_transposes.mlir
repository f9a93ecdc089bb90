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

// -----

// The lines of a column are 4096 bytes apart, so they share a set of the cache.
// CPU-LABEL: @pages
// CPU-NEXT: [[t:%.*]] = nn.transpose %a {perm = array<i64: 1, 0>} : (tensor<64x1024xf32>) -> tensor<1024x64xf32>
// CPU-NEXT: nn.matmul [[t]], %b : (tensor<1024x64xf32>, tensor<64x128xf32>) -> tensor<1024x128xf32>
// CHECK-LABEL: @pages
// CHECK-NEXT: nn.matmul %a, %b {transpose_a}
func.func @pages(%a: tensor<64x1024xf32>, %b: tensor<64x128xf32>) -> tensor<1024x128xf32> {
  %y = nn.matmul %a, %b {transpose_a} : (tensor<64x1024xf32>, tensor<64x128xf32>) -> tensor<1024x128xf32>
  func.return %y : tensor<1024x128xf32>
}

// -----

// CPU-LABEL: @no_pages
// CPU-NEXT: nn.matmul %a, %b {transpose_a}
func.func @no_pages(%a: tensor<64x1000xf32>, %b: tensor<64x128xf32>) -> tensor<1000x128xf32> {
  %y = nn.matmul %a, %b {transpose_a} : (tensor<64x1000xf32>, tensor<64x128xf32>) -> tensor<1000x128xf32>
  func.return %y : tensor<1000x128xf32>
}

// -----

// CPU-LABEL: @few_columns
// CPU-NEXT: nn.matmul %a, %b {transpose_a}
func.func @few_columns(%a: tensor<64x1024xf32>, %b: tensor<64x8xf32>) -> tensor<1024x8xf32> {
  %y = nn.matmul %a, %b {transpose_a} : (tensor<64x1024xf32>, tensor<64x8xf32>) -> tensor<1024x8xf32>
  func.return %y : tensor<1024x8xf32>
}
