// RUN: clopt %s | clopt | filecheck %s
// RUN: clopt %s --print-op-generic | clopt | filecheck %s

%x = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
%mean = "test.op"() : () -> !clml.tensor<1x8x1x1xf32, optimal, parameter>
%variance = "test.op"() : () -> !clml.tensor<1x8x1x1xf32, optimal, parameter>
%scale = "test.op"() : () -> !clml.tensor<1x8x1x1xf32, optimal, parameter>
%bias = "test.op"() : () -> !clml.tensor<1x8x1x1xf32, optimal, parameter>
%v = "test.op"() : () -> !clml.tensor<1x8x1x1xf32, optimal>
%s = "test.op"() : () -> !clml.tensor<1x5x3x4xf32, nchw>

// CHECK: %r0 = clml.batch_norm %x, %mean, %variance, %scale, %bias {epsilon = 1.000000e-03 : f64} : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<1x8x1x1xf32, optimal, parameter>, !clml.tensor<1x8x1x1xf32, optimal, parameter>, !clml.tensor<1x8x1x1xf32, optimal, parameter>, !clml.tensor<1x8x1x1xf32, optimal, parameter>) -> !clml.tensor<1x8x6x6xf32, optimal>
%r0 = clml.batch_norm %x, %mean, %variance, %scale, %bias {epsilon = 1.000000e-03 : f64} : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<1x8x1x1xf32, optimal, parameter>, !clml.tensor<1x8x1x1xf32, optimal, parameter>, !clml.tensor<1x8x1x1xf32, optimal, parameter>, !clml.tensor<1x8x1x1xf32, optimal, parameter>) -> !clml.tensor<1x8x6x6xf32, optimal>

// CHECK-NEXT: %r1 = clml.softmax %v : (!clml.tensor<1x8x1x1xf32, optimal>) -> !clml.tensor<1x8x1x1xf32, optimal>
%r1 = clml.softmax %v : (!clml.tensor<1x8x1x1xf32, optimal>) -> !clml.tensor<1x8x1x1xf32, optimal>

// CHECK-NEXT: %r2 = clml.softmax %s : (!clml.tensor<1x5x3x4xf32, nchw>) -> !clml.tensor<1x5x3x4xf32, nchw>
%r2 = clml.softmax %s : (!clml.tensor<1x5x3x4xf32, nchw>) -> !clml.tensor<1x5x3x4xf32, nchw>

%x_h = "test.op"() : () -> !clml.tensor<1x8x6x6xf16, optimal>
%mean_h = "test.op"() : () -> !clml.tensor<1x8x1x1xf16, optimal, parameter>
%variance_h = "test.op"() : () -> !clml.tensor<1x8x1x1xf16, optimal, parameter>
%scale_h = "test.op"() : () -> !clml.tensor<1x8x1x1xf16, optimal, parameter>
%bias_h = "test.op"() : () -> !clml.tensor<1x8x1x1xf16, optimal, parameter>
%v_h = "test.op"() : () -> !clml.tensor<1x8x1x1xf16, optimal>
%s_h = "test.op"() : () -> !clml.tensor<1x5x3x4xf16, nchw>

// CHECK: %h0 = clml.batch_norm %x_h, %mean_h, %variance_h, %scale_h, %bias_h {epsilon = 1.000000e-03 : f64} : (!clml.tensor<1x8x6x6xf16, optimal>, !clml.tensor<1x8x1x1xf16, optimal, parameter>, !clml.tensor<1x8x1x1xf16, optimal, parameter>, !clml.tensor<1x8x1x1xf16, optimal, parameter>, !clml.tensor<1x8x1x1xf16, optimal, parameter>) -> !clml.tensor<1x8x6x6xf16, optimal>
%h0 = clml.batch_norm %x_h, %mean_h, %variance_h, %scale_h, %bias_h {epsilon = 1.000000e-03 : f64} : (!clml.tensor<1x8x6x6xf16, optimal>, !clml.tensor<1x8x1x1xf16, optimal, parameter>, !clml.tensor<1x8x1x1xf16, optimal, parameter>, !clml.tensor<1x8x1x1xf16, optimal, parameter>, !clml.tensor<1x8x1x1xf16, optimal, parameter>) -> !clml.tensor<1x8x6x6xf16, optimal>

// CHECK-NEXT: %h1 = clml.softmax %v_h : (!clml.tensor<1x8x1x1xf16, optimal>) -> !clml.tensor<1x8x1x1xf16, optimal>
%h1 = clml.softmax %v_h : (!clml.tensor<1x8x1x1xf16, optimal>) -> !clml.tensor<1x8x1x1xf16, optimal>

// CHECK-NEXT: %h2 = clml.softmax %s_h : (!clml.tensor<1x5x3x4xf16, nchw>) -> !clml.tensor<1x5x3x4xf16, nchw>
%h2 = clml.softmax %s_h : (!clml.tensor<1x5x3x4xf16, nchw>) -> !clml.tensor<1x5x3x4xf16, nchw>
