// RUN: clopt %s | clopt | filecheck %s
// RUN: clopt %s --print-op-generic | clopt | filecheck %s

%v = "test.op"() : () -> !clml.tensor<1x8x1x1xf32, optimal>
%w = "test.op"() : () -> !clml.tensor<1x1x5x8xf32, optimal, parameter>
%wk = "test.op"() : () -> !clml.tensor<1x1x8x5xf32, optimal, parameter>
%b = "test.op"() : () -> !clml.tensor<1x5x1x1xf32, optimal, parameter>
%a = "test.op"() : () -> !clml.tensor<3x8x1x1xf32, nchw>
%at = "test.op"() : () -> !clml.tensor<8x3x1x1xf32, nchw>
%g = "test.op"() : () -> !clml.tensor<1x1x8x5xf32, nchw>
%gt = "test.op"() : () -> !clml.tensor<1x1x5x8xf32, nchw, parameter>

// CHECK: %r0 = clml.fully_connected %v, %w : (!clml.tensor<1x8x1x1xf32, optimal>, !clml.tensor<1x1x5x8xf32, optimal, parameter>) -> !clml.tensor<1x5x1x1xf32, optimal>
%r0 = clml.fully_connected %v, %w : (!clml.tensor<1x8x1x1xf32, optimal>, !clml.tensor<1x1x5x8xf32, optimal, parameter>) -> !clml.tensor<1x5x1x1xf32, optimal>

// CHECK-NEXT: %r1 = clml.fully_connected %v, %w, %b : (!clml.tensor<1x8x1x1xf32, optimal>, !clml.tensor<1x1x5x8xf32, optimal, parameter>, !clml.tensor<1x5x1x1xf32, optimal, parameter>) -> !clml.tensor<1x5x1x1xf32, optimal>
%r1 = clml.fully_connected %v, %w, %b : (!clml.tensor<1x8x1x1xf32, optimal>, !clml.tensor<1x1x5x8xf32, optimal, parameter>, !clml.tensor<1x5x1x1xf32, optimal, parameter>) -> !clml.tensor<1x5x1x1xf32, optimal>

// CHECK-NEXT: %r2 = clml.fully_connected %v, %wk, %b {transpose = false} : (!clml.tensor<1x8x1x1xf32, optimal>, !clml.tensor<1x1x8x5xf32, optimal, parameter>, !clml.tensor<1x5x1x1xf32, optimal, parameter>) -> !clml.tensor<1x5x1x1xf32, optimal>
%r2 = clml.fully_connected %v, %wk, %b {transpose = false} : (!clml.tensor<1x8x1x1xf32, optimal>, !clml.tensor<1x1x8x5xf32, optimal, parameter>, !clml.tensor<1x5x1x1xf32, optimal, parameter>) -> !clml.tensor<1x5x1x1xf32, optimal>

// CHECK-NEXT: %r3 = clml.gemm %a, %g {m = 3 : i64, n = 5 : i64, k = 8 : i64} : (!clml.tensor<3x8x1x1xf32, nchw>, !clml.tensor<1x1x8x5xf32, nchw>) -> !clml.tensor<3x5x1x1xf32, nchw>
%r3 = clml.gemm %a, %g {m = 3 : i64, n = 5 : i64, k = 8 : i64} : (!clml.tensor<3x8x1x1xf32, nchw>, !clml.tensor<1x1x8x5xf32, nchw>) -> !clml.tensor<3x5x1x1xf32, nchw>

// CHECK-NEXT: %r4 = clml.gemm %a, %gt {m = 3 : i64, n = 5 : i64, k = 8 : i64, transpose_b = true} : (!clml.tensor<3x8x1x1xf32, nchw>, !clml.tensor<1x1x5x8xf32, nchw, parameter>) -> !clml.tensor<3x5x1x1xf32, nchw>
%r4 = clml.gemm %a, %gt {m = 3 : i64, n = 5 : i64, k = 8 : i64, transpose_b = true} : (!clml.tensor<3x8x1x1xf32, nchw>, !clml.tensor<1x1x5x8xf32, nchw, parameter>) -> !clml.tensor<3x5x1x1xf32, nchw>

// CHECK-NEXT: %r5 = clml.gemm %at, %g {m = 3 : i64, n = 5 : i64, k = 8 : i64, transpose_a = true} : (!clml.tensor<8x3x1x1xf32, nchw>, !clml.tensor<1x1x8x5xf32, nchw>) -> !clml.tensor<3x5x1x1xf32, nchw>
%r5 = clml.gemm %at, %g {m = 3 : i64, n = 5 : i64, k = 8 : i64, transpose_a = true} : (!clml.tensor<8x3x1x1xf32, nchw>, !clml.tensor<1x1x8x5xf32, nchw>) -> !clml.tensor<3x5x1x1xf32, nchw>

// CHECK-NEXT: %r6 = clml.gemm %at, %gt {m = 3 : i64, n = 5 : i64, k = 8 : i64, transpose_a = true, transpose_b = true} : (!clml.tensor<8x3x1x1xf32, nchw>, !clml.tensor<1x1x5x8xf32, nchw, parameter>) -> !clml.tensor<3x5x1x1xf32, nchw>
%r6 = clml.gemm %at, %gt {m = 3 : i64, n = 5 : i64, k = 8 : i64, transpose_a = true, transpose_b = true} : (!clml.tensor<8x3x1x1xf32, nchw>, !clml.tensor<1x1x5x8xf32, nchw, parameter>) -> !clml.tensor<3x5x1x1xf32, nchw>

