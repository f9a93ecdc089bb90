// RUN: clopt %s --split-input-file --verify-diagnostics

%a = "test.op"() : () -> tensor<4xi32>
// expected-error@+1 {{erf requires float elements but got i32}}
%r = nn.unary erf %a : (tensor<4xi32>) -> tensor<4xi32>

// -----

%a = "test.op"() : () -> tensor<4xui8>
// expected-error@+1 {{neg requires signed elements but got ui8}}
%r = nn.unary neg %a : (tensor<4xui8>) -> tensor<4xui8>

// -----

%a = "test.op"() : () -> tensor<4xf32>
// expected-error@+1 {{elu must have 1 params but has 0}}
%r = nn.unary elu %a : (tensor<4xf32>) -> tensor<4xf32>

// -----

%a = "test.op"() : () -> tensor<4xf32>
// expected-error@+1 {{relu must have 0 params but has 1}}
%r = nn.unary relu %a {params = array<f64: 1.0>} : (tensor<4xf32>) -> tensor<4xf32>

// -----

%a = "test.op"() : () -> tensor<4xf32>
// expected-error@+1 {{result type should be tensor<4xi1> but is tensor<4xf32>}}
%r = nn.unary isnan %a : (tensor<4xf32>) -> tensor<4xf32>

// -----

%a = "test.op"() : () -> tensor<?xf32>
// expected-error@+1 {{tensor<?xf32> has a dynamic dimension; nn requires static shapes}}
%r = nn.unary relu %a : (tensor<?xf32>) -> tensor<?xf32>

// -----

%a = "test.op"() : () -> tensor<4xf32>
// expected-error@+1 {{low has type i32 but the elements are f32}}
%r = nn.clip %a {low = 0 : i32} : (tensor<4xf32>) -> tensor<4xf32>

// -----

%a, %b = "test.op"() : () -> (tensor<2x3xf32>, tensor<2xf32>)
// expected-error@+1 {{shapes 2x3 and 2 do not broadcast}}
%r = nn.binary add %a, %b : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>

// -----

%a, %b = "test.op"() : () -> (tensor<4xf32>, tensor<4xf16>)
// expected-error@+1 {{element types f32 and f16 differ}}
%r = nn.binary add %a, %b : (tensor<4xf32>, tensor<4xf16>) -> tensor<4xf32>

// -----

%a, %b = "test.op"() : () -> (tensor<4xf32>, tensor<4xf32>)
// expected-error@+1 {{and requires bool elements but got f32}}
%r = nn.binary and %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

%a, %b = "test.op"() : () -> (tensor<4xf32>, tensor<4xf32>)
// expected-error@+1 {{shl requires integer elements but got f32}}
%r = nn.binary shl %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

%a, %b = "test.op"() : () -> (tensor<4xf32>, tensor<4xf32>)
// expected-error@+1 {{result type should be tensor<4xi1> but is tensor<4xf32>}}
%r = nn.compare lt %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

%a, %b, %c = "test.op"() : () -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
// expected-error@+1 {{the condition of where requires bool elements but got f32}}
%r = nn.where %a, %b, %c : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

%a = "test.op"() : () -> tensor<4xf32>
// expected-error@+1 {{index is not an element type of nn tensors}}
%r = nn.cast %a {to = index} : (tensor<4xf32>) -> tensor<4xf32>

// -----

%c, %a = "test.op"() : () -> (tensor<4xi1>, tensor<4xf32>)
// expected-error@+1 {{the condition of a lazy where must be one number, not tensor<4xi1>}}
%r = nn.where %c, %a, %a {lazy} : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
