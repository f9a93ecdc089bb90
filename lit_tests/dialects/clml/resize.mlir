// RUN: clopt %s | clopt | filecheck %s
// RUN: clopt %s --print-op-generic | clopt | filecheck %s

%x = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>

// CHECK: %r0 = clml.resize_bilinear %x {align_corners = false} : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x12x18xf32, optimal>
%r0 = clml.resize_bilinear %x {align_corners = false} : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x12x18xf32, optimal>

// CHECK-NEXT: %r1 = clml.resize_bilinear %x {align_corners = true} : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x11x12xf32, optimal>
%r1 = clml.resize_bilinear %x {align_corners = true} : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x11x12xf32, optimal>

%x_h = "test.op"() : () -> !clml.tensor<1x8x6x6xf16, optimal>

// CHECK: %h0 = clml.resize_bilinear %x_h {align_corners = false} : (!clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x8x12x18xf16, optimal>
%h0 = clml.resize_bilinear %x_h {align_corners = false} : (!clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x8x12x18xf16, optimal>

// CHECK-NEXT: %h1 = clml.resize_bilinear %x_h {align_corners = true} : (!clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x8x11x12xf16, optimal>
%h1 = clml.resize_bilinear %x_h {align_corners = true} : (!clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x8x11x12xf16, optimal>
