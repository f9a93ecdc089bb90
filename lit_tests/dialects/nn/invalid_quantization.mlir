// RUN: clopt %s --split-input-file --verify-diagnostics

%x, %s, %z = "test.op"() : () -> (tensor<4xi32>, tensor<f32>, tensor<i8>)
// expected-error@+1 {{element type must be floating point but is i32}}
%r = nn.quantize half_even %x, %s, %z : (tensor<4xi32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>

// -----

%x, %s, %z = "test.op"() : () -> (tensor<4xf32>, tensor<f16>, tensor<i8>)
// expected-error@+1 {{the scale has type f16 but the elements are f32}}
%r = nn.quantize half_even %x, %s, %z : (tensor<4xf32>, tensor<f16>, tensor<i8>) -> tensor<4xi8>

// -----

%x, %s, %z = "test.op"() : () -> (tensor<4xf32>, tensor<f32>, tensor<i32>)
// expected-error@+1 {{the zero point must be an integer of 8 or 16 bits, not i32}}
%r = nn.quantize half_even %x, %s, %z : (tensor<4xf32>, tensor<f32>, tensor<i32>) -> tensor<4xi32>

// -----

%x, %s, %z = "test.op"() : () -> (tensor<4xf32>, tensor<3x1xf32>, tensor<i8>)
// expected-error@+1 {{scale and zero point of shape 3x4 do not broadcast to tensor<4xf32>}}
%r = nn.quantize half_even %x, %s, %z : (tensor<4xf32>, tensor<3x1xf32>, tensor<i8>) -> tensor<4xi8>

// -----

%x, %s, %z = "test.op"() : () -> (tensor<4xi64>, tensor<f32>, tensor<i64>)
// expected-error@+1 {{elements must be i32 or integers of 8 or 16 bits, not i64}}
%r = nn.dequantize %x, %s, %z : (tensor<4xi64>, tensor<f32>, tensor<i64>) -> tensor<4xf32>

// -----

%x, %s, %z = "test.op"() : () -> (tensor<4xi8>, tensor<f32>, tensor<ui8>)
// expected-error@+1 {{the zero point has type ui8 but the elements are i8}}
%r = nn.dequantize %x, %s, %z : (tensor<4xi8>, tensor<f32>, tensor<ui8>) -> tensor<4xf32>

// -----

%x, %s, %z = "test.op"() : () -> (tensor<4xi8>, tensor<i32>, tensor<i8>)
// expected-error@+1 {{element type must be floating point but is i32}}
%r = nn.dequantize %x, %s, %z : (tensor<4xi8>, tensor<i32>, tensor<i8>) -> tensor<4xf32>
