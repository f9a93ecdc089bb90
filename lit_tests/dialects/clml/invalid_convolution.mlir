// RUN: clopt %s --split-input-file --verify-diagnostics

%a = "test.op"() : () -> !clml.tensor<4x8x6x6xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<4x8x3x3xf32, optimal, parameter>
// expected-error@+1 {{CLML requires a batch of 1, but 4x8x6x6 has 4}}
%r = clml.conv %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (!clml.tensor<4x8x6x6xf32, optimal>, !clml.tensor<4x8x3x3xf32, optimal, parameter>) -> !clml.tensor<4x4x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, nchw>
%b = "test.op"() : () -> !clml.tensor<4x8x3x3xf32, optimal, parameter>
// expected-error@+1 {{the layout must be optimal, not nchw: insert clml.copy}}
%r = clml.conv %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (!clml.tensor<1x8x6x6xf32, nchw>, !clml.tensor<4x8x3x3xf32, optimal, parameter>) -> !clml.tensor<1x4x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<4x8x3x3xf32, optimal, parameter>
// expected-error@+1 {{the layout must be optimal, not nhwc: insert clml.copy}}
%r = clml.conv %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<4x8x3x3xf32, optimal, parameter>) -> !clml.tensor<1x4x6x6xf32, nhwc>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<4x8x3x3xf32, nchw, parameter>
// expected-error@+1 {{the layout must be optimal, not nchw: insert clml.copy}}
%r = clml.conv %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<4x8x3x3xf32, nchw, parameter>) -> !clml.tensor<1x4x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<4x8x3x3xf16, optimal, parameter>
// expected-error@+1 {{all tensors must have the same element type, not f32 and f16}}
%r = clml.conv %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<4x8x3x3xf16, optimal, parameter>) -> !clml.tensor<1x4x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf16, optimal>
%b = "test.op"() : () -> !clml.tensor<4x8x3x3xf16, optimal, parameter>
// expected-error@+1 {{all tensors must have the same element type, not f16 and f32}}
%r = clml.conv %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (!clml.tensor<1x8x6x6xf16, optimal>, !clml.tensor<4x8x3x3xf16, optimal, parameter>) -> !clml.tensor<1x4x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<4x8x3x3xf32, optimal>
// expected-error@+1 {{weights, biases and statistics must be constants, but the one of sizes 4x8x3x3 is computed}}
%r = clml.conv %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<4x8x3x3xf32, optimal>) -> !clml.tensor<1x4x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<4x8x3x3xf32, optimal, parameter>
%c = "test.op"() : () -> !clml.tensor<1x4x1x1xf32, optimal>
// expected-error@+1 {{weights, biases and statistics must be constants, but the one of sizes 1x4x1x1 is computed}}
%r = clml.conv %a, %b, %c {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<4x8x3x3xf32, optimal, parameter>, !clml.tensor<1x4x1x1xf32, optimal>) -> !clml.tensor<1x4x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<4x8x3x3xf32, optimal, parameter>
// expected-error@+1 {{the result of a command must not be a parameter}}
%r = clml.conv %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<4x8x3x3xf32, optimal, parameter>) -> !clml.tensor<1x4x6x6xf32, optimal, parameter>

// -----

