// RUN: clopt %s --split-input-file --verify-diagnostics

%x, %w = "test.op"() : () -> (tensor<4x6xf32>, tensor<4x6xf32>)
// expected-error@+1 {{input must have rank 3 to 5 but has rank 2}}
%r = nn.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>

// -----

%x, %w = "test.op"() : () -> (tensor<1x4x6xf32>, tensor<8x4x1x1xf32>)
// expected-error@+1 {{weight has rank 4 but the input has rank 3}}
%r = nn.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : (tensor<1x4x6xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x6xf32>

// -----

%x, %w = "test.op"() : () -> (tensor<1x4x6xf32>, tensor<8x3x1xf32>)
// expected-error@+1 {{weight has 3 channels in each of 1 groups but the input has 4}}
%r = nn.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : (tensor<1x4x6xf32>, tensor<8x3x1xf32>) -> tensor<1x8x6xf32>

// -----

%x, %w = "test.op"() : () -> (tensor<1x4x6xf32>, tensor<8x4x1xf32>)
// expected-error@+1 {{4 input channels do not divide into 3 groups}}
%r = nn.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>, groups = 3 : i64} : (tensor<1x4x6xf32>, tensor<8x4x1xf32>) -> tensor<1x8x6xf32>

// -----

%x, %w = "test.op"() : () -> (tensor<1x4x6xf32>, tensor<7x2x1xf32>)
// expected-error@+1 {{7 output channels do not divide into 2 groups}}
%r = nn.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>, groups = 2 : i64} : (tensor<1x4x6xf32>, tensor<7x2x1xf32>) -> tensor<1x7x6xf32>

// -----

%x, %w, %b = "test.op"() : () -> (tensor<1x4x6xf32>, tensor<8x4x1xf32>, tensor<4xf32>)
// expected-error@+1 {{bias must have shape [8] but has [4]}}
%r = nn.conv %x, %w, %b {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : (tensor<1x4x6xf32>, tensor<8x4x1xf32>, tensor<4xf32>) -> tensor<1x8x6xf32>

// -----

%x, %w = "test.op"() : () -> (tensor<1x4x6xf32>, tensor<8x4x1xf32>)
// expected-error@+1 {{strides must have 1 entries but has 2}}
%r = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : (tensor<1x4x6xf32>, tensor<8x4x1xf32>) -> tensor<1x8x6xf32>

// -----

%x, %w = "test.op"() : () -> (tensor<1x4x6xf32>, tensor<8x4x1xf32>)
// expected-error@+1 {{strides [0] must be positive}}
%r = nn.conv %x, %w {strides = array<i64: 0>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : (tensor<1x4x6xf32>, tensor<8x4x1xf32>) -> tensor<1x8x6xf32>

// -----

%x, %w = "test.op"() : () -> (tensor<1x4x6xf32>, tensor<8x4x1xf32>)
// expected-error@+1 {{pads [-1, 0] must not be negative}}
%r = nn.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: -1, 0>} : (tensor<1x4x6xf32>, tensor<8x4x1xf32>) -> tensor<1x8x5xf32>

// -----

%x, %w = "test.op"() : () -> (tensor<1x4x6xf32>, tensor<8x4x7xf32>)
// expected-error@+1 {{kernel extent in dimension 2 exceeds the padded input}}
%r = nn.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : (tensor<1x4x6xf32>, tensor<8x4x7xf32>) -> tensor<1x8x0xf32>

// -----

%x, %w = "test.op"() : () -> (tensor<1x4x6xf32>, tensor<8x4x1xf32>)
// expected-error@+1 {{result type should be tensor<1x8x6xf32> but is tensor<1x8x5xf32>}}
%r = nn.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : (tensor<1x4x6xf32>, tensor<8x4x1xf32>) -> tensor<1x8x5xf32>

// -----

%x, %w = "test.op"() : () -> (tensor<1x4x6xi1>, tensor<8x4x1xi1>)
// expected-error@+1 {{convolution of i1 elements is not defined}}
%r = nn.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : (tensor<1x4x6xi1>, tensor<8x4x1xi1>) -> tensor<1x8x6xi1>

// -----

%x, %w = "test.op"() : () -> (tensor<1x4x6xf32>, tensor<8x4x1xf32>)
// expected-error@+1 {{weight has 8 input channels but the input has 4}}
%r = nn.conv_transpose %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>, output_padding = array<i64: 0>} : (tensor<1x4x6xf32>, tensor<8x4x1xf32>) -> tensor<1x4x6xf32>

// -----

%x, %w = "test.op"() : () -> (tensor<1x4x6xf32>, tensor<4x4x1xf32>)
// expected-error@+1 {{pads crop dimension 2 to nothing}}
%r = nn.conv_transpose %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 3, 3>, output_padding = array<i64: 0>} : (tensor<1x4x6xf32>, tensor<4x4x1xf32>) -> tensor<1x4x0xf32>
