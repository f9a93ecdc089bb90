// RUN: clopt %s -p nn-outline-islands --allow-unregistered-dialect --split-input-file --verify-diagnostics | filecheck %s

// What stands between two foreign operations, and is connected, becomes one network.
// CHECK:      func.func private @host_nn(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nn.network} {
// CHECK-NEXT:   %a = nn.unary neg %x
// CHECK-NEXT:   %b = nn.unary exp %a
// CHECK-NEXT:   func.return %b
// CHECK:      func.func private @host_nn_1(%c: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> attributes {nn.network} {
// CHECK-NEXT:   %d = nn.binary add %c, %b
// CHECK-NEXT:   func.return %d
// CHECK:      func.func @host(%x: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:   %b = func.call @host_nn(%x)
// CHECK-NEXT:   %c = "other.op"(%b)
// CHECK-NEXT:   %d = func.call @host_nn_1(%c, %b)
// CHECK-NEXT:   func.return %d
func.func @host(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = nn.unary neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %b = nn.unary exp %a : (tensor<4xf32>) -> tensor<4xf32>
  %c = "other.op"(%b) : (tensor<4xf32>) -> tensor<4xf32>
  %d = nn.binary add %c, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %d : tensor<4xf32>
}

// -----

// An operation that the text has behind a foreign one runs before it where it can, and one that
// only a later island reads joins that. Foreign operations keep their order.
// CHECK:      func.func private @host_nn(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT:   %b = nn.unary neg %x
// CHECK-NEXT:   %p = nn.unary abs %b
// CHECK-NEXT:   func.return %b, %p
// CHECK:      func.func private @host_nn_1(%x: tensor<4xf32>, %c: tensor<4xf32>)
// CHECK-NEXT:   %a = nn.unary exp %x
// CHECK-NEXT:   %d = nn.binary add %c, %a
// CHECK:      func.func @host
// CHECK-NEXT:   "other.begin"()
// CHECK-NEXT:   [[b:%.*]], [[p:%.*]] = func.call @host_nn(%x)
// CHECK-NEXT:   %c = "other.op"([[b]])
// CHECK-NEXT:   "other.print"([[p]])
// CHECK-NEXT:   %d = func.call @host_nn_1(%x, %c)
// CHECK-NEXT:   func.return %d
func.func @host(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = nn.unary exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %b = nn.unary neg %x : (tensor<4xf32>) -> tensor<4xf32>
  "other.begin"() : () -> ()
  %c = "other.op"(%b) : (tensor<4xf32>) -> tensor<4xf32>
  %p = nn.unary abs %b : (tensor<4xf32>) -> tensor<4xf32>
  "other.print"(%p) : (tensor<4xf32>) -> ()
  %d = nn.binary add %c, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %d : tensor<4xf32>
}

// -----

// Islands hold copies of constants. Constants that foreign operations read come from a network.
// CHECK:      func.func private @host_nn() -> tensor<f32>
// CHECK-NEXT:   %two = nn.constant dense<2.000000e+00>
// CHECK-NEXT:   func.return %two
// CHECK:      func.func private @host_nn_1(%x: tensor<4xf32>)
// CHECK-NEXT:   %one = nn.constant dense<1.000000e+00>
// CHECK-NEXT:   %a = nn.binary add %x, %one
// CHECK-NEXT:   %two = nn.constant dense<2.000000e+00>
// CHECK-NEXT:   %b = nn.binary mul %a, %two
// CHECK:      func.func private @host_nn_2(%c: tensor<4xf32>)
// CHECK-NEXT:   %one = nn.constant dense<1.000000e+00>
// CHECK-NEXT:   %d = nn.binary add %c, %one
// CHECK:      func.func @host
// CHECK-NOT:    nn.constant
// CHECK:        "other.op"(%{{.*}}, %two)
// CHECK-NOT:    nn.neg
// CHECK:        func.return %d
func.func @host(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = nn.constant dense<1.0> : tensor<f32>
  %two = nn.constant dense<2.0> : tensor<f32>
  %unused = nn.constant dense<3.0> : tensor<f32>
  %a = nn.binary add %x, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b = nn.binary mul %a, %two : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %dead = nn.unary neg %b : (tensor<4xf32>) -> tensor<4xf32>
  %c = "other.op"(%b, %two) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %d = nn.binary add %c, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %d : tensor<4xf32>
}

// -----

