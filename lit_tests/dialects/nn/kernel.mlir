// RUN: clopt %s | clopt | filecheck %s
// RUN: clopt %s --print-op-generic | clopt | filecheck %s

// CHECK:      nn.kernel @add_0 {constants = array<i64: 1>, comment = "sum"} : (tensor<4xf32, #nn.layout<[0 by 4]>>, tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT: ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
// CHECK-NEXT:   %c = nn.binary add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:   nn.yield %c : tensor<4xf32>
// CHECK-NEXT: }
nn.kernel @add_0 {constants = array<i64: 1>, comment = "sum"} : (tensor<4xf32, #nn.layout<[0 by 4]>>, tensor<4xf32>) -> tensor<4xf32> {
^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
  %c = nn.binary add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  nn.yield %c : tensor<4xf32>
}

// CHECK:      nn.kernel @twice : (tensor<i1>) -> (tensor<i1>, tensor<i1>) {
nn.kernel @twice : (tensor<i1>) -> (tensor<i1>, tensor<i1>) {
^bb0(%a: tensor<i1>):
  nn.yield %a, %a : tensor<i1>, tensor<i1>
}

// A launch passes the inputs, then the outputs, in their layouts.
// CHECK: cl.enqueue_kernel @add_0(%x, %y, %z)
// CHECK: cl.enqueue_kernel @twice(%b, %p, %q) : memref<i1>, memref<i1>, memref<i1>
cl.program @main(%x: memref<1x4xf32>, %b: memref<i1>, %z: memref<4xf32>, %p: memref<i1>, %q: memref<i1>) inputs 2 {
  %y = cl.constant "w" : memref<4xf32>
  cl.enqueue_kernel @add_0(%x, %y, %z) : memref<1x4xf32>, memref<4xf32>, memref<4xf32>
  cl.enqueue_kernel @twice(%b, %p, %q) : memref<i1>, memref<i1>, memref<i1>
  cl.return
}
