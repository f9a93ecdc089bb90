// RUN: clopt %s --split-input-file --verify-diagnostics

%a = "test.op"() : () -> tensor<1x4x6xf32>
// expected-error@+1 {{shape [5, 5] has 25 elements but the input has 24}}
%r = nn.reshape %a {shape = array<i64: 5, 5>} : (tensor<1x4x6xf32>) -> tensor<5x5xf32>

// -----

%a = "test.op"() : () -> tensor<1x4x6xf32>
// expected-error@+1 {{shape [-1] has a negative dimension}}
%r = nn.reshape %a {shape = array<i64: -1>} : (tensor<1x4x6xf32>) -> tensor<24xf32>

// -----

%a = "test.op"() : () -> tensor<1x4x6xf32>
// expected-error@+1 {{perm [0, 1, 1] does not permute 3 dimensions}}
%r = nn.transpose %a {perm = array<i64: 0, 1, 1>} : (tensor<1x4x6xf32>) -> tensor<1x4x6xf32>

// -----

%a, %b = "test.op"() : () -> (tensor<2x3xf32>, tensor<3x3xf32>)
// expected-error@+1 {{concat of [2, 3] and [3, 3] differ outside axis 1}}
%r = nn.concat %a, %b {axis = 1 : i64} : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x6xf32>

// -----

%a, %b = "test.op"() : () -> (tensor<2x3xf32>, tensor<2xf32>)
// expected-error@+1 {{concat of [2, 3] and [2] differ outside axis 1}}
%r = nn.concat %a, %b {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x6xf32>

// -----

%a = "test.op"() : () -> tensor<4xf32>
// expected-error@+1 {{step of dimension 0 is zero}}
%r = nn.slice %a {starts = array<i64: 0>, steps = array<i64: 0>, sizes = array<i64: 4>} : (tensor<4xf32>) -> tensor<4xf32>

// -----

%a = "test.op"() : () -> tensor<4xf32>
// expected-error@+1 {{slice of dimension 0 reads from 1 to 4 but it has 4 elements}}
%r = nn.slice %a {starts = array<i64: 1>, steps = array<i64: 1>, sizes = array<i64: 4>} : (tensor<4xf32>) -> tensor<4xf32>

// -----

%a = "test.op"() : () -> tensor<4xf32>
// expected-error@+1 {{slice of dimension 0 reads from 0 to -1 but it has 4 elements}}
%r = nn.slice %a {starts = array<i64: 0>, steps = array<i64: -1>, sizes = array<i64: 2>} : (tensor<4xf32>) -> tensor<2xf32>

// -----

%a = "test.op"() : () -> tensor<4xf32>
// expected-error@+1 {{dimension 0 is cropped below zero}}
%r = nn.pad constant %a {low = array<i64: -3>, high = array<i64: -2>} : (tensor<4xf32>) -> tensor<4xf32>

// -----

%a = "test.op"() : () -> tensor<4xf32>
// expected-error@+1 {{reflect padding of dimension 0 requires more than 4 elements but it has 4}}
%r = nn.pad reflect %a {low = array<i64: 4>, high = array<i64: 0>} : (tensor<4xf32>) -> tensor<8xf32>

// -----

%a = "test.op"() : () -> tensor<4xf32>
// expected-error@+1 {{edge padding of dimension 0 is negative}}
%r = nn.pad edge %a {low = array<i64: -1>, high = array<i64: 0>} : (tensor<4xf32>) -> tensor<3xf32>

// -----

%a = "test.op"() : () -> tensor<4xf32>
// expected-error@+1 {{value has type i32 but the elements are f32}}
%r = nn.pad constant %a {low = array<i64: 1>, high = array<i64: 0>, value = 1 : i32} : (tensor<4xf32>) -> tensor<5xf32>

// -----

%a = "test.op"() : () -> tensor<4xf32>
// expected-error@+1 {{shapes 4 and 3 do not broadcast}}
%r = nn.expand %a {shape = array<i64: 3>} : (tensor<4xf32>) -> tensor<3xf32>

// -----

%a = "test.op"() : () -> tensor<2x4xf32>
// expected-error@+1 {{shape [2, 4] does not expand to [4]}}
%r = nn.expand %a {shape = array<i64: 4>} : (tensor<2x4xf32>) -> tensor<4xf32>

// -----

%a = "test.op"() : () -> tensor<4xf32>
// expected-error@+1 {{repeats must have 1 entries but has 2}}
%r = nn.tile %a {repeats = array<i64: 1, 1>} : (tensor<4xf32>) -> tensor<4xf32>

// -----

%a = "test.op"() : () -> tensor<1x6x2x2xf32>
// expected-error@+1 {{6 channels do not divide into blocks of 2x2}}
%r = nn.depth_to_space dcr %a {block = 2 : i64} : (tensor<1x6x2x2xf32>) -> tensor<1x1x4x4xf32>

// -----

%a = "test.op"() : () -> tensor<1x6x3x2xf32>
// expected-error@+1 {{3x2 does not divide into blocks of 2x2}}
%r = nn.space_to_depth dcr %a {block = 2 : i64} : (tensor<1x6x3x2xf32>) -> tensor<1x1x4x4xf32>
