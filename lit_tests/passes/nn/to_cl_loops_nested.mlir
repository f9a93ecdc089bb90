// RUN: not clopt %s -p nn-to-cl 2>&1 | filecheck %s

// CHECK: inner: a loop in the body of a loop is not supported
func.func private @outer(%a: tensor<2xf32>) -> tensor<2xf32> {
  %r = nn.loop @inner %a {trips = 3 : i64, carried = 1 : i64, rows = 0 : i64} : (tensor<2xf32>) -> tensor<2xf32> loc("inner")
  func.return %r : tensor<2xf32>
}
func.func private @inner(%a: tensor<2xf32>) -> tensor<2xf32> attributes {nn.network} {
  func.return %a : tensor<2xf32>
}
func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %r = nn.loop @outer %a {trips = 3 : i64, carried = 1 : i64, rows = 0 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  func.return %r : tensor<2xf32>
}