// Four groups.
%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<4x2x3x3xf32, optimal, parameter>
// expected-error@+1 {{the weight 4x2x3x3 has 2 channels but the input has 8: CLML supports no groups other than depthwise ones}}
%r = clml.conv %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<4x2x3x3xf32, optimal, parameter>) -> !clml.tensor<1x4x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<4x8x3x3xf32, optimal, parameter>
%c = "test.op"() : () -> !clml.tensor<4x1x1x1xf32, optimal, parameter>
// expected-error@+1 {{a value for each of 4 channels must have the sizes 1x4x1x1, not 4x1x1x1}}
%r = clml.conv %a, %b, %c {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<4x8x3x3xf32, optimal, parameter>, !clml.tensor<4x1x1x1xf32, optimal, parameter>) -> !clml.tensor<1x4x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<8x1x3x3xf32, optimal, parameter>
// expected-error@+1 {{a depthwise weight for 8 channels must have the sizes 1x8x3x3, not 8x1x3x3: CLML has one filter per channel and no other groups}}
%r = clml.conv %a, %b {mode = #clml<conv_mode depthwise>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<8x1x3x3xf32, optimal, parameter>) -> !clml.tensor<1x8x6x6xf32, optimal>

// -----

// Two filters for each channel.
%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<1x16x3x3xf32, optimal, parameter>
// expected-error@+1 {{a depthwise weight for 8 channels must have the sizes 1x8x3x3, not 1x16x3x3: CLML has one filter per channel and no other groups}}
%r = clml.conv %a, %b {mode = #clml<conv_mode depthwise>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<1x16x3x3xf32, optimal, parameter>) -> !clml.tensor<1x16x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<1x8x3x3xf32, optimal, parameter>
// expected-error@+1 {{CLML computes a dilated depthwise 3x3 convolution only with relu6 fused}}
%r = clml.conv %a, %b {mode = #clml<conv_mode depthwise>, strides = array<i64: 1, 1>, dilations = array<i64: 2, 2>, pads = array<i64: 2, 2, 2, 2>} : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<1x8x3x3xf32, optimal, parameter>) -> !clml.tensor<1x8x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<1x8x3x3xf32, optimal, parameter>
// expected-error@+1 {{CLML computes a dilated depthwise 3x3 convolution only with relu6 fused}}
%r = clml.conv_activation relu %a, %b {mode = #clml<conv_mode depthwise>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 2>, pads = array<i64: 1, 2, 1, 2>} : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<1x8x3x3xf32, optimal, parameter>) -> !clml.tensor<1x8x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<4x8x3x3xf32, optimal, parameter>
// expected-error@+1 {{strides must have two values, for H and W, not 1}}
%r = clml.conv %a, %b {strides = array<i64: 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<4x8x3x3xf32, optimal, parameter>) -> !clml.tensor<1x4x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<4x8x3x3xf32, optimal, parameter>
// expected-error@+1 {{strides must be positive, not [0, 1]}}
%r = clml.conv %a, %b {strides = array<i64: 0, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<4x8x3x3xf32, optimal, parameter>) -> !clml.tensor<1x4x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<4x8x3x3xf32, optimal, parameter>
// expected-error@+1 {{dilations must have two values, for H and W, not 3}}
%r = clml.conv %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<4x8x3x3xf32, optimal, parameter>) -> !clml.tensor<1x4x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<4x8x3x3xf32, optimal, parameter>
// expected-error@+1 {{dilations must be positive, not [1, 0]}}
%r = clml.conv %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 0>, pads = array<i64: 1, 1, 1, 1>} : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<4x8x3x3xf32, optimal, parameter>) -> !clml.tensor<1x4x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<4x8x3x3xf32, optimal, parameter>
// expected-error@+1 {{pads must be top, left, bottom and right, not 2 values}}
%r = clml.conv %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1>} : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<4x8x3x3xf32, optimal, parameter>) -> !clml.tensor<1x4x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<4x8x3x3xf32, optimal, parameter>
// expected-error@+1 {{pads must be at least 0, not [0, 0, -1, 0]}}
%r = clml.conv %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, -1, 0>} : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<4x8x3x3xf32, optimal, parameter>) -> !clml.tensor<1x4x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<4x8x5x5xf32, optimal, parameter>
// expected-error@+1 {{a filter over 9 does not fit into a padded size of 8}}
%r = clml.conv %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>} : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<4x8x5x5xf32, optimal, parameter>) -> !clml.tensor<1x4x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<4x8x3x3xf32, optimal, parameter>
// expected-error@+1 {{the result has the sizes 1x4x3x3, not 1x4x4x4}}
%r = clml.conv %a, %b {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<4x8x3x3xf32, optimal, parameter>) -> !clml.tensor<1x4x4x4xf32, optimal>

// -----

