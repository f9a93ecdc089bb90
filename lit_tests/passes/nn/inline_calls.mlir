// RUN: clopt %s -p nn-inline-calls --allow-unregistered-dialect --split-input-file --verify-diagnostics | filecheck %s

// Calls of calls, in any order of the functions; a public network stays.
// CHECK-NOT:  func.func private @inner
// CHECK:      func.func @outer(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
// CHECK-NEXT:   %a = nn.unary exp %x
// CHECK-NEXT:   [[c:%.*]] = nn.constant dense<2.000000e+00>
// CHECK-NEXT:   [[p:%.*]] = nn.binary mul %a, [[c]]
// CHECK-NEXT:   [[d:%.*]] = nn.constant dense<2.000000e+00>
// CHECK-NEXT:   [[q:%.*]] = nn.binary mul [[p]], [[d]]
// CHECK-NEXT:   [[r:%.*]] = nn.unary neg [[q]]
// CHECK-NEXT:   func.return [[r]], %a
// CHECK:      func.func @public(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {nn.network} {
// CHECK-NOT:    func.call
// CHECK-NOT:  func.func private @inner
func.func @outer(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = nn.unary exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %y, %same = func.call @public(%a) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %z = nn.unary neg %y : (tensor<4xf32>) -> tensor<4xf32>
  func.return %z, %same : tensor<4xf32>, tensor<4xf32>
}
func.func @public(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {nn.network} {
  %y = func.call @inner(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = func.call @inner(%y) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %z, %x : tensor<4xf32>, tensor<4xf32>
}
func.func private @inner(%x: tensor<4xf32>) -> tensor<4xf32> {
  %two = nn.constant dense<2.0> : tensor<f32>
  %y = nn.binary mul %x, %two : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// What stays: calls in functions with foreign operations or without any of nn, the networks that
// they call, and functions that call themselves or a function without a body.
// CHECK:      func.func private @called
// CHECK:      func.func @mixed
// CHECK:        func.call @called
// CHECK:      func.func @foreign
// CHECK-NEXT:   func.call @called
// CHECK:      func.func @network
// CHECK-NEXT:   nn.unary relu
// CHECK-NEXT:   func.return
// CHECK:      func.func @endless
// CHECK:        func.call @endless
// CHECK:      func.func @unknown
// CHECK:        func.call @declared
func.func private @called(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = nn.unary relu %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
func.func @mixed(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @called(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = "other.op"(%y) : (tensor<4xf32>) -> tensor<4xf32>
  %r = nn.unary neg %z : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
func.func @foreign(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @called(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
func.func @network(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nn.network} {
  %y = func.call @called(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
func.func @endless(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = nn.unary relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %z = func.call @endless(%y) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %z : tensor<4xf32>
}
func.func @unknown(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = nn.unary relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %z = func.call @declared(%y) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %z : tensor<4xf32>
}
func.func private @declared(tensor<4xf32>) -> tensor<4xf32>

// -----

// Nothing changes before a refusal.
// expected-error@unknown {{other.op names @inner, which becomes a program}}
func.func @inner(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = nn.unary relu %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
func.func @outer(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @inner(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = nn.unary neg %y : (tensor<4xf32>) -> tensor<4xf32>
  func.return %z : tensor<4xf32>
}
"other.op"() {table = [@inner]} : () -> ()
