// RUN: clopt %s | clopt | filecheck %s
// RUN: clopt %s --print-op-generic | clopt | filecheck %s

%x = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>

// CHECK: %r0 = clml.pool max %x {kernel = array<i64: 3, 2>, strides = array<i64: 2, 1>, pads = array<i64: 1, 0, 0, 1>} : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x3x6xf32, optimal>
%r0 = clml.pool max %x {kernel = array<i64: 3, 2>, strides = array<i64: 2, 1>, pads = array<i64: 1, 0, 0, 1>} : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x3x6xf32, optimal>

// CHECK-NEXT: %r1 = clml.pool average %x {kernel = array<i64: 6, 6>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x1x1xf32, optimal>
%r1 = clml.pool average %x {kernel = array<i64: 6, 6>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x1x1xf32, optimal>

// The last window would start in row 4 and end beyond the plane.
// CHECK-NEXT: %r2 = clml.pool max %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>} : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x2x2xf32, optimal>
%r2 = clml.pool max %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>} : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x2x2xf32, optimal>

%x_h = "test.op"() : () -> !clml.tensor<1x8x6x6xf16, optimal>

// CHECK: %h0 = clml.pool max %x_h {kernel = array<i64: 3, 2>, strides = array<i64: 2, 1>, pads = array<i64: 1, 0, 0, 1>} : (!clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x8x3x6xf16, optimal>
%h0 = clml.pool max %x_h {kernel = array<i64: 3, 2>, strides = array<i64: 2, 1>, pads = array<i64: 1, 0, 0, 1>} : (!clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x8x3x6xf16, optimal>

// CHECK-NEXT: %h1 = clml.pool average %x_h {kernel = array<i64: 6, 6>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (!clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x8x1x1xf16, optimal>
%h1 = clml.pool average %x_h {kernel = array<i64: 6, 6>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (!clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x8x1x1xf16, optimal>

// The last window would start in row 4 and end beyond the plane.
// CHECK-NEXT: %h2 = clml.pool max %x_h {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>} : (!clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x8x2x2xf16, optimal>
%h2 = clml.pool max %x_h {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>} : (!clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x8x2x2xf16, optimal>
