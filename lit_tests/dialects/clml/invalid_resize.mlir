// RUN: clopt %s --split-input-file --verify-diagnostics

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, nchw>
// expected-error@+1 {{the layout must be optimal, not nchw: insert clml.copy}}
%r = clml.resize_bilinear %a {align_corners = false} : (!clml.tensor<1x8x6x6xf32, nchw>) -> !clml.tensor<1x8x12x12xf32, nchw>

// -----

%a = "test.op"() : () -> !clml.tensor<2x8x6x6xf32, optimal>
// expected-error@+1 {{CLML requires a batch of 1, but 2x8x6x6 has 2}}
%r = clml.resize_bilinear %a {align_corners = false} : (!clml.tensor<2x8x6x6xf32, optimal>) -> !clml.tensor<2x8x12x12xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
// expected-error@+1 {{the result has the sizes 1x8x12x12, not 1x4x12x12}}
%r = clml.resize_bilinear %a {align_corners = false} : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x4x12x12xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
// expected-error@+1 {{align_corners requires at least two rows and columns, but the result is 1x8x1x12}}
%r = clml.resize_bilinear %a {align_corners = true} : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x1x12xf32, optimal>
