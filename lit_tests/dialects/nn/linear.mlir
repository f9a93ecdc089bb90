// RUN: clopt %s | clopt | filecheck %s
// RUN: clopt %s --print-op-generic | clopt | filecheck %s

%x0, %x1, %x2, %x3 = "test.op"() : () -> (tensor<5x1x2x3xf32>, tensor<4x3x7xf32>, tensor<3x2xf32>, tensor<7x3xf32>)

// CHECK: %0 = nn.matmul %x0, %x1 : (tensor<5x1x2x3xf32>, tensor<4x3x7xf32>) -> tensor<5x4x2x7xf32>
%0 = nn.matmul %x0, %x1 : (tensor<5x1x2x3xf32>, tensor<4x3x7xf32>) -> tensor<5x4x2x7xf32>

// CHECK-NEXT: %1 = nn.matmul %x2, %x3 {transpose_a, transpose_b} : (tensor<3x2xf32>, tensor<7x3xf32>) -> tensor<2x7xf32>
%1 = nn.matmul %x2, %x3 {transpose_a, transpose_b} : (tensor<3x2xf32>, tensor<7x3xf32>) -> tensor<2x7xf32>
