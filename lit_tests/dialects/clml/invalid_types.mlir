// RUN: clopt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{a CLML tensor must have four sizes n, c, h, w, not 3}}
%x = "test.op"() : () -> !clml.tensor<1x8x6xf32, optimal>

// -----

// expected-error@+1 {{the sizes of a CLML tensor must be 1 to 32768, not 1x32769x1x1}}
%x = "test.op"() : () -> !clml.tensor<1x32769x1x1xf32, optimal>

// -----

// expected-error@+1 {{the sizes of a CLML tensor must be 1 to 32768, not 1x0x1x1}}
%x = "test.op"() : () -> !clml.tensor<1x0x1x1xf32, optimal>

// -----

// expected-error@+1 {{the sizes of a CLML tensor must be 1 to 32768, not 1x?x1x1}}
%x = "test.op"() : () -> !clml.tensor<1x?x1x1xf32, optimal>

// -----

// expected-error@+1 {{CLML supports f32 and f16, not i64}}
%x = "test.op"() : () -> !clml.tensor<1x8x6x6xi64, optimal>

// -----

// expected-error@+1 {{CLML supports f32 and f16, not i32}}
%x = "test.op"() : () -> !clml.tensor<1x8x6x6xi32, optimal>
