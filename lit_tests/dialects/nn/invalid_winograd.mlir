// RUN: clopt %s --split-input-file --verify-diagnostics

%x = "test.op"() : () -> tensor<1x3x7x7xf32>
// expected-error@+1 {{tile must be 2 or 4 but is 3}}
%v = nn.winograd_input %x {tile = 3 : i64, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x3x7x7xf32>) -> tensor<25x3x4xf32>

// -----

%x = "test.op"() : () -> tensor<1x3x2x7xf32>
// expected-error@+1 {{the padded input is smaller than the 3x3 window}}
%v = nn.winograd_input %x {tile = 2 : i64, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x3x2x7xf32>) -> tensor<16x3x3xf32>

// -----

%x = "test.op"() : () -> tensor<1x3x7x7xi32>
// expected-error@+1 {{element type must be floating point but is i32}}
%v = nn.winograd_input %x {tile = 2 : i64, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x3x7x7xi32>) -> tensor<16x3x9xi32>

// -----

%m = "test.op"() : () -> tensor<16x3x8xf32>
// expected-error@+1 {{sizes [1, 5, 5] require 16 elements of 9 tiles but got 16 of 8}}
%y = nn.winograd_output %m {tile = 2 : i64, sizes = array<i64: 1, 5, 5>} : (tensor<16x3x8xf32>) -> tensor<1x3x5x5xf32>

// -----

%x, %w = "test.op"() : () -> (tensor<1x3x7x7xf32>, tensor<5x16x4xf32>)
// expected-error@+1 {{weights must have shape [5, 16, 3] but have [5, 16, 4]}}
%y = nn.winograd_conv %x, %w {tile = 2 : i64, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x3x7x7xf32>, tensor<5x16x4xf32>) -> tensor<1x5x5x5xf32>

// -----

%x, %w, %b = "test.op"() : () -> (tensor<1x3x7x7xf32>, tensor<5x16x3xf32>, tensor<3xf32>)
// expected-error@+1 {{bias must have shape [5] but has [3]}}
%y = nn.winograd_conv %x, %w, %b {tile = 2 : i64, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x3x7x7xf32>, tensor<5x16x3xf32>, tensor<3xf32>) -> tensor<1x5x5x5xf32>

// -----

%x, %w = "test.op"() : () -> (tensor<16x3x4xf32>, tensor<16x5x4xf32>)
// expected-error@+1 {{weights must have shape [16, O, 3] but have [16, 5, 4]}}
%m = nn.winograd_product %x, %w : (tensor<16x3x4xf32>, tensor<16x5x4xf32>) -> tensor<16x5x4xf32>

// -----

%x, %w = "test.op"() : () -> (tensor<16x3x4xf32>, tensor<5x3xf32>)
// expected-error@+1 {{operands must have rank 3 but have [3, 2]}}
%m = nn.winograd_product %x, %w : (tensor<16x3x4xf32>, tensor<5x3xf32>) -> tensor<16x5x4xf32>
