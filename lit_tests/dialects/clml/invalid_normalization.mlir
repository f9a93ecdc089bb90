// RUN: clopt %s --split-input-file --verify-diagnostics

%a = "test.op"() : () -> !clml.tensor<2x8x6x6xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<1x8x1x1xf32, optimal, parameter>
%c = "test.op"() : () -> !clml.tensor<1x8x1x1xf32, optimal, parameter>
%d = "test.op"() : () -> !clml.tensor<1x8x1x1xf32, optimal, parameter>
%e = "test.op"() : () -> !clml.tensor<1x8x1x1xf32, optimal, parameter>
// expected-error@+1 {{CLML requires a batch of 1, but 2x8x6x6 has 2}}
%r = clml.batch_norm %a, %b, %c, %d, %e {epsilon = 1.0e-05 : f64} : (!clml.tensor<2x8x6x6xf32, optimal>, !clml.tensor<1x8x1x1xf32, optimal, parameter>, !clml.tensor<1x8x1x1xf32, optimal, parameter>, !clml.tensor<1x8x1x1xf32, optimal, parameter>, !clml.tensor<1x8x1x1xf32, optimal, parameter>) -> !clml.tensor<2x8x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, nchw>
%b = "test.op"() : () -> !clml.tensor<1x8x1x1xf32, optimal, parameter>
%c = "test.op"() : () -> !clml.tensor<1x8x1x1xf32, optimal, parameter>
%d = "test.op"() : () -> !clml.tensor<1x8x1x1xf32, optimal, parameter>
%e = "test.op"() : () -> !clml.tensor<1x8x1x1xf32, optimal, parameter>
// expected-error@+1 {{the layout must be optimal, not nchw: insert clml.copy}}
%r = clml.batch_norm %a, %b, %c, %d, %e {epsilon = 1.0e-05 : f64} : (!clml.tensor<1x8x6x6xf32, nchw>, !clml.tensor<1x8x1x1xf32, optimal, parameter>, !clml.tensor<1x8x1x1xf32, optimal, parameter>, !clml.tensor<1x8x1x1xf32, optimal, parameter>, !clml.tensor<1x8x1x1xf32, optimal, parameter>) -> !clml.tensor<1x8x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<1x8x1x1xf32, optimal, parameter>
%c = "test.op"() : () -> !clml.tensor<1x1x1x1xf32, optimal, parameter>
%d = "test.op"() : () -> !clml.tensor<1x8x1x1xf32, optimal, parameter>
%e = "test.op"() : () -> !clml.tensor<1x8x1x1xf32, optimal, parameter>
// expected-error@+1 {{a value for each of 8 channels must have the sizes 1x8x1x1, not 1x1x1x1}}
%r = clml.batch_norm %a, %b, %c, %d, %e {epsilon = 1.0e-05 : f64} : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<1x8x1x1xf32, optimal, parameter>, !clml.tensor<1x1x1x1xf32, optimal, parameter>, !clml.tensor<1x8x1x1xf32, optimal, parameter>, !clml.tensor<1x8x1x1xf32, optimal, parameter>) -> !clml.tensor<1x8x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<1x8x1x1xf32, optimal, parameter>
%c = "test.op"() : () -> !clml.tensor<1x8x1x1xf32, optimal, parameter>
%d = "test.op"() : () -> !clml.tensor<1x8x1x1xf32, optimal, parameter>
%e = "test.op"() : () -> !clml.tensor<1x8x1x1xf32, optimal>
// expected-error@+1 {{weights, biases and statistics must be constants, but the one of sizes 1x8x1x1 is computed}}
%r = clml.batch_norm %a, %b, %c, %d, %e {epsilon = 1.0e-05 : f64} : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<1x8x1x1xf32, optimal, parameter>, !clml.tensor<1x8x1x1xf32, optimal, parameter>, !clml.tensor<1x8x1x1xf32, optimal, parameter>, !clml.tensor<1x8x1x1xf32, optimal>) -> !clml.tensor<1x8x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<1x8x1x1xf32, optimal, parameter>
%c = "test.op"() : () -> !clml.tensor<1x8x1x1xf32, optimal, parameter>
%d = "test.op"() : () -> !clml.tensor<1x8x1x1xf32, optimal, parameter>
%e = "test.op"() : () -> !clml.tensor<1x8x1x1xf32, optimal, parameter>
// expected-error@+1 {{epsilon must be at least 0, not nan}}
%r = clml.batch_norm %a, %b, %c, %d, %e {epsilon = 0x7ff8000000000000 : f64} : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<1x8x1x1xf32, optimal, parameter>, !clml.tensor<1x8x1x1xf32, optimal, parameter>, !clml.tensor<1x8x1x1xf32, optimal, parameter>, !clml.tensor<1x8x1x1xf32, optimal, parameter>) -> !clml.tensor<1x8x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<1x8x1x1xf32, optimal, parameter>
%c = "test.op"() : () -> !clml.tensor<1x8x1x1xf32, optimal, parameter>
%d = "test.op"() : () -> !clml.tensor<1x8x1x1xf32, optimal, parameter>
%e = "test.op"() : () -> !clml.tensor<1x8x1x1xf32, optimal, parameter>
// expected-error@+1 {{the result has the sizes 1x8x6x6, not 1x8x1x1}}
%r = clml.batch_norm %a, %b, %c, %d, %e {epsilon = 1.0e-05 : f64} : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<1x8x1x1xf32, optimal, parameter>, !clml.tensor<1x8x1x1xf32, optimal, parameter>, !clml.tensor<1x8x1x1xf32, optimal, parameter>, !clml.tensor<1x8x1x1xf32, optimal, parameter>) -> !clml.tensor<1x8x1x1xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<2x8x1x1xf32, optimal>
// expected-error@+1 {{CLML requires a batch of 1, but 2x8x1x1 has 2}}
%r = clml.softmax %a : (!clml.tensor<2x8x1x1xf32, optimal>) -> !clml.tensor<2x8x1x1xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
// expected-error@+1 {{the layout must be nchw, not optimal: insert clml.copy}}
%r = clml.softmax %a : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x6x6xf32, optimal>

// -----

// The last axis of a tensor declared as NHWC is not that of a softmax.
%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, nhwc>
// expected-error@+1 {{the layout must be nchw, not nhwc: insert clml.copy}}
%r = clml.softmax %a : (!clml.tensor<1x8x6x6xf32, nhwc>) -> !clml.tensor<1x8x6x6xf32, nhwc>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x1x1xf32, nchw>
// expected-error@+1 {{the layout must be optimal, not nchw: insert clml.copy}}
%r = clml.softmax %a : (!clml.tensor<1x8x1x1xf32, nchw>) -> !clml.tensor<1x8x1x1xf32, nchw>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x1x1xf32, optimal>
// expected-error@+1 {{the result has the sizes 1x8x1x1, not 1x4x1x1}}
%r = clml.softmax %a : (!clml.tensor<1x8x1x1xf32, optimal>) -> !clml.tensor<1x4x1x1xf32, optimal>
