// RUN: clopt %s --split-input-file --verify-diagnostics

%a = "test.op"() : () -> !clml.tensor<2x8x6x6xf32, optimal>
// expected-error@+1 {{CLML requires a batch of 1, but 2x8x6x6 has 2}}
%r = clml.activation relu %a : (!clml.tensor<2x8x6x6xf32, optimal>) -> !clml.tensor<2x8x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, nchw>
// expected-error@+1 {{all tensors must have the same layout, not nchw and optimal: insert clml.copy}}
%r = clml.activation relu %a : (!clml.tensor<1x8x6x6xf32, nchw>) -> !clml.tensor<1x8x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
// expected-error@+1 {{the result has the sizes 1x8x6x6, not 1x8x6x5}}
%r = clml.activation relu %a : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x6x5xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
// expected-error@+1 {{all tensors must have the same element type, not f32 and f16}}
%r = clml.activation relu %a : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x6x6xf16, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<1x8x1x1xf32, optimal, parameter>
// expected-error@+1 {{CLML does not broadcast, but the operands have the sizes 1x8x6x6 and 1x8x1x1}}
%r = clml.binary add %a, %b : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<1x8x1x1xf32, optimal, parameter>) -> !clml.tensor<1x8x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
// expected-error@+1 {{CLML requires two different tensors, but both operands are the same}}
%r = clml.binary mul %a, %a : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<2x8x6x6xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<2x8x6x6xf32, optimal>
// expected-error@+1 {{CLML requires a batch of 1, but 2x8x6x6 has 2}}
%r = clml.binary mul %a, %b : (!clml.tensor<2x8x6x6xf32, optimal>, !clml.tensor<2x8x6x6xf32, optimal>) -> !clml.tensor<2x8x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, nchw>
// expected-error@+1 {{all tensors must have the same layout, not nchw and optimal: insert clml.copy}}
%r = clml.binary mul %a, %b : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<1x8x6x6xf32, nchw>) -> !clml.tensor<1x8x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<1x8x6x6xf16, optimal>
// expected-error@+1 {{all tensors must have the same element type, not f32 and f16}}
%r = clml.binary mul %a, %b : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x8x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
// expected-error@+1 {{the result has the sizes 1x8x6x6, not 1x8x1x1}}
%r = clml.binary mul %a, %b : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x1x1xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
// expected-error@+1 {{minimum 6.0 must not exceed maximum 0.0}}
%r = clml.clip %a {minimum = 6.0 : f64, maximum = 0.0 : f64} : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
// expected-error@+1 {{minimum nan must not exceed maximum 6.0}}
%r = clml.clip %a {minimum = 0x7ff8000000000000 : f64, maximum = 6.0 : f64} : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<2x8x6x6xf32, optimal>
// expected-error@+1 {{CLML requires a batch of 1, but 2x8x6x6 has 2}}
%r = clml.clip %a {minimum = 0.0 : f64, maximum = 6.0 : f64} : (!clml.tensor<2x8x6x6xf32, optimal>) -> !clml.tensor<2x8x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, nchw>
// expected-error@+1 {{all tensors must have the same layout, not nchw and nhwc: insert clml.copy}}
%r = clml.clip %a {minimum = 0.0 : f64, maximum = 6.0 : f64} : (!clml.tensor<1x8x6x6xf32, nchw>) -> !clml.tensor<1x8x6x6xf32, nhwc>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
// expected-error@+1 {{the result has the sizes 1x8x6x6, not 1x8x1x1}}
%r = clml.clip %a {minimum = 0.0 : f64, maximum = 6.0 : f64} : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x1x1xf32, optimal>
