// RUN: clopt %s --target "adreno-740 clml=auto winograd=off" -p nn-choose --split-input-file | filecheck %s
// RUN: clopt %s --target "adreno-740 clml=auto winograd=off texture=off" -p nn-choose --split-input-file | filecheck %s
// RUN: clopt %s --target "adreno-740 clml=auto winograd=off clml_launch_microseconds=1e5" -p nn-choose --split-input-file | filecheck %s --check-prefix SLOW
// RUN: clopt %s --target "adreno-740 clml=auto winograd=off" -p nn-choose --explain --split-input-file -o %t 2>&1 | filecheck %s --check-prefix EXPLAIN
// RUN: clopt %s --target "adreno-740 clml=auto winograd=off" -p nn-choose,verify --split-input-file | filecheck %s --check-prefix BOTH

// SLOW-NOT: clml.

// The convolution goes to CLML, which has no exp and computes the small convolution no faster than
// a copy to it and one back take.
// CHECK-LABEL: clml.graph @clml_0(%x:
// CHECK:       clml.conv_activation relu
// CHECK-NEXT:  clml.copy
// CHECK-NEXT:  clml.return
// CHECK:       func.func @large_and_small
// CHECK:       %z = clml.call @clml_0(%x)
// CHECK-NEXT:  %e = nn.unary exp %z
// CHECK:       %s = nn.conv %e, %v
// CHECK-NEXT:  func.return %s
// EXPLAIN:       offload: 3 estimated, 4 rule
// EXPLAIN-NEXT:  {{[0-9.]+}} us in all by the model, {{[0-9.]+}} us without CLML, nothing is cheaper
// EXPLAIN-NEXT:  CLML in large_and_small: 2 of 4 operations in 1 graph
// EXPLAIN-NEXT:  site  nodes {{ *}}choice {{ *}}us {{ *}}why {{ *}}alternatives {{ *}}remark
// EXPLAIN-NEXT:  nn.unary {{ *}}clml then kernels {{ *[0-9.]+}} {{ *}}estimated  kernels {{[0-9.]+}}
// EXPLAIN-NEXT:  nn.conv {{ *}}kernels {{ *[0-9.]+}} {{ *}}estimated  clml
// EXPLAIN-NEXT:  nn.unary ... nn.unary {{ *}}graph of clml {{ *[0-9.]+}} {{ *}}estimated  kernels {{[0-9.]+}}
// EXPLAIN-NEXT:  nn.conv: conv {{ *}}clml_0 {{ *}}rule {{ *}}clml.conv_activation
// EXPLAIN:       nn.unary: unary exp {{ *}}kernels {{ *}}rule {{ *}}not by CLML: CLML has the functions
// EXPLAIN-NEXT:  nn.conv: conv {{ *}}kernels {{ *}}rule {{ *}}not by CLML: our kernels cost {{[0-9.]+}} us less by the model
// EXPLAIN-NEXT:  layout: 2 estimated
// EXPLAIN:       nn.unary  plain, clml then kernels {{ *[0-9.]+}} {{ *}}estimated {{.*}} 1x256x56x56
// EXPLAIN-NEXT:  nn.conv {{ *}}plain {{ *[0-9.]+}} {{ *}}estimated {{.*}} 1x4x56x56
func.func @large_and_small(%x: tensor<1x256x56x56xf32>) -> tensor<1x4x56x56xf32> {
  %w = nn.constant dense<1.0> : tensor<256x256x3x3xf32>
  %y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x256x56x56xf32>, tensor<256x256x3x3xf32>) -> tensor<1x256x56x56xf32>
  %z = nn.unary relu %y : (tensor<1x256x56x56xf32>) -> tensor<1x256x56x56xf32>
  %e = nn.unary exp %z : (tensor<1x256x56x56xf32>) -> tensor<1x256x56x56xf32>
  %v = nn.constant dense<1.0> : tensor<4x256x1x1xf32>
  %s = nn.conv %e, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x256x56x56xf32>, tensor<4x256x1x1xf32>) -> tensor<1x4x56x56xf32>
  func.return %s : tensor<1x4x56x56xf32>
}

