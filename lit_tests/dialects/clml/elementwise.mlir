// RUN: clopt %s | clopt | filecheck %s
// RUN: clopt %s --print-op-generic | clopt | filecheck %s

%x = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
%z = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal>
%n = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, nchw>
%h = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, nhwc>
%k = "test.op"() : () -> !clml.tensor<1x8x6x6xf32, optimal, parameter>

// CHECK: %r0 = clml.activation relu %x : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x6x6xf32, optimal>
%r0 = clml.activation relu %x : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x6x6xf32, optimal>

// CHECK-NEXT: %r1 = clml.activation relu6 %x : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x6x6xf32, optimal>
%r1 = clml.activation relu6 %x : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x6x6xf32, optimal>

// CHECK-NEXT: %r2 = clml.activation sigmoid %x : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x6x6xf32, optimal>
%r2 = clml.activation sigmoid %x : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x6x6xf32, optimal>

// CHECK-NEXT: %r3 = clml.activation tanh %x : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x6x6xf32, optimal>
%r3 = clml.activation tanh %x : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x6x6xf32, optimal>

// CHECK-NEXT: %r4 = clml.activation relu %n : (!clml.tensor<1x8x6x6xf32, nchw>) -> !clml.tensor<1x8x6x6xf32, nchw>
%r4 = clml.activation relu %n : (!clml.tensor<1x8x6x6xf32, nchw>) -> !clml.tensor<1x8x6x6xf32, nchw>

// CHECK-NEXT: %r5 = clml.activation relu %h : (!clml.tensor<1x8x6x6xf32, nhwc>) -> !clml.tensor<1x8x6x6xf32, nhwc>
%r5 = clml.activation relu %h : (!clml.tensor<1x8x6x6xf32, nhwc>) -> !clml.tensor<1x8x6x6xf32, nhwc>

// CHECK-NEXT: %r6 = clml.binary add %x, %z : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x6x6xf32, optimal>
%r6 = clml.binary add %x, %z : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x6x6xf32, optimal>

// CHECK-NEXT: %r7 = clml.binary sub %x, %z : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x6x6xf32, optimal>
%r7 = clml.binary sub %x, %z : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x6x6xf32, optimal>

// CHECK-NEXT: %r8 = clml.binary mul %x, %z : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x6x6xf32, optimal>
%r8 = clml.binary mul %x, %z : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x6x6xf32, optimal>

// CHECK-NEXT: %r9 = clml.binary div %x, %z : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x6x6xf32, optimal>
%r9 = clml.binary div %x, %z : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x6x6xf32, optimal>

// CHECK-NEXT: %r10 = clml.binary min %x, %z : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x6x6xf32, optimal>
%r10 = clml.binary min %x, %z : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x6x6xf32, optimal>

// CHECK-NEXT: %r11 = clml.binary max %x, %z : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x6x6xf32, optimal>
%r11 = clml.binary max %x, %z : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x6x6xf32, optimal>

// CHECK-NEXT: %r12 = clml.binary mul %x, %k : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<1x8x6x6xf32, optimal, parameter>) -> !clml.tensor<1x8x6x6xf32, optimal>
%r12 = clml.binary mul %x, %k : (!clml.tensor<1x8x6x6xf32, optimal>, !clml.tensor<1x8x6x6xf32, optimal, parameter>) -> !clml.tensor<1x8x6x6xf32, optimal>

// CHECK-NEXT: %r13 = clml.clip %x {minimum = -1.000000e+00 : f64, maximum = 2.500000e+00 : f64} : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x6x6xf32, optimal>
%r13 = clml.clip %x {minimum = -1.000000e+00 : f64, maximum = 2.500000e+00 : f64} : (!clml.tensor<1x8x6x6xf32, optimal>) -> !clml.tensor<1x8x6x6xf32, optimal>

// CHECK-NEXT: %r14 = clml.clip %n {minimum = 0.000000e+00 : f64, maximum = 0x7ff0000000000000 : f64} : (!clml.tensor<1x8x6x6xf32, nchw>) -> !clml.tensor<1x8x6x6xf32, nchw>
%r14 = clml.clip %n {minimum = 0.000000e+00 : f64, maximum = 0x7ff0000000000000 : f64} : (!clml.tensor<1x8x6x6xf32, nchw>) -> !clml.tensor<1x8x6x6xf32, nchw>

%x_h = "test.op"() : () -> !clml.tensor<1x8x6x6xf16, optimal>
%z_h = "test.op"() : () -> !clml.tensor<1x8x6x6xf16, optimal>
%n_h = "test.op"() : () -> !clml.tensor<1x8x6x6xf16, nchw>
%h_h = "test.op"() : () -> !clml.tensor<1x8x6x6xf16, nhwc>
%k_h = "test.op"() : () -> !clml.tensor<1x8x6x6xf16, optimal, parameter>

