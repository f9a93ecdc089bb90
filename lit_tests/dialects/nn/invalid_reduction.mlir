// RUN: clopt %s --split-input-file --verify-diagnostics

%a = "test.op"() : () -> tensor<1x4x6xf32>
// expected-error@+1 {{axis 3 is outside a tensor of rank 3}}
%r = nn.reduce sum %a {axes = array<i64: 3>} : (tensor<1x4x6xf32>) -> tensor<1x4xf32>

// -----

%a = "test.op"() : () -> tensor<1x4x6xf32>
// expected-error@+1 {{axes [2, 1] must ascend without repetition}}
%r = nn.reduce sum %a {axes = array<i64: 2, 1>} : (tensor<1x4x6xf32>) -> tensor<1xf32>

// -----

%a = "test.op"() : () -> tensor<4xi1>
// expected-error@+1 {{sum is not defined for i1 elements}}
%r = nn.reduce sum %a {axes = array<i64: 0>} : (tensor<4xi1>) -> tensor<i1>

// -----

%a = "test.op"() : () -> tensor<1x4x6xf32>
// expected-error@+1 {{result type should be tensor<1x4xi64> but is tensor<1x4xi32>}}
%r = nn.arg_reduce max %a {axis = 2 : i64} : (tensor<1x4x6xf32>) -> tensor<1x4xi32>

// -----

%a = "test.op"() : () -> tensor<1x4x6xf32>
// expected-error@+1 {{axis -1 is outside a tensor of rank 3}}
%r = nn.cumsum %a {axis = -1 : i64} : (tensor<1x4x6xf32>) -> tensor<1x4x6xf32>

// -----

%a = "test.op"() : () -> tensor<4xf32>
// expected-error@+1 {{k is 5 but axis 0 has 4 elements}}
%r, %s = nn.top_k %a {axis = 0 : i64, k = 5 : i64} : (tensor<4xf32>) -> (tensor<5xf32>, tensor<5xi64>)