// -----

// What is in CLML already stays there for a cheap operation: the pool is no island.
// CHECK-LABEL: clml.graph @clml_0(%x:
// CHECK:       clml.conv
// CHECK-NEXT:  clml.pool
// CHECK-NEXT:  {{.*}} = clml.constant
// CHECK-NEXT:  clml.conv
// CHECK-NEXT:  clml.copy
// CHECK-NEXT:  clml.return
func.func @pool_between(%x: tensor<1x256x56x56xf32>) -> tensor<1x256x28x28xf32> {
  %w = nn.constant dense<1.0> : tensor<256x256x3x3xf32>
  %y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x256x56x56xf32>, tensor<256x256x3x3xf32>) -> tensor<1x256x56x56xf32>
  %p = nn.pool max %y {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x256x56x56xf32>) -> tensor<1x256x28x28xf32>
  %v = nn.constant dense<2.0> : tensor<256x256x3x3xf32>
  %z = nn.conv %p, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x256x28x28xf32>, tensor<256x256x3x3xf32>) -> tensor<1x256x28x28xf32>
  func.return %z : tensor<1x256x28x28xf32>
}

// -----

// The same pool between kernels that only we have stays with them.
// CHECK-LABEL: func.func @island
// CHECK:       nn.unary exp
// CHECK:       nn.pool max
// CHECK:       nn.unary exp
func.func @island(%x: tensor<1x32x56x56xf32>) -> tensor<1x32x28x28xf32> {
  %y = nn.unary exp %x : (tensor<1x32x56x56xf32>) -> tensor<1x32x56x56xf32>
  %p = nn.pool max %y {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x32x56x56xf32>) -> tensor<1x32x28x28xf32>
  %z = nn.unary exp %p : (tensor<1x32x28x28xf32>) -> tensor<1x32x28x28xf32>
  func.return %z : tensor<1x32x28x28xf32>
}

// -----

// A transposed convolution has two forms, and the choice knows both: CLML's own, or our kernels'
// ordinary convolution with interleaved results. One solution gives the graph, and the layouts of
// what stays ours.
// CHECK-LABEL: clml.graph @clml_0(%x:
// CHECK:       clml.conv {{.*}}transpose
// CHECK:       func.func @transposed
// CHECK-NOT:   nn.conv_transpose
// SLOW-LABEL:  func.func @transposed
// SLOW:        nn.depth_to_space
// BOTH-LABEL:  func.func @transposed
// BOTH:        [[y:%.*]] = clml.call @clml_0(%x) : (tensor<1x512x14x14xf32>) -> tensor<1x512x28x28xf32>
// BOTH:        %e = nn.fused [[y]] : {{.*}} -> tensor<1x512x28x28xf32, #nn.layout<[1 by 4], #tir.scope<texture, [3]>>> {
// BOTH:          nn.unary exp
// BOTH:        nn.fused %e, {{.*}} -> tensor<1x4x28x28xf32> {
func.func @transposed(%x: tensor<1x512x14x14xf32>) -> tensor<1x4x28x28xf32> {
  %w = nn.constant dense<1.0> : tensor<512x512x4x4xf32>
  %y = nn.conv_transpose %x, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<1x512x14x14xf32>, tensor<512x512x4x4xf32>) -> tensor<1x512x28x28xf32>
  %e = nn.unary exp %y : (tensor<1x512x28x28xf32>) -> tensor<1x512x28x28xf32>
  %v = nn.constant dense<1.0> : tensor<4x512x3x3xf32>
  %s = nn.conv %e, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x512x28x28xf32>, tensor<4x512x3x3xf32>) -> tensor<1x4x28x28xf32>
  func.return %s : tensor<1x4x28x28xf32>
}
