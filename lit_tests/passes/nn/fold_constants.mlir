// RUN: clopt %s -p nn-fold-constants --split-input-file | filecheck %s

// A chain of shape arithmetic folds in one walk, and its sources vanish.
// CHECK-LABEL: @shape_arithmetic
func.func @shape_arithmetic() -> tensor<2xi64> {
  %shape = nn.constant dense<[2, 3, 4]> : tensor<3xi64>
  %at = nn.constant dense<[2, -3]> : tensor<2xi64>
  %two = nn.constant dense<2> : tensor<i64>
  %picked = nn.gather %shape, %at {axis = 0 : i64} : (tensor<3xi64>, tensor<2xi64>) -> tensor<2xi64>
  %doubled = nn.binary mul %picked, %two : (tensor<2xi64>, tensor<i64>) -> tensor<2xi64>
  func.return %doubled : tensor<2xi64>
}
// CHECK-NEXT: %doubled = nn.constant dense<[8, 4]> : tensor<2xi64>
// CHECK-NEXT: func.return %doubled

// -----

// CHECK-LABEL: @several_results
func.func @several_results() -> (tensor<2xf32>, tensor<2xi64>) {
  %x = nn.constant dense<[1.0, 3.0, 2.0]> : tensor<3xf32>
  %v, %i = nn.top_k %x {axis = 0 : i64, k = 2 : i64, largest} : (tensor<3xf32>) -> (tensor<2xf32>, tensor<2xi64>)
  func.return %v, %i : tensor<2xf32>, tensor<2xi64>
}
// CHECK-NEXT: %v = nn.constant dense<[3.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK-NEXT: %i = nn.constant dense<[1, 2]> : tensor<2xi64>

// -----

// An operand that is still used stays.
// CHECK-LABEL: @shared_operand
func.func @shared_operand() -> (tensor<2xi1>, tensor<2xf32>) {
  %x = nn.constant dense<[1.0, -1.0]> : tensor<2xf32>
  %b = nn.cast %x {to = i1} : (tensor<2xf32>) -> tensor<2xi1>
  func.return %b, %x : tensor<2xi1>, tensor<2xf32>
}
// CHECK-NEXT: %x = nn.constant dense<[1.000000e+00, -1.000000e+00]> : tensor<2xf32>
// CHECK-NEXT: %b = nn.constant dense<true> : tensor<2xi1>

// -----

// A result much larger than its operands is left to the device.
// CHECK-LABEL: @growth
func.func @growth() -> tensor<1000x1000xf32> {
  %x = nn.constant dense<1.0> : tensor<f32>
  %y = nn.expand %x {shape = array<i64: 1000, 1000>} : (tensor<f32>) -> tensor<1000x1000xf32>
  func.return %y : tensor<1000x1000xf32>
}
// CHECK: nn.expand

// -----

// A combination of arrays may be larger: attention to windows compares all pairs of positions.
// CHECK-LABEL: @pairs
// CHECK-NEXT: nn.constant
// CHECK-NEXT: func.return
func.func @pairs() -> tensor<200x1x200xf32> {
  %x = nn.constant dense<1.0> : tensor<200x1x1xf32>
  %y = nn.constant dense<2.0> : tensor<1x200xf32>
  %z = nn.binary sub %x, %y : (tensor<200x1x1xf32>, tensor<1x200xf32>) -> tensor<200x1x200xf32>
  func.return %z : tensor<200x1x200xf32>
}

// -----

// A weight whose store is absent, and an index out of range, stay as they are.
// CHECK-LABEL: @unknown
func.func @unknown() -> (tensor<4x2xf32>, tensor<f32>) {
  %w = nn.constant #nn.weight<"w_0", "conv1.weight"> : tensor<2x4xf32>
  %t = nn.transpose %w {perm = array<i64: 1, 0>} : (tensor<2x4xf32>) -> tensor<4x2xf32>
  %x = nn.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %i = nn.constant dense<2> : tensor<i64>
  %g = nn.gather %x, %i {axis = 0 : i64} : (tensor<2xf32>, tensor<i64>) -> tensor<f32>
  func.return %t, %g : tensor<4x2xf32>, tensor<f32>
}
// CHECK: nn.transpose
// CHECK: nn.gather
