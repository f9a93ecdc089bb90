// RUN: clopt %s -p nn-to-cl --allow-unregistered-dialect --split-input-file --verify-diagnostics | filecheck %s

// Calls of a network become runs of its program. What a run returns is read where it lies.
// CHECK:      func.func @host(%a: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:   [[a:%.*]] = bufferization.to_buffer %a read_only : tensor<4xf32> to memref<4xf32>
// CHECK-NEXT:   [[b:%.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:   cl.run @negate([[a]], [[b]]) {note = "first"} : memref<4xf32>, memref<4xf32>
// CHECK-NEXT:   [[c:%.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:   cl.run @negate([[b]], [[c]]) : memref<4xf32>, memref<4xf32>
// CHECK-NEXT:   %c = bufferization.to_tensor [[c]] restrict writable : memref<4xf32> to tensor<4xf32>
// CHECK-NEXT:   func.return %c : tensor<4xf32>
// CHECK:      cl.program @negate(
func.func @host(%a: tensor<4xf32>) -> tensor<4xf32> {
  %b = func.call @negate(%a) {note = "first"} : (tensor<4xf32>) -> tensor<4xf32>
  %c = func.call @negate(%b) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %c : tensor<4xf32>
}
func.func @negate(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nn.network} {
  %r = nn.fused %x : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %q = nn.unary neg %a : (tensor<4xf32>) -> tensor<4xf32>
    nn.yield %q : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}

// -----

