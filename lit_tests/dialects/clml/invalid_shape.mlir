// RUN: clopt %s --split-input-file --verify-diagnostics

// So nothing pads an input of a graph, which is in NCHW.
%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, nchw>
// expected-error@+1 {{the layout must be optimal, not nchw: insert clml.copy}}
%r = clml.pad constant %a {pads = array<i64: 1, 1, 1, 1>} : (!clml.tensor<1x8x6x6xf32, nchw>) -> !clml.tensor<1x8x8x8xf32, nchw>

// -----

%a = "test.op"() : () -> !clml.tensor<2x8x6x6xf32, optimal>
// expected-error@+1 {{CLML requires a batch of 1, but 2x8x6x6 has 2}}
%r = clml.pad constant %a {pads = array<i64: 1, 1, 1, 1>} : (!clml.tensor<2x8x6x6xf32, optimal>) -> !clml.tensor<2x8x8x8xf32, optimal>

// -----

// CLML pads H and W only.
%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
// expected-error@+1 {{pads must be top, left, bottom and right, not 8 values}}
%r = clml.pad constant %a {pads = array<i64: 0, 0, 1, 1, 0, 0, 1, 1>} : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x8x8xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
// expected-error@+1 {{pads must be at least 0, not [-1, 1, 1, 1]}}
%r = clml.pad constant %a {pads = array<i64: -1, 1, 1, 1>} : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x6x8xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
// expected-error@+1 {{reflect padding of 6 elements must be at most 5, not 6}}
%r = clml.pad reflect %a {pads = array<i64: 0, 6, 0, 0>} : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x6x12xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
// expected-error@+1 {{symmetric padding of 6 elements must be at most 6, not 7}}
%r = clml.pad symmetric %a {pads = array<i64: 0, 0, 7, 0>} : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x13x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
// expected-error@+1 {{the result has the sizes 1x8x7x9, not 1x8x9x7}}
%r = clml.pad constant %a {pads = array<i64: 0, 1, 1, 2>} : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x9x7xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
// expected-error@+1 {{CLML requires a batch of 1, but 2x8x6x6 has 2}}
%r = clml.reshape %a : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<2x8x6x6xf32, optimal>

// -----

// The batch stays what it is.
%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
// expected-error@+1 {{CLML requires a batch of 1, but 2x4x6x6 has 2}}
%r = clml.reshape %a : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<2x4x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
// expected-error@+1 {{a reshape must keep the number of elements, but 1x8x6x6 has 288 and 1x200x1x1 has 200}}
%r = clml.reshape %a : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x200x1x1xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, nhwc>
// expected-error@+1 {{the layout must be optimal or nchw, not nhwc: insert clml.copy}}
%r = clml.reshape %a : (!clml.tensor<1x8x6x6xf32, nhwc>) -> !clml.tensor<1x288x1x1xf32, nhwc>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, nchw>
// expected-error@+1 {{all tensors must have the same layout, not nchw and optimal: insert clml.copy}}
%r = clml.reshape %a : (!clml.tensor<1x8x6x6xf32, nchw>) -> !clml.tensor<1x288x1x1xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, nchw>
%b = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, nchw>
// expected-error@+1 {{the layout must be optimal, not nchw: insert clml.copy}}
%r = clml.concat %a, %b : (!clml.tensor<1x8x6x6xf32, nchw>, !clml.tensor<1x8x6x6xf32, nchw>) -> !clml.tensor<1x16x6x6xf32, nchw>

// -----

%a = "test.op"() : () -> !clml.tensor<2x8x6x6xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<2x8x6x6xf32, optimal>
// expected-error@+1 {{CLML requires a batch of 1, but 2x8x6x6 has 2}}
%r = clml.concat %a, %b : (!clml.tensor<2x8x6x6xf32, optimal>, !clml.tensor<2x8x6x6xf32, optimal>) -> !clml.tensor<2x16x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
// expected-error@+1 {{a concatenation must have two inputs or more, not 1}}
%r = clml.concat %a : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<1x8x6x5xf32, optimal>
// expected-error@+1 {{CLML concatenates channels, but 1x8x6x6 and 1x8x6x5 differ in another size}}
%r = clml.concat %a, %b : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<1x8x6x5xf32, optimal>) -> !clml.tensor<1x8x6x11xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
%b = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
// expected-error@+1 {{the result has the sizes 1x16x6x6, not 1x8x12x6}}
%r = clml.concat %a, %b : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x12x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, nchw>
// expected-error@+1 {{the layout must be optimal, not nchw: insert clml.copy}}
%r = clml.depth_to_space %a {block = 2 : i64} : (!clml.tensor<1x8x6x6xf32, nchw>) -> !clml.tensor<1x2x12x12xf32, nchw>

// -----

%a = "test.op"() : () -> !clml.tensor<2x8x6x6xf32, optimal>
// expected-error@+1 {{CLML requires a batch of 1, but 2x8x6x6 has 2}}
%r = clml.depth_to_space %a {block = 2 : i64} : (!clml.tensor<2x8x6x6xf32, optimal>) -> !clml.tensor<2x2x12x12xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
// expected-error@+1 {{the block must be positive, but is 0}}
%r = clml.depth_to_space %a {block = 0 : i64} : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
// expected-error@+1 {{8 channels do not divide into blocks of 3x3}}
%r = clml.depth_to_space %a {block = 3 : i64} : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x1x18x18xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
// expected-error@+1 {{the result has the sizes 1x2x12x12, not 1x8x12x12}}
%r = clml.depth_to_space %a {block = 2 : i64} : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x12x12xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
// expected-error@+1 {{a copy must change the layout, but both sides are optimal}}
%r = clml.copy %a : !clml.tensor<1x8x6x6xf32, optimal> -> !clml.tensor<1x8x6x6xf32, optimal>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
// expected-error@+1 {{the result has the sizes 1x8x6x6, not 1x6x8x6}}
%r = clml.copy %a : !clml.tensor<1x8x6x6xf32, optimal> -> !clml.tensor<1x6x8x6xf32, nchw>

// -----

%a = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
// expected-error@+1 {{all tensors must have the same element type, not f32 and f16}}
%r = clml.copy %a : !clml.tensor<1x8x6x6xf32, optimal> -> !clml.tensor<1x8x6x6xf16, nchw>

// -----

%a = "test.op"() : () -> !clml.tensor<2x8x6x6xf32, optimal>
// expected-error@+1 {{CLML requires a batch of 1, but 2x8x6x6 has 2}}
%r = clml.copy %a : !clml.tensor<2x8x6x6xf32, optimal> -> !clml.tensor<2x8x6x6xf32, nchw>
