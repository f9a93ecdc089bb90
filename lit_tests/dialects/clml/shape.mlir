// RUN: clopt %s | clopt | filecheck %s
// RUN: clopt %s --print-op-generic | clopt | filecheck %s

%x = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
%y = "test.op"() : () -> !clml.tensor<1x2x6x6xf32, optimal>
%n = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, nchw>

// CHECK: %r0 = clml.pad constant %x {pads = array<i64: 1, 2, 3, 4>} : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x10x12xf32, optimal>
%r0 = clml.pad constant %x {pads = array<i64: 1, 2, 3, 4>} : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x10x12xf32, optimal>

// CHECK-NEXT: %r1 = clml.pad reflect %x {pads = array<i64: 5, 0, 0, 5>} : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x11x11xf32, optimal>
%r1 = clml.pad reflect %x {pads = array<i64: 5, 0, 0, 5>} : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x11x11xf32, optimal>

// CHECK-NEXT: %r2 = clml.pad symmetric %x {pads = array<i64: 6, 0, 0, 6>} : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x12x12xf32, optimal>
%r2 = clml.pad symmetric %x {pads = array<i64: 6, 0, 0, 6>} : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x12x12xf32, optimal>

// CHECK-NEXT: %r3 = clml.reshape %x : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x288x1x1xf32, optimal>
%r3 = clml.reshape %x : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x288x1x1xf32, optimal>

// CHECK-NEXT: %r4 = clml.reshape %n : (!clml.tensor<1x8x6x6xf32, nchw>) -> !clml.tensor<1x1x8x36xf32, nchw>
%r4 = clml.reshape %n : (!clml.tensor<1x8x6x6xf32, nchw>) -> !clml.tensor<1x1x8x36xf32, nchw>

// CHECK-NEXT: %r5 = clml.concat %x, %y : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<1x2x6x6xf32, optimal>) -> !clml.tensor<1x10x6x6xf32, optimal>
%r5 = clml.concat %x, %y : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<1x2x6x6xf32, optimal>) -> !clml.tensor<1x10x6x6xf32, optimal>

// CHECK-NEXT: %r6 = clml.concat %x, %y, %x : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<1x2x6x6xf32, optimal>, !clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x18x6x6xf32, optimal>
%r6 = clml.concat %x, %y, %x : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<1x2x6x6xf32, optimal>, !clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x18x6x6xf32, optimal>

// CHECK-NEXT: %r7 = clml.depth_to_space %x {block = 2 : i64} : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x2x12x12xf32, optimal>
%r7 = clml.depth_to_space %x {block = 2 : i64} : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x2x12x12xf32, optimal>

// CHECK-NEXT: %r8 = clml.copy %x : !clml.tensor<1x8x6x6xf32, optimal> -> !clml.tensor<1x8x6x6xf32, nchw>
%r8 = clml.copy %x : !clml.tensor<1x8x6x6xf32, optimal> -> !clml.tensor<1x8x6x6xf32, nchw>

// CHECK-NEXT: %r9 = clml.copy %n : !clml.tensor<1x8x6x6xf32, nchw> -> !clml.tensor<1x8x6x6xf32, optimal>
%r9 = clml.copy %n : !clml.tensor<1x8x6x6xf32, nchw> -> !clml.tensor<1x8x6x6xf32, optimal>

// CHECK-NEXT: %r10 = clml.copy %n : !clml.tensor<1x8x6x6xf32, nchw> -> !clml.tensor<1x8x6x6xf32, nhwc>
%r10 = clml.copy %n : !clml.tensor<1x8x6x6xf32, nchw> -> !clml.tensor<1x8x6x6xf32, nhwc>

%x_h = "test.op"() : () -> !clml.tensor<1x8x6x6xf16, optimal>
%y_h = "test.op"() : () -> !clml.tensor<1x2x6x6xf16, optimal>
%n_h = "test.op"() : () -> !clml.tensor<1x8x6x6xf16, nchw>

