// RUN: clopt %s | clopt | filecheck %s
// RUN: clopt %s --print-op-generic | clopt | filecheck %s

// A carried value, a tensor of rows and one that iterations share; the stacked result is reversed.
// CHECK:      func.func @main(%h0: tensor<4xf32>, %x: tensor<9x2xf32>, %w: tensor<2x4xf32>)
// CHECK-NEXT:   %h, %y = nn.loop @step %h0, %x, %w {trips = 9 : i64, carried = 1 : i64, rows = 1 : i64, reversed = array<i64: 1>} : (tensor<4xf32>, tensor<9x2xf32>, tensor<2x4xf32>) -> (tensor<4xf32>, tensor<9x4xf32>)
func.func @main(%h0: tensor<4xf32>, %x: tensor<9x2xf32>, %w: tensor<2x4xf32>) -> (tensor<4xf32>, tensor<9x4xf32>) {
  %h, %y = nn.loop @step %h0, %x, %w {trips = 9 : i64, carried = 1 : i64, rows = 1 : i64, reversed = array<i64: 1>} : (tensor<4xf32>, tensor<9x2xf32>, tensor<2x4xf32>) -> (tensor<4xf32>, tensor<9x4xf32>)
  func.return %h, %y : tensor<4xf32>, tensor<9x4xf32>
}
// CHECK:      func.func private @step(%h: tensor<4xf32>, %x: tensor<2xf32>, %w: tensor<2x4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
func.func private @step(%h: tensor<4xf32>, %x: tensor<2xf32>, %w: tensor<2x4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %r = nn.reshape %x {shape = array<i64: 1, 2>} : (tensor<2xf32>) -> tensor<1x2xf32>
  %p = nn.matmul %r, %w : (tensor<1x2xf32>, tensor<2x4xf32>) -> tensor<1x4xf32>
  %q = nn.reshape %p {shape = array<i64: 4>} : (tensor<1x4xf32>) -> tensor<4xf32>
  %s = nn.binary add %h, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %s, %s : tensor<4xf32>, tensor<4xf32>
}
