// RUN: clopt %s -p nn-to-cl --split-input-file --verify-diagnostics | filecheck %s

// A region becomes a kernel, the function a program that launches it on the buffers of its operands
// and results.
// CHECK:      nn.kernel @matmul_0 {comment = "fc, act"} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32> {
// CHECK-NEXT: ^bb0(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>):
// CHECK-NEXT:   %p = nn.matmul %a, %b
// CHECK-NEXT:   %q = nn.unary relu %p
// CHECK-NEXT:   nn.yield %q : tensor<2x4xf32>
// CHECK:      cl.program @product(%x: memref<2x3xf32> {cl.name = "left"}, %y: memref<3x4xf32> {cl.name = "input1"}, [[out:%.*]]: memref<2x4xf32> {cl.name = "out"}) inputs 2 {
// CHECK-NEXT:   cl.enqueue_kernel @matmul_0(%x, %y, [[out]])
// CHECK-NEXT:   cl.return
func.func @product(%x: tensor<2x3xf32> {nn.name = "left"}, %y: tensor<3x4xf32>) -> (tensor<2x4xf32> {nn.name = "out"}) {
  %r = nn.fused %x, %y : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32> {
  ^bb0(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>):
    %p = nn.matmul %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32> loc("fc")
    %q = nn.unary relu %p : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("act")
    nn.yield %q : tensor<2x4xf32>
  }
  func.return %r : tensor<2x4xf32>
}

// -----

// Equal regions share a kernel, but not one with a constant and one without: only the constant's
// layout is free. The last kernel writes the output itself, seen in the shape it computes.
// CHECK-LABEL: nn.kernel @add_0
// CHECK-SAME: {constants = array<i64: 1>, comment = "first, second, in 2 launches"}
// CHECK-LABEL: nn.kernel @add_1
// CHECK-SAME: {comment = "third"}
// CHECK-NOT: nn.kernel
// CHECK:      cl.program @shared(%x: {{.*}}, [[out:%.*]]: memref<2x2xf32> {{.*}}) inputs 1 {
// CHECK-NEXT:   [[v:%.*]] = cl.constant "w_{{.*}}" : memref<4xf32>
// CHECK-NEXT:   [[w:%.*]] = cl.constant "w_{{.*}}" : memref<4xf32>
// CHECK-NEXT:   [[r:%.*]] = cl.alloc : memref<4xf32>
// CHECK-NEXT:   cl.enqueue_kernel @add_0(%x, [[v]], [[r]])
// CHECK-NEXT:   [[s:%.*]] = cl.alloc : memref<4xf32>
// CHECK-NEXT:   cl.enqueue_kernel @add_0([[r]], [[w]], [[s]])
// CHECK-NEXT:   [[t:%.*]] = cl.view [[out]] : memref<2x2xf32> to memref<4xf32>
// CHECK-NEXT:   cl.enqueue_kernel @add_1([[s]], %x, [[t]])
func.func @shared(%x: tensor<4xf32>) -> tensor<2x2xf32> {
  %v = nn.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %w = nn.constant dense<[5.0, 6.0, 7.0, 8.0]> : tensor<4xf32>
  %r = nn.fused %x, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %q = nn.binary add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("first")
    nn.yield %q : tensor<4xf32>
  }
  %s = nn.fused %r, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %q = nn.binary add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("second")
    nn.yield %q : tensor<4xf32>
  }
  %t = nn.fused %s, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %q = nn.binary add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("third")
    nn.yield %q : tensor<4xf32>
  }
  %u = nn.reshape %t {shape = array<i64: 2, 2>} : (tensor<4xf32>) -> tensor<2x2xf32>
  func.return %u : tensor<2x2xf32>
}

// -----

// Inputs, constants and values that are returned twice are copied.
// CHECK-LABEL: cl.program @copies
// CHECK-SAME: (%x: {{.*}}, [[o0:%.*]]: {{.*}} {cl.name = "output0"}, [[o1:%.*]]: {{.*}} {cl.name = "output1"}, [[o2:%.*]]: {{.*}} {cl.name = "output2"}, [[o3:%.*]]: {{.*}} {cl.name = "output3"}) inputs 1 {
// CHECK:      cl.enqueue_kernel @relu_0(%x, [[o2]])
// CHECK-NEXT: cl.enqueue_copy %w, [[o0]]
// CHECK-NEXT: cl.enqueue_copy %v, [[o1]]
// CHECK-NEXT: cl.enqueue_copy [[o2]], [[o3]]
func.func @copies(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<2x2xf32>, tensor<4xf32>, tensor<4xf32>) {
  %w = nn.constant dense<[5.0, 6.0, 7.0, 8.0]> : tensor<4xf32>
  %v = nn.reshape %x {shape = array<i64: 2, 2>} : (tensor<4xf32>) -> tensor<2x2xf32>
  %r = nn.fused %x : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %q = nn.unary relu %a : (tensor<4xf32>) -> tensor<4xf32>
    nn.yield %q : tensor<4xf32>
  }
  func.return %w, %v, %r, %r : tensor<4xf32>, tensor<2x2xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Without elements there is nothing to launch.
// CHECK-NOT: nn.kernel
// CHECK-LABEL: cl.program @empty
// CHECK-NOT: cl.enqueue
func.func @empty(%x: tensor<0x4xf32>) -> tensor<0x4xf32> {
  %r = nn.fused %x : (tensor<0x4xf32>) -> tensor<0x4xf32> {
  ^bb0(%a: tensor<0x4xf32>):
    %q = nn.unary relu %a : (tensor<0x4xf32>) -> tensor<0x4xf32>
    nn.yield %q : tensor<0x4xf32>
  }
  func.return %r : tensor<0x4xf32>
}

// -----

// expected-error@unknown {{act: nn.unary is not in an nn.fused; run nn-fuse first}}
func.func @bare(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = nn.unary relu %x : (tensor<4xf32>) -> tensor<4xf32> loc("act")
  func.return %r : tensor<4xf32>
}
