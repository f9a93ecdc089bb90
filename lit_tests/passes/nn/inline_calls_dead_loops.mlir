// RUN: clopt %s -p simplify | filecheck %s

// The body of a loop without uses is no network of its own.
// CHECK-NOT:  @step
// CHECK:      func.func @main
// CHECK-NEXT:   func.return %x
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %r = nn.loop @step %x {trips = 8 : i64, carried = 1 : i64, rows = 0 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  func.return %x : tensor<2xf32>
}
func.func private @step(%h: tensor<2xf32>) -> tensor<2xf32> attributes {nn.network} {
  %a = nn.unary exp %h : (tensor<2xf32>) -> tensor<2xf32>
  func.return %a : tensor<2xf32>
}