// CHECK: %h0 = clml.activation relu %x_h : (!clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x8x6x6xf16, optimal>
%h0 = clml.activation relu %x_h : (!clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x8x6x6xf16, optimal>

// CHECK-NEXT: %h1 = clml.activation relu6 %x_h : (!clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x8x6x6xf16, optimal>
%h1 = clml.activation relu6 %x_h : (!clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x8x6x6xf16, optimal>

// CHECK-NEXT: %h2 = clml.activation sigmoid %x_h : (!clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x8x6x6xf16, optimal>
%h2 = clml.activation sigmoid %x_h : (!clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x8x6x6xf16, optimal>

// CHECK-NEXT: %h3 = clml.activation tanh %x_h : (!clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x8x6x6xf16, optimal>
%h3 = clml.activation tanh %x_h : (!clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x8x6x6xf16, optimal>

// CHECK-NEXT: %h4 = clml.activation relu %n_h : (!clml.tensor<1x8x6x6xf16, nchw>) -> !clml.tensor<1x8x6x6xf16, nchw>
%h4 = clml.activation relu %n_h : (!clml.tensor<1x8x6x6xf16, nchw>) -> !clml.tensor<1x8x6x6xf16, nchw>

// CHECK-NEXT: %h5 = clml.activation relu %h_h : (!clml.tensor<1x8x6x6xf16, nhwc>) -> !clml.tensor<1x8x6x6xf16, nhwc>
%h5 = clml.activation relu %h_h : (!clml.tensor<1x8x6x6xf16, nhwc>) -> !clml.tensor<1x8x6x6xf16, nhwc>

// CHECK-NEXT: %h6 = clml.binary add %x_h, %z_h : (!clml.tensor<1x8x6x6xf16, optimal>, !clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x8x6x6xf16, optimal>
%h6 = clml.binary add %x_h, %z_h : (!clml.tensor<1x8x6x6xf16, optimal>, !clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x8x6x6xf16, optimal>

// CHECK-NEXT: %h7 = clml.binary sub %x_h, %z_h : (!clml.tensor<1x8x6x6xf16, optimal>, !clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x8x6x6xf16, optimal>
%h7 = clml.binary sub %x_h, %z_h : (!clml.tensor<1x8x6x6xf16, optimal>, !clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x8x6x6xf16, optimal>

// CHECK-NEXT: %h8 = clml.binary mul %x_h, %z_h : (!clml.tensor<1x8x6x6xf16, optimal>, !clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x8x6x6xf16, optimal>
%h8 = clml.binary mul %x_h, %z_h : (!clml.tensor<1x8x6x6xf16, optimal>, !clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x8x6x6xf16, optimal>

// CHECK-NEXT: %h9 = clml.binary div %x_h, %z_h : (!clml.tensor<1x8x6x6xf16, optimal>, !clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x8x6x6xf16, optimal>
%h9 = clml.binary div %x_h, %z_h : (!clml.tensor<1x8x6x6xf16, optimal>, !clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x8x6x6xf16, optimal>

// CHECK-NEXT: %h10 = clml.binary min %x_h, %z_h : (!clml.tensor<1x8x6x6xf16, optimal>, !clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x8x6x6xf16, optimal>
%h10 = clml.binary min %x_h, %z_h : (!clml.tensor<1x8x6x6xf16, optimal>, !clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x8x6x6xf16, optimal>

// CHECK-NEXT: %h11 = clml.binary max %x_h, %z_h : (!clml.tensor<1x8x6x6xf16, optimal>, !clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x8x6x6xf16, optimal>
%h11 = clml.binary max %x_h, %z_h : (!clml.tensor<1x8x6x6xf16, optimal>, !clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x8x6x6xf16, optimal>

// CHECK-NEXT: %h12 = clml.binary mul %x_h, %k_h : (!clml.tensor<1x8x6x6xf16, optimal>, !clml.tensor<1x8x6x6xf16, optimal, parameter>) -> !clml.tensor<1x8x6x6xf16, optimal>
%h12 = clml.binary mul %x_h, %k_h : (!clml.tensor<1x8x6x6xf16, optimal>, !clml.tensor<1x8x6x6xf16, optimal, parameter>) -> !clml.tensor<1x8x6x6xf16, optimal>

// CHECK-NEXT: %h13 = clml.clip %x_h {minimum = -1.000000e+00 : f64, maximum = 2.500000e+00 : f64} : (!clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x8x6x6xf16, optimal>
%h13 = clml.clip %x_h {minimum = -1.000000e+00 : f64, maximum = 2.500000e+00 : f64} : (!clml.tensor<1x8x6x6xf16, optimal>) -> !clml.tensor<1x8x6x6xf16, optimal>

// CHECK-NEXT: %h14 = clml.clip %n_h {minimum = 0.000000e+00 : f64, maximum = 0x7ff0000000000000 : f64} : (!clml.tensor<1x8x6x6xf16, nchw>) -> !clml.tensor<1x8x6x6xf16, nchw>
%h14 = clml.clip %n_h {minimum = 0.000000e+00 : f64, maximum = 0x7ff0000000000000 : f64} : (!clml.tensor<1x8x6x6xf16, nchw>) -> !clml.tensor<1x8x6x6xf16, nchw>
