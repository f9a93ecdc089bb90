// RUN: clopt %s --split-input-file --verify-diagnostics

%a = "test.op"() : () -> !clml.tensor<2x8x1x1xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<1x1x5x8xf32, optimal, parameter>
%c = "test.op"() : () -> !clml.tensor<1x5x1x1xf32, optimal, parameter>
// expected-error@+1 {{CLML requires a batch of 1, but 2x8x1x1 has 2}}
%r = clml.fully_connected %a, %b, %c : (!clml.tensor<2x8x1x1xf32, optimal>, !clml.tensor<1x1x5x8xf32, optimal, parameter>, !clml.tensor<1x5x1x1xf32, optimal, parameter>) -> !clml.tensor<2x5x1x1xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<1x1x5x288xf32, optimal, parameter>
// expected-error@+1 {{a fully connected layer requires a vector 1xKx1x1, not 1x8x6x6: reshape it}}
%r = clml.fully_connected %a, %b : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<1x1x5x288xf32, optimal, parameter>) -> !clml.tensor<1x5x1x1xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x1x1xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<1x1x8x5xf32, optimal, parameter>
// expected-error@+1 {{the weight for a vector of 8 must have the sizes 1x1xNx8, not 1x1x8x5}}
%r = clml.fully_connected %a, %b : (!clml.tensor<1x8x1x1xf32, optimal>, !clml.tensor<1x1x8x5xf32, optimal, parameter>) -> !clml.tensor<1x5x1x1xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x1x1xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<1x1x5x8xf32, optimal, parameter>
// expected-error@+1 {{the weight for a vector of 8 must have the sizes 1x1x8xN, not 1x1x5x8}}
%r = clml.fully_connected %a, %b {transpose = false} : (!clml.tensor<1x8x1x1xf32, optimal>, !clml.tensor<1x1x5x8xf32, optimal, parameter>) -> !clml.tensor<1x5x1x1xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x1x1xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<5x8x1x1xf32, optimal, parameter>
// expected-error@+1 {{the weight for a vector of 8 must have the sizes 1x1xNx8, not 5x8x1x1}}
%r = clml.fully_connected %a, %b : (!clml.tensor<1x8x1x1xf32, optimal>, !clml.tensor<5x8x1x1xf32, optimal, parameter>) -> !clml.tensor<1x5x1x1xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x1x1xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<1x1x5x8xf32, optimal, parameter>
%c = "test.op"() : () -> !clml.tensor<1x1x1x5xf32, optimal, parameter>
// expected-error@+1 {{a value for each of 5 channels must have the sizes 1x5x1x1, not 1x1x1x5}}
%r = clml.fully_connected %a, %b, %c : (!clml.tensor<1x8x1x1xf32, optimal>, !clml.tensor<1x1x5x8xf32, optimal, parameter>, !clml.tensor<1x1x1x5xf32, optimal, parameter>) -> !clml.tensor<1x5x1x1xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x1x1xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<1x1x5x8xf32, optimal>
%c = "test.op"() : () -> !clml.tensor<1x5x1x1xf32, optimal, parameter>
// expected-error@+1 {{weights, biases and statistics must be constants, but the one of sizes 1x1x5x8 is computed}}
%r = clml.fully_connected %a, %b, %c : (!clml.tensor<1x8x1x1xf32, optimal>, !clml.tensor<1x1x5x8xf32, optimal>, !clml.tensor<1x5x1x1xf32, optimal, parameter>) -> !clml.tensor<1x5x1x1xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x1x1xf32, nchw>
%b = "test.op"() : () -> !clml.tensor<1x1x5x8xf32, optimal, parameter>
// expected-error@+1 {{the layout must be optimal, not nchw: insert clml.copy}}
%r = clml.fully_connected %a, %b : (!clml.tensor<1x8x1x1xf32, nchw>, !clml.tensor<1x1x5x8xf32, optimal, parameter>) -> !clml.tensor<1x5x1x1xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x1x1xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<1x1x5x8xf32, optimal, parameter>
// expected-error@+1 {{the result has the sizes 1x5x1x1, not 1x1x1x5}}
%r = clml.fully_connected %a, %b : (!clml.tensor<1x8x1x1xf32, optimal>, !clml.tensor<1x1x5x8xf32, optimal, parameter>) -> !clml.tensor<1x1x1x5xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<3x8x1x1xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<1x1x8x5xf32, optimal>
// expected-error@+1 {{the layout must be nchw, not optimal: insert clml.copy}}
%r = clml.gemm %a, %b {m = 3 : i64, n = 5 : i64, k = 8 : i64} : (!clml.tensor<3x8x1x1xf32, optimal>, !clml.tensor<1x1x8x5xf32, optimal>) -> !clml.tensor<3x5x1x1xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x3x8x1xf32, nchw>
%b = "test.op"() : () -> !clml.tensor<1x1x8x5xf32, nchw>
// expected-error@+1 {{a must have the sizes 3x8x1x1 for m = 3, n = 5, k = 8, not 1x3x8x1}}
%r = clml.gemm %a, %b {m = 3 : i64, n = 5 : i64, k = 8 : i64} : (!clml.tensor<1x3x8x1xf32, nchw>, !clml.tensor<1x1x8x5xf32, nchw>) -> !clml.tensor<3x5x1x1xf32, nchw>

