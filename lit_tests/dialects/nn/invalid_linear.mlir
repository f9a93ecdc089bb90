// RUN: clopt %s --split-input-file --verify-diagnostics

%a, %b = "test.op"() : () -> (tensor<2x3xf32>, tensor<4x5xf32>)
// expected-error@+1 {{matmul contracts 3 columns with 4 rows}}
%r = nn.matmul %a, %b : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>

// -----

%a, %b = "test.op"() : () -> (tensor<4xf32>, tensor<4x5xf32>)
// expected-error@+1 {{matmul operands must have rank 2 or more}}
%r = nn.matmul %a, %b : (tensor<4xf32>, tensor<4x5xf32>) -> tensor<5xf32>

// -----

%a, %b = "test.op"() : () -> (tensor<2x2x3xf32>, tensor<3x3x5xf32>)
// expected-error@+1 {{shapes 2 and 3 do not broadcast}}
%r = nn.matmul %a, %b : (tensor<2x2x3xf32>, tensor<3x3x5xf32>) -> tensor<2x2x5xf32>
