// RUN: clopt %s | clopt | filecheck %s
// RUN: clopt %s --print-op-generic | clopt | filecheck %s

// CHECK:      clml.graph @clml_0(%x: !clml.tensor<1x3x8x8xf32, nchw>) -> !clml.tensor<1x4x4x4xf32, nchw> version 1 arithmetic fp32 {
// CHECK-NEXT:   %w = clml.constant "w_0123456789abcdef" : !clml.tensor<4x3x3x3xf32, optimal, parameter>
// CHECK-NEXT:   %0 = clml.copy %x : !clml.tensor<1x3x8x8xf32, nchw> -> !clml.tensor<1x3x8x8xf32, optimal>
// CHECK-NEXT:   %1 = clml.conv_activation relu6 %0, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (!clml.tensor<1x3x8x8xf32, optimal>, !clml.tensor<4x3x3x3xf32, optimal, parameter>) -> !clml.tensor<1x4x4x4xf32, optimal>
// CHECK-NEXT:   %2 = clml.copy %1 : !clml.tensor<1x4x4x4xf32, optimal> -> !clml.tensor<1x4x4x4xf32, nchw>
// CHECK-NEXT:   clml.return %2 : !clml.tensor<1x4x4x4xf32, nchw>
// CHECK-NEXT: }
clml.graph @clml_0(%x: !clml.tensor<1x3x8x8xf32, nchw>) -> !clml.tensor<1x4x4x4xf32, nchw> version 1 arithmetic fp32 {
  %w = clml.constant "w_0123456789abcdef" : !clml.tensor<4x3x3x3xf32, optimal, parameter>
  %0 = clml.copy %x : !clml.tensor<1x3x8x8xf32, nchw> -> !clml.tensor<1x3x8x8xf32, optimal>
  %1 = clml.conv_activation relu6 %0, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (!clml.tensor<1x3x8x8xf32, optimal>, !clml.tensor<4x3x3x3xf32, optimal, parameter>) -> !clml.tensor<1x4x4x4xf32, optimal>
  %2 = clml.copy %1 : !clml.tensor<1x4x4x4xf32, optimal> -> !clml.tensor<1x4x4x4xf32, nchw>
  clml.return %2 : !clml.tensor<1x4x4x4xf32, nchw>
}

// Two inputs, two results, an attribute; a tensor of another usage.

// CHECK-NEXT: clml.graph @clml_1(%a: !clml.tensor<1x6x1x1xf16, nchw, tnn>, %b: !clml.tensor<1x6x1x1xf16, nchw>) -> (!clml.tensor<1x6x1x1xf16, nchw>, !clml.tensor<1x6x1x1xf16, nchw>) version 4 arithmetic fp16_acc32 attributes {note = "two"} {
// CHECK-NEXT:   %s = clml.binary add %a, %b : (!clml.tensor<1x6x1x1xf16, nchw, tnn>, !clml.tensor<1x6x1x1xf16, nchw>) -> !clml.tensor<1x6x1x1xf16, nchw>
// CHECK-NEXT:   %c = clml.clip %s {minimum = 0.000000e+00 : f64, maximum = 1.000000e+00 : f64} : (!clml.tensor<1x6x1x1xf16, nchw>) -> !clml.tensor<1x6x1x1xf16, nchw>
// CHECK-NEXT:   clml.return %c, %s : !clml.tensor<1x6x1x1xf16, nchw>, !clml.tensor<1x6x1x1xf16, nchw>
// CHECK-NEXT: }
clml.graph @clml_1(%a: !clml.tensor<1x6x1x1xf16, nchw, tnn>, %b: !clml.tensor<1x6x1x1xf16, nchw>) -> (!clml.tensor<1x6x1x1xf16, nchw>, !clml.tensor<1x6x1x1xf16, nchw>) version 4 arithmetic fp16_acc32 attributes {note = "two"} {
  %s = clml.binary add %a, %b : (!clml.tensor<1x6x1x1xf16, nchw, tnn>, !clml.tensor<1x6x1x1xf16, nchw>) -> !clml.tensor<1x6x1x1xf16, nchw>
  %c = clml.clip %s {minimum = 0.000000e+00 : f64, maximum = 1.000000e+00 : f64} : (!clml.tensor<1x6x1x1xf16, nchw>) -> !clml.tensor<1x6x1x1xf16, nchw>
  clml.return %c, %s : !clml.tensor<1x6x1x1xf16, nchw>, !clml.tensor<1x6x1x1xf16, nchw>
}

// Sums in half precision; nothing comes in.

