// RUN: clopt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{block arguments and operands of nn.kernel differ in type}}
nn.kernel @f : (tensor<4xf32>) -> tensor<5xf32> {
^bb0(%a: tensor<5xf32>):
  nn.yield %a : tensor<5xf32>
}

// -----

// expected-error@+1 {{yielded values and results of nn.kernel differ in type}}
nn.kernel @f : (tensor<4xf32>) -> tensor<5xf32> {
^bb0(%a: tensor<4xf32>):
  nn.yield %a : tensor<4xf32>
}

// -----

// expected-error@+1 {{?x4xf32> has a dynamic dimension; nn requires static shapes}}
nn.kernel @f : (tensor<?x4xf32>) -> tensor<?x4xf32> {
^bb0(%a: tensor<?x4xf32>):
  nn.yield %a : tensor<?x4xf32>
}

// -----

// expected-error@+1 {{index is not a tensor type}}
nn.kernel @f : (index) -> tensor<4xf32> {
^bb0(%a: index):
  %b = nn.constant dense<1.0> : tensor<4xf32>
  nn.yield %b : tensor<4xf32>
}

// -----

// expected-error@+1 {{constant 1 is not one of 1 inputs}}
nn.kernel @f {constants = array<i64: 1>} : (tensor<4xf32>) -> tensor<4xf32> {
^bb0(%a: tensor<4xf32>):
  nn.yield %a : tensor<4xf32>
}

// -----

nn.kernel @f : (tensor<4xf32>) -> tensor<4xf32> {
^bb0(%a: tensor<4xf32>):
  nn.yield %a : tensor<4xf32>
}
// expected-error@+1 {{do not match the kernel's parameters (memref<4xf32>, memref<4xf32>)}}
cl.program @main(%x: memref<4xf32>) inputs 0 {
  cl.enqueue_kernel @f(%x) : memref<4xf32>
  cl.return
}
