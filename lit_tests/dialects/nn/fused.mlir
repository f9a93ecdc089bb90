// RUN: clopt %s | clopt | filecheck %s
// RUN: clopt %s --print-op-generic | clopt | filecheck %s

%x = "test.op"() : () -> tensor<4xf32>

// CHECK: %y, %z = nn.fused %x, %x : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
// CHECK-NEXT: ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
// CHECK-NEXT: %c = nn.binary add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %d = nn.unary relu %c : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: nn.yield %c, %d : tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT: }
%y, %z = nn.fused %x, %x : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
  %c = nn.binary add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %d = nn.unary relu %c : (tensor<4xf32>) -> tensor<4xf32>
  nn.yield %c, %d : tensor<4xf32>, tensor<4xf32>
}