// CHECK-NEXT: clml.graph @clml_2() -> !clml.tensor<3x5x1x1xf16, nchw> version 5 arithmetic fp16 {
// CHECK-NEXT:   %p = clml.constant "p_0123456789abcdef" : !clml.tensor<3x8x1x1xf16, nchw, parameter>
// CHECK-NEXT:   %q = clml.constant "q_0123456789abcdef" : !clml.tensor<1x1x5x8xf16, nchw, parameter>
// CHECK-NEXT:   %r = clml.gemm %p, %q {m = 3 : i64, n = 5 : i64, k = 8 : i64, transpose_b = true} : (!clml.tensor<3x8x1x1xf16, nchw, parameter>, !clml.tensor<1x1x5x8xf16, nchw, parameter>) -> !clml.tensor<3x5x1x1xf16, nchw>
// CHECK-NEXT:   clml.return %r : !clml.tensor<3x5x1x1xf16, nchw>
// CHECK-NEXT: }
clml.graph @clml_2() -> !clml.tensor<3x5x1x1xf16, nchw> version 5 arithmetic fp16 {
  %p = clml.constant "p_0123456789abcdef" : !clml.tensor<3x8x1x1xf16, nchw, parameter>
  %q = clml.constant "q_0123456789abcdef" : !clml.tensor<1x1x5x8xf16, nchw, parameter>
  %r = clml.gemm %p, %q {m = 3 : i64, n = 5 : i64, k = 8 : i64, transpose_b = true} : (!clml.tensor<3x8x1x1xf16, nchw, parameter>, !clml.tensor<1x1x5x8xf16, nchw, parameter>) -> !clml.tensor<3x5x1x1xf16, nchw>
  clml.return %r : !clml.tensor<3x5x1x1xf16, nchw>
}

// A command may add up in another way than its graph.

// CHECK-NEXT: clml.graph @clml_3(%x: !clml.tensor<1x8x4x4xf16, nchw>) -> !clml.tensor<1x8x1x1xf16, nchw> version 1 arithmetic fp16 {
// CHECK-NEXT:   %o = clml.copy %x : !clml.tensor<1x8x4x4xf16, nchw> -> !clml.tensor<1x8x4x4xf16, optimal>
// CHECK-NEXT:   %a = clml.pool average %o {kernel = array<i64: 4, 4>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, arithmetic = #clml<arithmetic fp16_acc32>} : (!clml.tensor<1x8x4x4xf16, optimal>) -> !clml.tensor<1x8x1x1xf16, optimal>
// CHECK-NEXT:   %s = clml.softmax %a {arithmetic = #clml<arithmetic fp16>} : (!clml.tensor<1x8x1x1xf16, optimal>) -> !clml.tensor<1x8x1x1xf16, optimal>
// CHECK-NEXT:   %y = clml.copy %s : !clml.tensor<1x8x1x1xf16, optimal> -> !clml.tensor<1x8x1x1xf16, nchw>
// CHECK-NEXT:   clml.return %y : !clml.tensor<1x8x1x1xf16, nchw>
// CHECK-NEXT: }
clml.graph @clml_3(%x: !clml.tensor<1x8x4x4xf16, nchw>) -> !clml.tensor<1x8x1x1xf16, nchw> version 1 arithmetic fp16 {
  %o = clml.copy %x : !clml.tensor<1x8x4x4xf16, nchw> -> !clml.tensor<1x8x4x4xf16, optimal>
  %a = clml.pool average %o {kernel = array<i64: 4, 4>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, arithmetic = #clml<arithmetic fp16_acc32>} : (!clml.tensor<1x8x4x4xf16, optimal>) -> !clml.tensor<1x8x1x1xf16, optimal>
  %s = clml.softmax %a {arithmetic = #clml<arithmetic fp16>} : (!clml.tensor<1x8x1x1xf16, optimal>) -> !clml.tensor<1x8x1x1xf16, optimal>
  %y = clml.copy %s : !clml.tensor<1x8x1x1xf16, optimal> -> !clml.tensor<1x8x1x1xf16, nchw>
  clml.return %y : !clml.tensor<1x8x1x1xf16, nchw>
}

// The shapes of a call may be others than the graph's.

// CHECK:      %y = clml.call @clml_0(%i) : (tensor<1x3x8x8xf32>) -> tensor<4x16xf32>
// CHECK-NEXT: %t, %u = clml.call @clml_1(%v, %h) : (tensor<6xf16>, tensor<1x6x1x1xf16>) -> (tensor<1x6xf16>, tensor<2x3xf16>)
// CHECK-NEXT: %m = clml.call @clml_2() : () -> tensor<3x5xf16>
func.func @main(%i: tensor<1x3x8x8xf32>, %v: tensor<6xf16>, %h: tensor<1x6x1x1xf16>) -> (tensor<4x16xf32>, tensor<1x6xf16>, tensor<2x3xf16>, tensor<3x5xf16>) {
  %y = clml.call @clml_0(%i) : (tensor<1x3x8x8xf32>) -> tensor<4x16xf32>
  %t, %u = clml.call @clml_1(%v, %h) : (tensor<6xf16>, tensor<1x6x1x1xf16>) -> (tensor<1x6xf16>, tensor<2x3xf16>)
  %m = clml.call @clml_2() : () -> tensor<3x5xf16>
  func.return %y, %t, %u, %m : tensor<4x16xf32>, tensor<1x6xf16>, tensor<2x3xf16>, tensor<3x5xf16>
}
