// RUN: clopt %s --split-input-file --verify-diagnostics

%a, %b = "test.op"() : () -> (tensor<4xf32>, tensor<2xf32>)
// expected-error@+1 {{indices must be integers but are f32}}
%r = nn.gather %a, %b {axis = 0 : i64} : (tensor<4xf32>, tensor<2xf32>) -> tensor<2xf32>

// -----

%a, %b = "test.op"() : () -> (tensor<2x3xf32>, tensor<3x1xi64>)
// expected-error@+1 {{indices exceed dimension 0 of the input: 3 > 2}}
%r = nn.gather_elements %a, %b {axis = 1 : i64} : (tensor<2x3xf32>, tensor<3x1xi64>) -> tensor<3x1xf32>

// -----

%a, %b = "test.op"() : () -> (tensor<2x3xf32>, tensor<2x3xi64>)
// expected-error@+1 {{index vectors of 3 entries do not address rank 2}}
%r = nn.gather_nd %a, %b : (tensor<2x3xf32>, tensor<2x3xi64>) -> tensor<2xf32>

// -----

%a, %b = "test.op"() : () -> (tensor<2x3xf32>, tensor<3x1xi64>)
// expected-error@+1 {{the first 1 dimensions of the operands differ}}
%r = nn.gather_nd %a, %b {batch_dims = 1 : i64} : (tensor<2x3xf32>, tensor<3x1xi64>) -> tensor<3xf32>

// -----

%a, %b, %c = "test.op"() : () -> (tensor<2x3xf32>, tensor<2x1xi64>, tensor<2x2xf32>)
// expected-error@+1 {{indices and updates differ in shape}}
%r = nn.scatter_elements none %a, %b, %c {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x1xi64>, tensor<2x2xf32>) -> tensor<2x3xf32>

// -----

%a, %b, %c = "test.op"() : () -> (tensor<2x3xf32>, tensor<4x1xi64>, tensor<4x2xf32>)
// expected-error@+1 {{updates must have shape [4, 3] but have [4, 2]}}
%r = nn.scatter_nd add %a, %b, %c : (tensor<2x3xf32>, tensor<4x1xi64>, tensor<4x2xf32>) -> tensor<2x3xf32>

// -----

%a, %b, %c = "test.op"() : () -> (tensor<2x3xf32>, tensor<2x1xf32>, tensor<3xi64>)
// expected-error@+1 {{start must be a scalar or have a number for each row but is tensor<3xi64>}}
%r = nn.insert_slice %a, %b, %c {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x1xf32>, tensor<3xi64>) -> tensor<2x3xf32>