// The height comes first.
%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<4x8x3x1xf32, optimal, parameter>
// expected-error@+1 {{the result has the sizes 1x4x4x6, not 1x4x6x4}}
%r = clml.conv %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<4x8x3x1xf32, optimal, parameter>) -> !clml.tensor<1x4x6x4xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<4x8x3x3xf32, optimal, parameter>
// expected-error@+1 {{the result has the sizes 1x4x11x11, not 1x4x12x12: CLML has no output_padding}}
%r = clml.conv %a, %b {mode = #clml<conv_mode transpose>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<4x8x3x3xf32, optimal, parameter>) -> !clml.tensor<1x4x12x12xf32, optimal>

// -----

// The result channels of a transposed weight come first, other than in ONNX.
%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<8x4x3x3xf32, optimal, parameter>
// expected-error@+1 {{the weight 8x4x3x3 has 4 channels but the input has 8}}
%r = clml.conv %a, %b {mode = #clml<conv_mode transpose>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<8x4x3x3xf32, optimal, parameter>) -> !clml.tensor<1x4x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<4x8x3x3xf32, optimal, parameter>
// expected-error@+1 {{pads of 8 crop a result of 8 to nothing}}
%r = clml.conv %a, %b {mode = #clml<conv_mode transpose>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 4, 1, 4, 1>} : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<4x8x3x3xf32, optimal, parameter>) -> !clml.tensor<1x4x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<4x8x3x3xf32, optimal, parameter>
// expected-error@+1 {{CLML can fuse relu or relu6 with a convolution, not tanh}}
%r = clml.conv_activation tanh %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<4x8x3x3xf32, optimal, parameter>) -> !clml.tensor<1x4x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<4x8x3x3xf32, optimal, parameter>
%c = "test.op"() : () -> !clml.tensor<1x4x1x1xf32, optimal, parameter>
%d = "test.op"() : () -> !clml.tensor<1x4x1x1xf32, optimal, parameter>
%e = "test.op"() : () -> !clml.tensor<1x4x1x1xf32, optimal, parameter>
%f = "test.op"() : () -> !clml.tensor<1x4x1x1xf32, optimal, parameter>
// expected-error@+1 {{CLML can fuse relu or relu6 with a convolution, not sigmoid}}
%r = clml.conv_batch_norm_activation sigmoid %a, %b, %c, %d, %e, %f {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, epsilon = 1.0e-05 : f64} : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<4x8x3x3xf32, optimal, parameter>, !clml.tensor<1x4x1x1xf32, optimal, parameter>, !clml.tensor<1x4x1x1xf32, optimal, parameter>, !clml.tensor<1x4x1x1xf32, optimal, parameter>, !clml.tensor<1x4x1x1xf32, optimal, parameter>) -> !clml.tensor<1x4x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<4x8x3x3xf32, optimal, parameter>
%c = "test.op"() : () -> !clml.tensor<1x4x1x1xf32, optimal, parameter>
%d = "test.op"() : () -> !clml.tensor<1x4x1x1xf32, optimal, parameter>
%e = "test.op"() : () -> !clml.tensor<1x4x1x1xf32, optimal, parameter>
%f = "test.op"() : () -> !clml.tensor<1x8x1x1xf32, optimal, parameter>
// expected-error@+1 {{a value for each of 4 channels must have the sizes 1x4x1x1, not 1x8x1x1}}
%r = clml.conv_batch_norm %a, %b, %c, %d, %e, %f {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, epsilon = 1.0e-05 : f64} : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<4x8x3x3xf32, optimal, parameter>, !clml.tensor<1x4x1x1xf32, optimal, parameter>, !clml.tensor<1x4x1x1xf32, optimal, parameter>, !clml.tensor<1x4x1x1xf32, optimal, parameter>, !clml.tensor<1x8x1x1xf32, optimal, parameter>) -> !clml.tensor<1x4x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<4x8x3x3xf32, optimal, parameter>
%c = "test.op"() : () -> !clml.tensor<1x4x1x1xf32, optimal>
%d = "test.op"() : () -> !clml.tensor<1x4x1x1xf32, optimal, parameter>
%e = "test.op"() : () -> !clml.tensor<1x4x1x1xf32, optimal, parameter>
%f = "test.op"() : () -> !clml.tensor<1x4x1x1xf32, optimal, parameter>
// expected-error@+1 {{weights, biases and statistics must be constants, but the one of sizes 1x4x1x1 is computed}}
%r = clml.conv_batch_norm %a, %b, %c, %d, %e, %f {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, epsilon = 1.0e-05 : f64} : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<4x8x3x3xf32, optimal, parameter>, !clml.tensor<1x4x1x1xf32, optimal>, !clml.tensor<1x4x1x1xf32, optimal, parameter>, !clml.tensor<1x4x1x1xf32, optimal, parameter>, !clml.tensor<1x4x1x1xf32, optimal, parameter>) -> !clml.tensor<1x4x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<4x8x3x3xf32, optimal, parameter>
%c = "test.op"() : () -> !clml.tensor<1x4x1x1xf32, optimal, parameter>
%d = "test.op"() : () -> !clml.tensor<1x4x1x1xf32, optimal, parameter>
%e = "test.op"() : () -> !clml.tensor<1x4x1x1xf32, optimal, parameter>
%f = "test.op"() : () -> !clml.tensor<1x4x1x1xf32, optimal, parameter>
// expected-error@+1 {{epsilon must be at least 0, not -1.0}}
%r = clml.conv_batch_norm %a, %b, %c, %d, %e, %f {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, epsilon = -1.0 : f64} : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<4x8x3x3xf32, optimal, parameter>, !clml.tensor<1x4x1x1xf32, optimal, parameter>, !clml.tensor<1x4x1x1xf32, optimal, parameter>, !clml.tensor<1x4x1x1xf32, optimal, parameter>, !clml.tensor<1x4x1x1xf32, optimal, parameter>) -> !clml.tensor<1x4x6x6xf32, optimal>
