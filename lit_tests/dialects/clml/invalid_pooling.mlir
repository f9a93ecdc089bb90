// RUN: clopt %s --split-input-file --verify-diagnostics

%a = "test.op"() : () -> !clml.tensor<2x8x6x6xf32, optimal>
// expected-error@+1 {{CLML requires a batch of 1, but 2x8x6x6 has 2}}
%r = clml.pool max %a {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>} : (!clml.tensor<2x8x6x6xf32, optimal>) -> !clml.tensor<2x8x2x2xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, nchw>
// expected-error@+1 {{the layout must be optimal, not nchw: insert clml.copy}}
%r = clml.pool max %a {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>} : (!clml.tensor<1x8x6x6xf32, nchw>) -> !clml.tensor<1x8x2x2xf32, nchw>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
// expected-error@+1 {{the result has the sizes 1x8x2x2, not 1x8x3x3: CLML has no ceil_mode}}
%r = clml.pool max %a {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>} : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x3x3xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
// expected-error@+1 {{kernel must have two values, for H and W, not 1}}
%r = clml.pool max %a {kernel = array<i64: 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>} : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x2x2xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
// expected-error@+1 {{kernel must be positive, not [0, 3]}}
%r = clml.pool max %a {kernel = array<i64: 0, 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>} : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x2x2xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
// expected-error@+1 {{strides must be positive, not [2, -2]}}
%r = clml.pool average %a {kernel = array<i64: 3, 3>, strides = array<i64: 2, -2>, pads = array<i64: 0, 0, 0, 0>} : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x2x2xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
// expected-error@+1 {{pads must be top, left, bottom and right, not 3 values}}
%r = clml.pool average %a {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0>} : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x2x2xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
// expected-error@+1 {{pads must be at least 0, not [0, -1, 0, 0]}}
%r = clml.pool average %a {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, -1, 0, 0>} : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x2x2xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
// expected-error@+1 {{pads of 0 and 3 allow a window of 3 with only padding}}
%r = clml.pool max %a {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 3, 0>} : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x4x2xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
// expected-error@+1 {{a window of 7 does not fit into a padded size of 6}}
%r = clml.pool max %a {kernel = array<i64: 3, 7>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>} : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x2x1xf32, optimal>
