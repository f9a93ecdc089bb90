// RUN: clopt %s -p nn-sink-reshapes,dce --split-input-file | filecheck %s

// The bias is reshaped back, so that the product, the bias and the activation stand together.
// CHECK-LABEL: @activation
// CHECK-NEXT: [[m:%.*]] = nn.matmul %x, %w
// CHECK-NEXT: [[b:%.*]] = nn.reshape %b {shape = array<i64: 2, 1>}
// CHECK-NEXT: [[s:%.*]] = nn.binary add [[m]], [[b]] : (tensor<2x20xf32>, tensor<2x1xf32>)
// CHECK-NEXT: [[t:%.*]] = nn.unary relu [[s]]
// CHECK-NEXT: [[r:%.*]] = nn.reshape [[t]] {shape = array<i64: 2, 4, 5>}
// CHECK-NEXT: func.return [[r]]
func.func @activation(%x: tensor<2x3xf32>, %w: tensor<3x20xf32>, %b: tensor<2x1x1xf32>) -> tensor<2x4x5xf32> {
  %m = nn.matmul %x, %w : (tensor<2x3xf32>, tensor<3x20xf32>) -> tensor<2x20xf32>
  %r = nn.reshape %m {shape = array<i64: 2, 4, 5>} : (tensor<2x20xf32>) -> tensor<2x4x5xf32>
  %s = nn.binary add %r, %b : (tensor<2x4x5xf32>, tensor<2x1x1xf32>) -> tensor<2x4x5xf32>
  %t = nn.unary relu %s : (tensor<2x4x5xf32>) -> tensor<2x4x5xf32>
  func.return %t : tensor<2x4x5xf32>
}

// -----

// The result may have another element type.
// CHECK-LABEL: @comparison
// CHECK:      [[y:%.*]] = nn.reshape %y
// CHECK-NEXT: [[c:%.*]] = nn.compare lt [[y]], {{.*}} -> tensor<2x3xi1>
// CHECK-NEXT: nn.reshape [[c]] {{.*}} -> tensor<6xi1>
func.func @comparison(%x: tensor<2x3xf32>, %y: tensor<6xf32>) -> tensor<6xi1> {
  %a = nn.unary exp %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = nn.reshape %a {shape = array<i64: 6>} : (tensor<2x3xf32>) -> tensor<6xf32>
  %s = nn.compare lt %y, %r : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xi1>
  func.return %s : tensor<6xi1>
}

// -----

// An operand that repeats within what the reshape took apart has no shape before it.
// CHECK-LABEL: @part
// CHECK:      nn.reshape
// CHECK-NEXT: nn.binary add
// CHECK-NEXT: func.return
func.func @part(%x: tensor<2x3xf32>, %w: tensor<3x20xf32>, %b: tensor<5xf32>) -> tensor<2x4x5xf32> {
  %m = nn.matmul %x, %w : (tensor<2x3xf32>, tensor<3x20xf32>) -> tensor<2x20xf32>
  %r = nn.reshape %m {shape = array<i64: 2, 4, 5>} : (tensor<2x20xf32>) -> tensor<2x4x5xf32>
  %s = nn.binary add %r, %b : (tensor<2x4x5xf32>, tensor<5xf32>) -> tensor<2x4x5xf32>
  func.return %s : tensor<2x4x5xf32>
}

// -----

// A reshape that others read, or of what no kernel computes, stays.
// CHECK-LABEL: @other_uses
// CHECK:      [[r:%.*]] = nn.reshape
// CHECK-NEXT: nn.unary relu [[r]]
// CHECK-NEXT: [[v:%.*]] = nn.reshape %x
// CHECK-NEXT: nn.unary neg [[v]]
func.func @other_uses(%x: tensor<2x3xf32>) -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) {
  %a = nn.unary exp %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = nn.reshape %a {shape = array<i64: 6>} : (tensor<2x3xf32>) -> tensor<6xf32>
  %s = nn.unary relu %r : (tensor<6xf32>) -> tensor<6xf32>
  %v = nn.reshape %x {shape = array<i64: 6>} : (tensor<2x3xf32>) -> tensor<6xf32>
  %t = nn.unary neg %v : (tensor<6xf32>) -> tensor<6xf32>
  func.return %r, %s, %t : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>
}

// -----

// Reshapes there and back, such as those around the mask of attention to windows, cancel, and the
// first addition keeps a single user.
// CHECK-LABEL: @back
// CHECK-NEXT: [[s:%.*]] = nn.binary add %x, %b
// CHECK-NEXT: [[m:%.*]] = nn.reshape %mask {shape = array<i64: 4, 1, 5>}
// CHECK-NEXT: [[t:%.*]] = nn.binary add [[s]], [[m]]
// CHECK-NEXT: [[y:%.*]] = nn.softmax [[t]]
// CHECK-NEXT: func.return [[y]]
func.func @back(%x: tensor<4x3x5xf32>, %b: tensor<3x5xf32>, %mask: tensor<1x4x1x5xf32>) -> tensor<4x3x5xf32> {
  %s = nn.binary add %x, %b : (tensor<4x3x5xf32>, tensor<3x5xf32>) -> tensor<4x3x5xf32>
  %r = nn.reshape %s {shape = array<i64: 1, 4, 3, 5>} : (tensor<4x3x5xf32>) -> tensor<1x4x3x5xf32>
  %t = nn.binary add %r, %mask : (tensor<1x4x3x5xf32>, tensor<1x4x1x5xf32>) -> tensor<1x4x3x5xf32>
  %u = nn.reshape %t {shape = array<i64: 4, 3, 5>} : (tensor<1x4x3x5xf32>) -> tensor<4x3x5xf32>
  %y = nn.softmax %u {axis = 2 : i64} : (tensor<4x3x5xf32>) -> tensor<4x3x5xf32>
  func.return %y : tensor<4x3x5xf32>
}