// CHECK: %h0 = clml.pad constant %x_h {pads = array<i64: 1, 2, 3, 4>} : (!clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x8x10x12xf16, optimal>
%h0 = clml.pad constant %x_h {pads = array<i64: 1, 2, 3, 4>} : (!clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x8x10x12xf16, optimal>

// CHECK-NEXT: %h1 = clml.pad reflect %x_h {pads = array<i64: 5, 0, 0, 5>} : (!clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x8x11x11xf16, optimal>
%h1 = clml.pad reflect %x_h {pads = array<i64: 5, 0, 0, 5>} : (!clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x8x11x11xf16, optimal>

// CHECK-NEXT: %h2 = clml.pad symmetric %x_h {pads = array<i64: 6, 0, 0, 6>} : (!clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x8x12x12xf16, optimal>
%h2 = clml.pad symmetric %x_h {pads = array<i64: 6, 0, 0, 6>} : (!clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x8x12x12xf16, optimal>

// CHECK-NEXT: %h3 = clml.reshape %x_h : (!clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x288x1x1xf16, optimal>
%h3 = clml.reshape %x_h : (!clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x288x1x1xf16, optimal>

// CHECK-NEXT: %h4 = clml.reshape %n_h : (!clml.tensor<1x8x6x6xf16, nchw>) -> !clml.tensor<1x1x8x36xf16, nchw>
%h4 = clml.reshape %n_h : (!clml.tensor<1x8x6x6xf16, nchw>) -> !clml.tensor<1x1x8x36xf16, nchw>

// CHECK-NEXT: %h5 = clml.concat %x_h, %y_h : (!clml.tensor<1x8x6x6xf16, optimal>, !clml.tensor<1x2x6x6xf16, optimal>) -> !clml.tensor<1x10x6x6xf16, optimal>
%h5 = clml.concat %x_h, %y_h : (!clml.tensor<1x8x6x6xf16, optimal>, !clml.tensor<1x2x6x6xf16, optimal>) -> !clml.tensor<1x10x6x6xf16, optimal>

// CHECK-NEXT: %h6 = clml.concat %x_h, %y_h, %x_h : (!clml.tensor<1x8x6x6xf16, optimal>, !clml.tensor<1x2x6x6xf16, optimal>, !clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x18x6x6xf16, optimal>
%h6 = clml.concat %x_h, %y_h, %x_h : (!clml.tensor<1x8x6x6xf16, optimal>, !clml.tensor<1x2x6x6xf16, optimal>, !clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x18x6x6xf16, optimal>

// CHECK-NEXT: %h7 = clml.depth_to_space %x_h {block = 2 : i64} : (!clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x2x12x12xf16, optimal>
%h7 = clml.depth_to_space %x_h {block = 2 : i64} : (!clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x2x12x12xf16, optimal>

// CHECK-NEXT: %h8 = clml.copy %x_h : !clml.tensor<1x8x6x6xf16, optimal> -> !clml.tensor<1x8x6x6xf16, nchw>
%h8 = clml.copy %x_h : !clml.tensor<1x8x6x6xf16, optimal> -> !clml.tensor<1x8x6x6xf16, nchw>

// CHECK-NEXT: %h9 = clml.copy %n_h : !clml.tensor<1x8x6x6xf16, nchw> -> !clml.tensor<1x8x6x6xf16, optimal>
%h9 = clml.copy %n_h : !clml.tensor<1x8x6x6xf16, nchw> -> !clml.tensor<1x8x6x6xf16, optimal>

// CHECK-NEXT: %h10 = clml.copy %n_h : !clml.tensor<1x8x6x6xf16, nchw> -> !clml.tensor<1x8x6x6xf16, nhwc>
%h10 = clml.copy %n_h : !clml.tensor<1x8x6x6xf16, nchw> -> !clml.tensor<1x8x6x6xf16, nhwc>