%v_h = "test.op"() : () -> !clml.tensor<1x8x1x1xf16, optimal>
%w_h = "test.op"() : () -> !clml.tensor<1x1x5x8xf16, optimal, parameter>
%wk_h = "test.op"() : () -> !clml.tensor<1x1x8x5xf16, optimal, parameter>
%b_h = "test.op"() : () -> !clml.tensor<1x5x1x1xf16, optimal, parameter>
%a_h = "test.op"() : () -> !clml.tensor<3x8x1x1xf16, nchw>
%at_h = "test.op"() : () -> !clml.tensor<8x3x1x1xf16, nchw>
%g_h = "test.op"() : () -> !clml.tensor<1x1x8x5xf16, nchw>
%gt_h = "test.op"() : () -> !clml.tensor<1x1x5x8xf16, nchw, parameter>

// CHECK: %h0 = clml.fully_connected %v_h, %w_h : (!clml.tensor<1x8x1x1xf16, optimal>, !clml.tensor<1x1x5x8xf16, optimal, parameter>) -> !clml.tensor<1x5x1x1xf16, optimal>
%h0 = clml.fully_connected %v_h, %w_h : (!clml.tensor<1x8x1x1xf16, optimal>, !clml.tensor<1x1x5x8xf16, optimal, parameter>) -> !clml.tensor<1x5x1x1xf16, optimal>

// CHECK-NEXT: %h1 = clml.fully_connected %v_h, %w_h, %b_h : (!clml.tensor<1x8x1x1xf16, optimal>, !clml.tensor<1x1x5x8xf16, optimal, parameter>, !clml.tensor<1x5x1x1xf16, optimal, parameter>) -> !clml.tensor<1x5x1x1xf16, optimal>
%h1 = clml.fully_connected %v_h, %w_h, %b_h : (!clml.tensor<1x8x1x1xf16, optimal>, !clml.tensor<1x1x5x8xf16, optimal, parameter>, !clml.tensor<1x5x1x1xf16, optimal, parameter>) -> !clml.tensor<1x5x1x1xf16, optimal>

// CHECK-NEXT: %h2 = clml.fully_connected %v_h, %wk_h, %b_h {transpose = false} : (!clml.tensor<1x8x1x1xf16, optimal>, !clml.tensor<1x1x8x5xf16, optimal, parameter>, !clml.tensor<1x5x1x1xf16, optimal, parameter>) -> !clml.tensor<1x5x1x1xf16, optimal>
%h2 = clml.fully_connected %v_h, %wk_h, %b_h {transpose = false} : (!clml.tensor<1x8x1x1xf16, optimal>, !clml.tensor<1x1x8x5xf16, optimal, parameter>, !clml.tensor<1x5x1x1xf16, optimal, parameter>) -> !clml.tensor<1x5x1x1xf16, optimal>

// CHECK-NEXT: %h3 = clml.gemm %a_h, %g_h {m = 3 : i64, n = 5 : i64, k = 8 : i64} : (!clml.tensor<3x8x1x1xf16, nchw>, !clml.tensor<1x1x8x5xf16, nchw>) -> !clml.tensor<3x5x1x1xf16, nchw>
%h3 = clml.gemm %a_h, %g_h {m = 3 : i64, n = 5 : i64, k = 8 : i64} : (!clml.tensor<3x8x1x1xf16, nchw>, !clml.tensor<1x1x8x5xf16, nchw>) -> !clml.tensor<3x5x1x1xf16, nchw>

// CHECK-NEXT: %h4 = clml.gemm %a_h, %gt_h {m = 3 : i64, n = 5 : i64, k = 8 : i64, transpose_b = true} : (!clml.tensor<3x8x1x1xf16, nchw>, !clml.tensor<1x1x5x8xf16, nchw, parameter>) -> !clml.tensor<3x5x1x1xf16, nchw>
%h4 = clml.gemm %a_h, %gt_h {m = 3 : i64, n = 5 : i64, k = 8 : i64, transpose_b = true} : (!clml.tensor<3x8x1x1xf16, nchw>, !clml.tensor<1x1x5x8xf16, nchw, parameter>) -> !clml.tensor<3x5x1x1xf16, nchw>

// CHECK-NEXT: %h5 = clml.gemm %at_h, %g_h {m = 3 : i64, n = 5 : i64, k = 8 : i64, transpose_a = true} : (!clml.tensor<8x3x1x1xf16, nchw>, !clml.tensor<1x1x8x5xf16, nchw>) -> !clml.tensor<3x5x1x1xf16, nchw>
%h5 = clml.gemm %at_h, %g_h {m = 3 : i64, n = 5 : i64, k = 8 : i64, transpose_a = true} : (!clml.tensor<8x3x1x1xf16, nchw>, !clml.tensor<1x1x8x5xf16, nchw>) -> !clml.tensor<3x5x1x1xf16, nchw>

// CHECK-NEXT: %h6 = clml.gemm %at_h, %gt_h {m = 3 : i64, n = 5 : i64, k = 8 : i64, transpose_a = true, transpose_b = true} : (!clml.tensor<8x3x1x1xf16, nchw>, !clml.tensor<1x1x5x8xf16, nchw, parameter>) -> !clml.tensor<3x5x1x1xf16, nchw>
%h6 = clml.gemm %at_h, %gt_h {m = 3 : i64, n = 5 : i64, k = 8 : i64, transpose_a = true, transpose_b = true} : (!clml.tensor<8x3x1x1xf16, nchw>, !clml.tensor<1x1x5x8xf16, nchw, parameter>) -> !clml.tensor<3x5x1x1xf16, nchw>
