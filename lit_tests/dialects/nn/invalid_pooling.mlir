// RUN: clopt %s --split-input-file --verify-diagnostics

%a = "test.op"() : () -> tensor<4xf32>
// expected-error@+1 {{input must have rank 3 to 5 but has rank 1}}
%r = nn.pool max %a {kernel = array<i64: 3>, strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : (tensor<4xf32>) -> tensor<4xf32>

// -----

%a = "test.op"() : () -> tensor<1x4x6xi32>
// expected-error@+1 {{element type must be floating point but is i32}}
%r = nn.pool average %a {kernel = array<i64: 3>, strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : (tensor<1x4x6xi32>) -> tensor<1x4x4xi32>

// -----

%a = "test.op"() : () -> tensor<1x4x6xf32>
// expected-error@+1 {{padding of dimension 2 exceeds the window}}
%r = nn.pool max %a {kernel = array<i64: 3>, strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 3, 0>} : (tensor<1x4x6xf32>) -> tensor<1x4x7xf32>

// -----

%a = "test.op"() : () -> tensor<1x4x2xf32>
// expected-error@+1 {{window in dimension 2 exceeds the padded input}}
%r = nn.pool max %a {kernel = array<i64: 3>, strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : (tensor<1x4x2xf32>) -> tensor<1x4x0xf32>

// -----

%a = "test.op"() : () -> tensor<1x4x6xf32>
// expected-error@+1 {{kernel must have 1 entries but has 2}}
%r = nn.pool max %a {kernel = array<i64: 3, 3>, strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : (tensor<1x4x6xf32>) -> tensor<1x4x4xf32>

// -----

%a = "test.op"() : () -> tensor<1x4x6xf32>
// expected-error@+1 {{p must be positive}}
%r = nn.pool lp %a {kernel = array<i64: 3>, strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>, p = 0 : i64} : (tensor<1x4x6xf32>) -> tensor<1x4x4xf32>

// -----

%a = "test.op"() : () -> tensor<1x4x6xf32>
// expected-error@+1 {{storage_order must be 0 or 1}}
%r = nn.max_pool_indices %a {kernel = array<i64: 3>, strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>, storage_order = 2 : i64} : (tensor<1x4x6xf32>) -> tensor<1x4x4xi64>