// Regions, blocks and scalars stay with the function; values of blocks around are arguments.
// CHECK:      func.func private @host_nn(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nn.network} {
// CHECK-NEXT:   %a = nn.unary neg %x
// CHECK:      func.func private @host_nn_1(%t: tensor<4xf32>, %a: tensor<4xf32>)
// CHECK-NEXT:   nn.binary add %t, %a
// CHECK:      func.func private @host_nn_2(%y: tensor<4xf32>)
// CHECK-NEXT:   nn.unary exp %y
// CHECK:      func.func @host(%x: tensor<4xf32>, %n: index, %c: i1) -> tensor<4xf32> {
// CHECK:        %a = func.call @host_nn(%x)
// CHECK:        scf.for
// CHECK-NEXT:     %u = func.call @host_nn_1(%t, %a)
// CHECK-NEXT:     scf.yield %u
// CHECK:        cf.cond_br %c
// CHECK:      ^one(%y: tensor<4xf32>):
// CHECK-NEXT:   %z = func.call @host_nn_2(%y)
// CHECK-NEXT:   func.return %z
func.func @host(%x: tensor<4xf32>, %n: index, %c: i1) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %a = nn.unary neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = scf.for %i = %zero to %n step %one iter_args(%t = %x) -> (tensor<4xf32>) {
    %u = nn.binary add %t, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %u : tensor<4xf32>
  }
  cf.cond_br %c, ^one(%r : tensor<4xf32>), ^two(%a : tensor<4xf32>)
^one(%y: tensor<4xf32>):
  %z = nn.unary exp %y : (tensor<4xf32>) -> tensor<4xf32>
  func.return %z : tensor<4xf32>
^two(%v: tensor<4xf32>):
  func.return %v : tensor<4xf32>
}

// -----

// A function may call itself, and networks; functions need not be func.func.
// CHECK:      func.func private @loop_nn(%x: tensor<4xf32>)
// CHECK:      func.func @loop
// CHECK-NEXT:   %a = func.call @loop_nn(%x)
// CHECK-NEXT:   %b = func.call @loop(%a)
// CHECK:      func.func private @network_nn(%y: tensor<4xf32>)
// CHECK:      "test.op"() ({
// CHECK-NEXT: ^{{.*}}(%y: tensor<4xf32>):
// CHECK-NEXT:   func.call @network_nn(%y)
func.func @loop(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = nn.unary neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %b = func.call @loop(%a) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %b : tensor<4xf32>
}
"test.op"() ({
^bb0(%y: tensor<4xf32>):
  %z = nn.unary exp %y : (tensor<4xf32>) -> tensor<4xf32>
  "test.termop"(%z) : (tensor<4xf32>) -> ()
}) : () -> ()

// -----

// Networks stay as they are, and so do functions without nn operations.
// CHECK:      func.func @net(%x: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:   nn.unary neg %x
// CHECK:      func.func @identity(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nn.network} {
// CHECK-NEXT:   func.return %x
// CHECK:      func.func @other(%n: index) {
func.func @net(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = nn.unary neg %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
func.func @identity(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nn.network} {
  func.return %x : tensor<4xf32>
}
func.func @other(%n: index) {
  func.return
}

// -----

// expected-error@unknown {{@net is marked nn.network, but it has 2 blocks; remove the mark, and nn-outline-islands moves its nn operations to networks}}
func.func @net(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nn.network} {
  %y = nn.unary neg %x : (tensor<4xf32>) -> tensor<4xf32>
  cf.br ^end
^end:
  func.return %y : tensor<4xf32>
}

// -----

// expected-error@unknown {{@net is marked nn.network, but it calls @net; remove}}
func.func @net(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nn.network} {
  %y = func.call @net(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// expected-error@unknown {{@net is marked nn.network, but it takes or returns i1, which is not a tensor; remove}}
func.func @net(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> attributes {nn.network} {
  func.return %x : tensor<4xf32>
}

// -----

// expected-error@unknown {{@inner contains nn operations, but it is a nested module; lower it alone, or move its functions to the outer module}}
builtin.module {
  builtin.module @inner {
    func.func @net(%x: tensor<4xf32>) -> tensor<4xf32> {
      %y = nn.unary neg %x : (tensor<4xf32>) -> tensor<4xf32>
      func.return %y : tensor<4xf32>
    }
  }
}

// -----

// expected-error@unknown {{nn.constant is outside of any function; put it in a func.func}}
%x = nn.constant dense<1.0> : tensor<4xf32>

// -----

// Programs hold no index values, no complex ones and no tensors of open shape: such a function is
// mixed, and these pass it by.
// CHECK:      func.func private @host_nn(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nn.network} {
// CHECK:      func.func @host(
// CHECK-NEXT:   %y = func.call @host_nn(%x)
// CHECK-NEXT:   func.return %y, %i, %c, %n
func.func @host(%x: tensor<4xf32>, %i: tensor<4xindex>, %c: tensor<4xcomplex<f32>>, %n: tensor<?xf32>) -> (tensor<4xf32>, tensor<4xindex>, tensor<4xcomplex<f32>>, tensor<?xf32>) {
  %y = nn.unary tanh %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y, %i, %c, %n : tensor<4xf32>, tensor<4xindex>, tensor<4xcomplex<f32>>, tensor<?xf32>
}
