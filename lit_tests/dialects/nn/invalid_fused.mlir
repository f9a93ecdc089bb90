// RUN: clopt %s --split-input-file --verify-diagnostics

%x = "test.op"() : () -> tensor<4xf32>
// expected-error@+1 {{block arguments and operands of nn.fused differ in type}}
%r = nn.fused %x : (tensor<4xf32>) -> tensor<5xf32> {
^bb0(%a: tensor<5xf32>):
  nn.yield %a : tensor<5xf32>
}

// -----

%x = "test.op"() : () -> tensor<4xf32>
// expected-error@+1 {{yielded values and results of nn.fused differ in type}}
%r = nn.fused %x : (tensor<4xf32>) -> tensor<5xf32> {
^bb0(%a: tensor<4xf32>):
  nn.yield %a : tensor<4xf32>
}
