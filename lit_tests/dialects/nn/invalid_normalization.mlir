// RUN: clopt %s --split-input-file --verify-diagnostics

%a, %b, %c, %d, %e = "test.op"() : () -> (tensor<1x4x6xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<3xf32>)
// expected-error@+1 {{per-channel operand must have shape [4], not [3]}}
%r = nn.batch_norm %a, %b, %c, %d, %e {epsilon = 0.001} : (tensor<1x4x6xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<3xf32>) -> tensor<1x4x6xf32>

// -----

%a, %b, %c = "test.op"() : () -> (tensor<1x4x6xf32>, tensor<4xf32>, tensor<4xf32>)
// expected-error@+1 {{4 channels do not divide into 3 groups}}
%r = nn.group_norm %a, %b, %c {num_groups = 3 : i64, epsilon = 0.001} : (tensor<1x4x6xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x6xf32>

// -----

%a, %b = "test.op"() : () -> (tensor<1x4x6xf32>, tensor<5xf32>)
// expected-error@+1 {{shapes 1x4x6 and 5 do not broadcast}}
%r = nn.layer_norm %a, %b {axis = 2 : i64, epsilon = 0.001} : (tensor<1x4x6xf32>, tensor<5xf32>) -> tensor<1x4x6xf32>

// -----

%a, %b = "test.op"() : () -> (tensor<1x4xf32>, tensor<3x4xf32>)
// expected-error@+1 {{operand of shape [3, 4] does not broadcast to [1, 4]}}
%r = nn.layer_norm %a, %b {axis = 1 : i64, epsilon = 0.001} : (tensor<1x4xf32>, tensor<3x4xf32>) -> tensor<1x4xf32>

// -----

%a, %b = "test.op"() : () -> (tensor<1x4x6xf32>, tensor<6xf16>)
// expected-error@+1 {{element types f32 and f16 differ}}
%r = nn.rms_norm %a, %b {axis = 2 : i64, epsilon = 0.001} : (tensor<1x4x6xf32>, tensor<6xf16>) -> tensor<1x4x6xf32>

// -----

%a = "test.op"() : () -> tensor<1x4x6xf32>
// expected-error@+1 {{axis 3 is outside a tensor of rank 3}}
%r = nn.softmax %a {axis = 3 : i64} : (tensor<1x4x6xf32>) -> tensor<1x4x6xf32>

// -----

%a = "test.op"() : () -> tensor<4xi32>
// expected-error@+1 {{element type must be floating point but is i32}}
%r = nn.softmax %a {axis = 0 : i64} : (tensor<4xi32>) -> tensor<4xi32>
