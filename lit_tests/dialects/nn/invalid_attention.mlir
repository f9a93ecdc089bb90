// RUN: clopt %s --split-input-file --verify-diagnostics

%q, %k = "test.op"() : () -> (tensor<9x5xf32>, tensor<7x4xf32>)
// expected-error@+1 {{queries have 5 elements but keys have 4}}
%s = nn.attention_scores %q, %k : (tensor<9x5xf32>, tensor<7x4xf32>) -> tensor<9x7xf32>

// -----

%s, %v = "test.op"() : () -> (tensor<9x7xf32>, tensor<6x4xf32>)
// expected-error@+1 {{there are scores for 7 values, not 6}}
%y = nn.attention %s, %v : (tensor<9x7xf32>, tensor<6x4xf32>) -> tensor<9x4xf32>

// -----

%s, %v = "test.op"() : () -> (tensor<9x7xi32>, tensor<7x4xi32>)
// expected-error@+1 {{element type must be floating point but is i32}}
%y = nn.attention %s, %v : (tensor<9x7xi32>, tensor<7x4xi32>) -> tensor<9x4xi32>

// -----

%q, %k = "test.op"() : () -> (tensor<5xf32>, tensor<7x5xf32>)
// expected-error@+1 {{operands of attention must have rank 2 or more}}
%s = nn.attention_scores %q, %k : (tensor<5xf32>, tensor<7x5xf32>) -> tensor<7xf32>