// -----

%a = "test.op"() : () -> !clml.tensor<3x8x1x1xf32, nchw>
%b = "test.op"() : () -> !clml.tensor<1x1x8x5xf32, nchw>
// expected-error@+1 {{a must have the sizes 8x3x1x1 for m = 3, n = 5, k = 8, not 3x8x1x1}}
%r = clml.gemm %a, %b {m = 3 : i64, n = 5 : i64, k = 8 : i64, transpose_a = true} : (!clml.tensor<3x8x1x1xf32, nchw>, !clml.tensor<1x1x8x5xf32, nchw>) -> !clml.tensor<3x5x1x1xf32, nchw>

// -----

%a = "test.op"() : () -> !clml.tensor<3x8x1x1xf32, nchw>
%b = "test.op"() : () -> !clml.tensor<1x1x5x8xf32, nchw>
// expected-error@+1 {{b must have the sizes 1x1x8x5 for m = 3, n = 5, k = 8, not 1x1x5x8}}
%r = clml.gemm %a, %b {m = 3 : i64, n = 5 : i64, k = 8 : i64} : (!clml.tensor<3x8x1x1xf32, nchw>, !clml.tensor<1x1x5x8xf32, nchw>) -> !clml.tensor<3x5x1x1xf32, nchw>

// -----

%a = "test.op"() : () -> !clml.tensor<3x8x1x1xf32, nchw>
%b = "test.op"() : () -> !clml.tensor<1x1x8x5xf32, nchw>
// expected-error@+1 {{b must have the sizes 1x1x5x8 for m = 3, n = 5, k = 8, not 1x1x8x5}}
%r = clml.gemm %a, %b {m = 3 : i64, n = 5 : i64, k = 8 : i64, transpose_b = true} : (!clml.tensor<3x8x1x1xf32, nchw>, !clml.tensor<1x1x8x5xf32, nchw>) -> !clml.tensor<3x5x1x1xf32, nchw>

// -----

%a = "test.op"() : () -> !clml.tensor<3x8x1x1xf32, nchw>
%b = "test.op"() : () -> !clml.tensor<1x1x8x5xf32, nchw>
// expected-error@+1 {{the result has the sizes 3x5x1x1, not 5x3x1x1}}
%r = clml.gemm %a, %b {m = 3 : i64, n = 5 : i64, k = 8 : i64} : (!clml.tensor<3x8x1x1xf32, nchw>, !clml.tensor<1x1x8x5xf32, nchw>) -> !clml.tensor<5x3x1x1xf32, nchw>

// -----

%a = "test.op"() : () -> !clml.tensor<3x8x1x1xf32, nchw>
%b = "test.op"() : () -> !clml.tensor<1x1x8x5xf16, nchw>
// expected-error@+1 {{all tensors must have the same element type, not f32 and f16}}
%r = clml.gemm %a, %b {m = 3 : i64, n = 5 : i64, k = 8 : i64} : (!clml.tensor<3x8x1x1xf32, nchw>, !clml.tensor<1x1x8x5xf16, nchw>) -> !clml.tensor<3x5x1x1xf32, nchw>