// A result that the caller copies to a buffer of its own goes there at once, unless something may
// use the memory in between, or the buffer is not `restrict`: an operand may lie in it then.
// CHECK:      func.func @host(%a: tensor<4xf32>, %m: memref<4xf32>, %n: memref<4xf32>, %o: memref<4xf32>, %p: memref<4xf32>) {
// CHECK:        [[b:%.*]] = memref.alloc()
// CHECK-NEXT:   cl.run @negate({{%.*}}, [[b]])
// CHECK-NEXT:   %one = arith.constant
// CHECK-NEXT:   cl.run @negate([[b]], %m)
// CHECK-NEXT:   [[d:%.*]] = memref.alloc()
// CHECK-NEXT:   cl.run @negate([[b]], [[d]])
// CHECK-NEXT:   %d = bufferization.to_tensor [[d]] restrict writable
// CHECK-NEXT:   "test.op"(%n)
// CHECK-NEXT:   bufferization.materialize_in_destination %d in restrict writable %n
// CHECK-NEXT:   [[e:%.*]] = memref.alloc()
// CHECK-NEXT:   cl.run @negate([[b]], [[e]])
// CHECK-NEXT:   %e = bufferization.to_tensor [[e]] restrict writable
// CHECK-NEXT:   bufferization.materialize_in_destination %e in writable %o
// CHECK-NEXT:   cl.run @negate([[b]], %p)
// CHECK-NEXT:   func.return
func.func @host(%a: tensor<4xf32>, %m: memref<4xf32>, %n: memref<4xf32>, %o: memref<4xf32>, %p: memref<4xf32>) {
  %b = func.call @negate(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %one = arith.constant 1 : index
  %c = func.call @negate(%b) : (tensor<4xf32>) -> tensor<4xf32>
  bufferization.materialize_in_destination %c in restrict writable %m : (tensor<4xf32>, memref<4xf32>) -> ()
  %d = func.call @negate(%b) : (tensor<4xf32>) -> tensor<4xf32>
  "test.op"(%n) : (memref<4xf32>) -> ()
  bufferization.materialize_in_destination %d in restrict writable %n : (tensor<4xf32>, memref<4xf32>) -> ()
  %e = func.call @negate(%b) : (tensor<4xf32>) -> tensor<4xf32>
  bufferization.materialize_in_destination %e in writable %o : (tensor<4xf32>, memref<4xf32>) -> ()
  %f = func.call @negate(%b) : (tensor<4xf32>) -> tensor<4xf32>
  bufferization.materialize_in_destination %f in restrict writable %p : (tensor<4xf32>, memref<4xf32>) -> ()
  func.return
}
func.func @negate(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nn.network} {
  %r = nn.fused %x : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %q = nn.unary neg %a : (tensor<4xf32>) -> tensor<4xf32>
    nn.yield %q : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}

// -----

// Calls in regions and blocks of any dialect. A buffer is read in place where bufferisation may not
// write it meanwhile.
// CHECK:      func.func @host
// CHECK:        scf.for
// CHECK-NEXT:     [[a:%.*]] = bufferization.to_buffer %t read_only
// CHECK:          cl.run @id([[a]],
// CHECK:        cl.run @id(%m, [[s:%.*]])
// CHECK-NEXT:   %s = bufferization.to_tensor [[s]] restrict :
// CHECK:        [[o:%.*]] = bufferization.to_buffer %owned read_only
// CHECK:        cl.run @id([[o]], [[p:%.*]])
// CHECK-NEXT:   %p = bufferization.to_tensor [[p]] restrict writable :
// CHECK:        "test.op"(%s, %p) ({
// CHECK-NEXT:     memref.alloc
// CHECK-NEXT:     cl.run @id([[s]],
func.func @host(%m: memref<4xf32>, %x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r = scf.for %i = %zero to %n step %one iter_args(%t = %x) -> (tensor<4xf32>) {
    %u = func.call @id(%t) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %u : tensor<4xf32>
  }
  %given = bufferization.to_tensor %m restrict : memref<4xf32> to tensor<4xf32>
  %s = func.call @id(%given) : (tensor<4xf32>) -> tensor<4xf32>
  %owned = bufferization.to_tensor %m restrict writable : memref<4xf32> to tensor<4xf32>
  %p = func.call @id(%owned) : (tensor<4xf32>) -> tensor<4xf32>
  "test.op"(%s, %p) ({
    %v = func.call @id(%s) : (tensor<4xf32>) -> tensor<4xf32>
    "test.termop"(%v) : (tensor<4xf32>) -> ()
  }) : (tensor<4xf32>, tensor<4xf32>) -> ()
  func.return %r : tensor<4xf32>
}
func.func @id(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nn.network} {
  func.return %x : tensor<4xf32>
}

// -----

// Buffers of programs are signless, tensors of a caller need not be.
// CHECK:      [[a:%.*]] = bufferization.to_buffer %x read_only : tensor<4xui8> to memref<4xui8>
// CHECK-NEXT: [[b:%.*]] = builtin.unrealized_conversion_cast [[a]] : memref<4xui8> to memref<4xi8>
// CHECK-NEXT: [[c:%.*]] = memref.alloc() : memref<4xi8>
// CHECK-NEXT: cl.run @id([[b]], [[c]]) : memref<4xi8>, memref<4xi8>
// CHECK-NEXT: [[d:%.*]] = builtin.unrealized_conversion_cast [[c]] : memref<4xi8> to memref<4xui8>
// CHECK-NEXT: bufferization.to_tensor [[d]] restrict writable : memref<4xui8> to tensor<4xui8>
func.func @host(%x: tensor<4xui8>) -> tensor<4xui8> {
  %y = func.call @id(%x) : (tensor<4xui8>) -> tensor<4xui8>
  func.return %y : tensor<4xui8>
}
func.func @id(%x: tensor<4xui8>) -> tensor<4xui8> attributes {nn.network} {
  func.return %x : tensor<4xui8>
}

// -----

// A wrapper keeps the name and the signature for whoever else uses them.
// CHECK:      cl.program @id_program(
// CHECK:      func.func @id(%x: tensor<4xf32> {other.align = 64 : i64}) -> tensor<4xf32> attributes {other.note} {
// CHECK-NEXT:   [[a:%.*]] = bufferization.to_buffer %x read_only
// CHECK-NEXT:   [[b:%.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:   cl.run @id_program([[a]], [[b]])
// CHECK-NEXT:   [[y:%.*]] = bufferization.to_tensor [[b]] restrict writable
// CHECK-NEXT:   func.return [[y]]
// CHECK:      "other.spawn"() {function = @id} : () -> ()
func.func @id(%x: tensor<4xf32> {nn.name = "x", other.align = 64 : i64}) -> tensor<4xf32> attributes {nn.network, nn.wrapper, other.note} {
  func.return %x : tensor<4xf32>
}
"other.spawn"() {function = @id} : () -> ()

// -----

// Kernels take no name that the module has.
// CHECK:      nn.kernel @neg_0_1
// CHECK:      func.func private @neg_0()
// CHECK:      cl.enqueue_kernel @neg_0_1
func.func private @neg_0()
func.func @negate(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = nn.fused %x : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %q = nn.unary neg %a : (tensor<4xf32>) -> tensor<4xf32>
    nn.yield %q : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}

// -----

// expected-error@unknown {{other.spawn names @id, which becomes a program; give @id the attribute nn.wrapper to keep a function of that name}}
"other.spawn"() {functions = [{entry = @id}]} : () -> ()
func.func @id(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nn.network} {
  func.return %x : tensor<4xf32>
}

// -----

// expected-error@unknown {{@id has images or layouts among its parameters, so func.call cannot pass it tensors; leave these out, or run its program by cl.run}}
func.func @host(%x: tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> {
  %y = func.call @id(%x) : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
  func.return %y : tensor<1x4x2x2xf32>
}
func.func @id(%x: tensor<1x4x2x2xf32> {nn.name = "x", nn.image}) -> tensor<1x4x2x2xf32> {
  func.return %x : tensor<1x4x2x2xf32>
}

// -----

// expected-error@unknown {{@net is marked nn.network, but it has the operation other.op; remove the mark, and nn-outline-islands moves its nn operations to networks}}
func.func @net(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nn.network} {
  %y = "other.op"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// expected-error@unknown {{@net is marked nn.network, but it has no body; remove the mark}}
func.func private @net(tensor<4xf32>) -> tensor<4xf32> attributes {nn.network}
