// RUN: clopt %s -p canonicalize --split-input-file | filecheck %s

// CHECK-LABEL: @reshapes
func.func @reshapes(%x: tensor<2x6xf32>) -> (tensor<2x6xf32>, tensor<12xf32>) {
  %0 = nn.reshape %x {shape = array<i64: 3, 4>} : (tensor<2x6xf32>) -> tensor<3x4xf32>
  %1 = nn.reshape %0 {shape = array<i64: 2, 6>} : (tensor<3x4xf32>) -> tensor<2x6xf32>
  %2 = nn.reshape %0 {shape = array<i64: 12>} : (tensor<3x4xf32>) -> tensor<12xf32>
  func.return %1, %2 : tensor<2x6xf32>, tensor<12xf32>
}
// CHECK-NEXT: [[r:%.*]] = nn.reshape %x {shape = array<i64: 12>} : (tensor<2x6xf32>) -> tensor<12xf32>
// CHECK-NEXT: func.return %x, [[r]]

// -----

// CHECK-LABEL: @transposes
func.func @transposes(%x: tensor<2x3x4xf32>, %u: tensor<1x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<4x2x3xf32>, tensor<3x1x4xf32>) {
  %0 = nn.transpose %x {perm = array<i64: 1, 2, 0>} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %1 = nn.transpose %0 {perm = array<i64: 2, 0, 1>} : (tensor<3x4x2xf32>) -> tensor<2x3x4xf32>
  %2 = nn.transpose %0 {perm = array<i64: 1, 2, 0>} : (tensor<3x4x2xf32>) -> tensor<4x2x3xf32>
  %3 = nn.transpose %u {perm = array<i64: 1, 0, 2>} : (tensor<1x3x4xf32>) -> tensor<3x1x4xf32>
  func.return %1, %2, %3 : tensor<2x3x4xf32>, tensor<4x2x3xf32>, tensor<3x1x4xf32>
}
// CHECK-NEXT: [[t:%.*]] = nn.transpose %x {perm = array<i64: 2, 0, 1>}
// CHECK-NEXT: [[r:%.*]] = nn.reshape %u {shape = array<i64: 3, 1, 4>}
// CHECK-NEXT: func.return %x, [[t]], [[r]]

// -----

// CHECK-LABEL: @expands
func.func @expands(%x: tensor<4xf32>, %y: tensor<3x4xf32>, %c: tensor<3x4xi1>) -> (tensor<3x4xf32>, tensor<1x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) {
  %0 = nn.expand %x {shape = array<i64: 3, 4>} : (tensor<4xf32>) -> tensor<3x4xf32>
  %1 = nn.binary add %0, %y : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %2 = nn.expand %x {shape = array<i64: 1, 4>} : (tensor<4xf32>) -> tensor<1x4xf32>
  %3 = nn.where %c, %0, %0 : (tensor<3x4xi1>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  // Both operands expanded: the shape would be lost.
  %4 = nn.binary mul %0, %0 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %1, %2, %3, %4 : tensor<3x4xf32>, tensor<1x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>
}
// CHECK-NEXT: [[e:%.*]] = nn.expand %x {shape = array<i64: 3, 4>}
// CHECK-NEXT: nn.binary add %x, %y : (tensor<4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: nn.reshape %x {shape = array<i64: 1, 4>}
// CHECK-NEXT: nn.where %c, %x, %x
// CHECK-NEXT: nn.binary mul [[e]], [[e]]

// -----

// CHECK-LABEL: @identities
func.func @identities(%x: tensor<1x2x3x4xf32>) -> (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<2x3x4xf32>) {
  %0 = nn.tile %x {repeats = array<i64: 1, 1, 1, 1>} : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %1 = nn.resize linear %x {coordinate_mode = #nn<coordinate_mode half_pixel>, scales = array<f64: 1.0, 1.0, 1.0, 1.0>, sizes = array<i64: 1, 2, 3, 4>} : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %2 = nn.depth_to_space dcr %x {block = 1 : i64} : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %3 = nn.reduce sum %x {axes = array<i64: 0>} : (tensor<1x2x3x4xf32>) -> tensor<2x3x4xf32>
  func.return %0, %1, %2, %3 : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<2x3x4xf32>
}
// CHECK-NEXT: [[r:%.*]] = nn.reshape %x {shape = array<i64: 2, 3, 4>}
// CHECK-NEXT: func.return %x, %x, %x, [[r]]

// -----

// CHECK-LABEL: @matmul
func.func @matmul(%a: tensor<2x3x4xf32>, %b: tensor<5x3xf32>) -> tensor<2x4x5xf32> {
  %0 = nn.transpose %a {perm = array<i64: 0, 2, 1>} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
  %1 = nn.transpose %b {perm = array<i64: 1, 0>} : (tensor<5x3xf32>) -> tensor<3x5xf32>
  %2 = nn.matmul %0, %1 : (tensor<2x4x3xf32>, tensor<3x5xf32>) -> tensor<2x4x5xf32>
  func.return %2 : tensor<2x4x5xf32>
}
// CHECK-NEXT: nn.matmul %a, %b {transpose_a, transpose_b} : (tensor<2x3x4xf32>, tensor<5x3xf32>) -> tensor<2x4x5xf32>

// -----

// The kernel of the convolution computes functions that moved before its result is transposed.
// CHECK-LABEL: @functions_move_before_transposes
func.func @functions_move_before_transposes(%x: tensor<1x4x6x6xf32>, %w: tensor<6x4x1x1xf32>) -> tensor<1x36x6xf32> {
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x4x6x6xf32>, tensor<6x4x1x1xf32>) -> tensor<1x6x6x6xf32>
  %1 = nn.reshape %0 {shape = array<i64: 1, 6, 36>} : (tensor<1x6x6x6xf32>) -> tensor<1x6x36xf32>
  %2 = nn.transpose %1 {perm = array<i64: 0, 2, 1>} : (tensor<1x6x36xf32>) -> tensor<1x36x6xf32>
  %3 = nn.unary sigmoid %2 : (tensor<1x36x6xf32>) -> tensor<1x36x6xf32>
  func.return %3 : tensor<1x36x6xf32>
}
// CHECK:      [[c:%.*]] = nn.conv
// CHECK-NEXT: [[s:%.*]] = nn.unary sigmoid [[c]] : (tensor<1x6x6x6xf32>) -> tensor<1x6x6x6xf32>
// CHECK-NEXT: [[r:%.*]] = nn.reshape [[s]] {shape = array<i64: 1, 6, 36>}
// CHECK-NEXT: [[t:%.*]] = nn.transpose [[r]] {perm = array<i64: 0, 2, 1>}
// CHECK-NEXT: func.return [[t]]

// -----

// Others read the transpose itself, and what enters the network has no kernel.
// CHECK-LABEL: @functions_stay
func.func @functions_stay(%x: tensor<4x6xf32>, %y: tensor<4x6xf32>) -> (tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>) {
  %0 = nn.binary add %x, %y : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = nn.transpose %0 {perm = array<i64: 1, 0>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %2 = nn.unary exp %1 : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %3 = nn.transpose %x {perm = array<i64: 1, 0>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %4 = nn.unary exp %3 : (tensor<6x4xf32>) -> tensor<6x4xf32>
  func.return %1, %2, %4 : tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>
}
// CHECK:      nn.unary exp {{.*}} : (tensor<6x4xf32>)
// CHECK:      nn.unary exp {{.*}} : (tensor<6x4xf32>)
