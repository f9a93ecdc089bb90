// RUN: clopt %s --target "pocl blocks=prefer" -p fuse,lower,tir-join-strips --split-input-file | filecheck %s
// RUN: clopt %s --target "pocl blocks=prefer" -p fuse,lower,schedule --split-input-file | filecheck %s --check-prefix=LOOPS
// RUN: clopt %s --target "adreno-740 texture=prefer" -p fuse,lower,tir-join-strips --split-input-file | filecheck %s --check-prefix=TEXELS

// A depthwise convolution and the 1x1 convolution behind it: one kernel, without a buffer for the
// result between them. Two equal pairs share it, and the kernels that no launch is left of have
// gone. The last convolution multiplies the result of a product, and stays a kernel.
// CHECK:       tir.func @relu_0(
// CHECK:       tir.func @conv_1_conv_2(%{{[a-z0-9_]*}}: memref<1x4x56x56x8xf32>, %d: memref<4x1x3x3x8xf32>, %p: memref<4x4x1x1x8x8xf32>, %b: memref<1x4x56x56x8xf32>) attributes {outputs = array<i64: 3>, constants = array<i64: 1, 2>, comment = "nn.conv, nn.conv; nn.conv, nn.conv, in 2 launches"}
// CHECK-NEXT:    memref.alloca() : memref<1x32x56x56xf32>
// CHECK-NEXT:    memref.alloca() : memref<1x32x56x56xf32>
// CHECK-NEXT:    %a = memref.alloca() : memref<1x4x56x56x8xf32>
// CHECK:         tir.block "conv" (
// CHECK:         tir.block "a" (
// CHECK:           memref.store %{{[0-9]*}}, %a[
// CHECK:         tir.block "conv_2" (
// CHECK:           memref.load %a[
// CHECK:         tir.block "out" (
// CHECK:       tir.func @conv_3(
// CHECK-NOT:   tir.func
// CHECK:       cl.program @main
// CHECK:         cl.enqueue_kernel @relu_0(%x, %t)
// CHECK-NOT:     cl.enqueue_kernel @conv_1(
// CHECK:         cl.enqueue_kernel @conv_1_conv_2(%t, %d, %p, %b)
// CHECK:         cl.enqueue_kernel @conv_1_conv_2(%b, %d, %p, %e)
// CHECK-NEXT:    cl.enqueue_kernel @conv_3(%e, %p, %0)

// A work-item computes all channels of its rows, which are its own, and then multiplies them.
// LOOPS:       tir.func @conv_1_conv_2({{.*}}plan = #tir.plan<"strips", 1, {local_size = [1, 1, 1], rows = 4,
// LOOPS-NEXT:    tir.for global_x %i2o = 0 to 14 {
// LOOPS-NEXT:      %a = memref.alloca() : memref<1x4x4x56x8xf32, #tir.scope<private>>
// LOOPS-NEXT:      tir.for parallel %i1o = 0 to 4 {
// LOOPS-NEXT:        tir.for parallel %i2 = 0 to 4 {
// LOOPS-NEXT:          tir.for parallel %i3o = 0 to 7 {
// LOOPS:                 memref.store %{{[0-9]*}}, %a[
// LOOPS:           tir.for parallel %i1oo = 0 to 2 {
// LOOPS:             memref.load %a[

// TEXELS-NOT:  tir.func @conv_1_conv_2
func.func @main(%x: tensor<1x32x56x56xf32>) -> tensor<1x32x56x56xf32> {
  %d = nn.constant dense<1.0> : tensor<32x1x3x3xf32>
  %p = nn.constant dense<1.0> : tensor<32x32x1x1xf32>
  %t = nn.unary relu %x : (tensor<1x32x56x56xf32>) -> tensor<1x32x56x56xf32>
  %a = nn.conv %t, %d {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 32 : i64} : (tensor<1x32x56x56xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x56x56xf32>
  %b = nn.conv %a, %p {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x32x56x56xf32>, tensor<32x32x1x1xf32>) -> tensor<1x32x56x56xf32>
  %c = nn.conv %b, %d {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 32 : i64} : (tensor<1x32x56x56xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x56x56xf32>
  %e = nn.conv %c, %p {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x32x56x56xf32>, tensor<32x32x1x1xf32>) -> tensor<1x32x56x56xf32>
  %y = nn.conv %e, %p {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x32x56x56xf32>, tensor<32x32x1x1xf32>) -> tensor<1x32x56x56xf32>
  func.return %y : tensor<1x32x56x56xf32>
}

// -----

// A result that somebody else reads, too, stays in its buffer. Pixels that are not the product's own
// need two kernels, and so do few rows with many weights, of which each strip would read all.
// CHECK:       cl.program @several
// CHECK-COUNT-3: cl.enqueue_kernel
// CHECK-NOT:   cl.enqueue_kernel
// CHECK:       cl.program @strided
// CHECK-COUNT-3: cl.enqueue_kernel
// CHECK-NOT:   cl.enqueue_kernel
// CHECK:       cl.program @few_rows
// CHECK-COUNT-3: cl.enqueue_kernel
// CHECK-NOT:   cl.enqueue_kernel
// LOOPS:       cl.program @few_rows
// TEXELS:      cl.program @few_rows
func.func @several(%x: tensor<1x32x56x56xf32>) -> (tensor<1x32x56x56xf32>, tensor<1x32x56x56xf32>) {
  %d = nn.constant dense<1.0> : tensor<32x1x3x3xf32>
  %p = nn.constant dense<1.0> : tensor<32x32x1x1xf32>
  %t = nn.unary relu %x : (tensor<1x32x56x56xf32>) -> tensor<1x32x56x56xf32>
  %a = nn.conv %t, %d {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 32 : i64} : (tensor<1x32x56x56xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x56x56xf32>
  %b = nn.conv %a, %p {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x32x56x56xf32>, tensor<32x32x1x1xf32>) -> tensor<1x32x56x56xf32>
  func.return %a, %b : tensor<1x32x56x56xf32>, tensor<1x32x56x56xf32>
}
func.func @strided(%x: tensor<1x32x56x56xf32>) -> tensor<1x32x28x28xf32> {
  %d = nn.constant dense<1.0> : tensor<32x1x3x3xf32>
  %p = nn.constant dense<1.0> : tensor<32x32x1x1xf32>
  %t = nn.unary relu %x : (tensor<1x32x56x56xf32>) -> tensor<1x32x56x56xf32>
  %a = nn.conv %t, %d {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 32 : i64} : (tensor<1x32x56x56xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x56x56xf32>
  %b = nn.conv %a, %p {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x32x56x56xf32>, tensor<32x32x1x1xf32>) -> tensor<1x32x28x28xf32>
  func.return %b : tensor<1x32x28x28xf32>
}
func.func @few_rows(%x: tensor<1x1024x7x7xf32>) -> tensor<1x1024x7x7xf32> {
  %d = nn.constant dense<1.0> : tensor<1024x1x3x3xf32>
  %p = nn.constant dense<1.0> : tensor<1024x1024x1x1xf32>
  %t = nn.unary relu %x : (tensor<1x1024x7x7xf32>) -> tensor<1x1024x7x7xf32>
  %a = nn.conv %t, %d {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 1024 : i64} : (tensor<1x1024x7x7xf32>, tensor<1024x1x3x3xf32>) -> tensor<1x1024x7x7xf32>
  %b = nn.conv %a, %p {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x1024x7x7xf32>, tensor<1024x1024x1x1xf32>) -> tensor<1x1024x7x7xf32>
  func.return %b : tensor<1x1024x7x7xf32>
}
