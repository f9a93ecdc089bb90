// RUN: clopt %s --target "pocl blocks=prefer" -p 'recall-choices{tuning="%S/Inputs/join_strips_tuned.jsonl" device="A processor" driver="1.0"},fuse,lower,tir-join-strips' | filecheck %s
// RUN: clopt %s --target "pocl blocks=prefer" -p fuse,lower,tir-join-strips | filecheck %s --check-prefix=MODEL
// RUN: clopt %s --target "pocl blocks=prefer" -p fuse,lower,tir-join-strips --tuning %S/Inputs/join_strips_tuned.jsonl 2>&1 | filecheck %s --check-prefix=ELSEWHERE

// The model joins a depthwise convolution and the 1x1 convolution behind it where rows are many and
// weights few. By the database it is wrong about the first two pairs.
// CHECK-NOT: clopt.remarks

// On another device the times are a starting point.
// ELSEWHERE: remark: the module has each fusion that was fastest measured on A processor, driver 1.0; run clopt-tune to

// With the joined kernel the network takes longer.
// CHECK:         cl.program @slow_together
// CHECK-NOT:       cl.enqueue_kernel @conv_{{[0-9]+}}_conv_
// CHECK:           cl.enqueue_kernel @conv_{{[0-9]+}}(
// MODEL:         cl.program @slow_together
// MODEL-NOT:       cl.enqueue_kernel @conv_{{[0-9]+}}(
// MODEL:           cl.enqueue_kernel @conv_{{[0-9]+}}_conv_
// ELSEWHERE:     cl.program @slow_together
// ELSEWHERE-NOT:   cl.enqueue_kernel @conv_{{[0-9]+}}_conv_
// ELSEWHERE:       cl.enqueue_kernel @conv_{{[0-9]+}}(
func.func @slow_together(%x: tensor<1x32x56x56xf32>) -> tensor<1x32x56x56xf32> {
  %d = nn.constant dense<1.0> : tensor<32x1x3x3xf32>
  %p = nn.constant dense<1.0> : tensor<32x32x1x1xf32>
  %t = nn.unary relu %x : (tensor<1x32x56x56xf32>) -> tensor<1x32x56x56xf32>
  %a = nn.conv %t, %d {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 32 : i64} : (tensor<1x32x56x56xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x56x56xf32>
  %b = nn.conv %a, %p {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x32x56x56xf32>, tensor<32x32x1x1xf32>) -> tensor<1x32x56x56xf32>
  func.return %b : tensor<1x32x56x56xf32>
}

// Joined, it takes less time, although each strip reads all weights.
// CHECK:         cl.program @fast_together
// CHECK-NOT:       cl.enqueue_kernel @conv_{{[0-9]+}}(
// CHECK:           cl.enqueue_kernel @conv_{{[0-9]+}}_conv_
// MODEL:         cl.program @fast_together
// MODEL-NOT:       cl.enqueue_kernel @conv_{{[0-9]+}}_conv_
// MODEL:           cl.enqueue_kernel @conv_{{[0-9]+}}(
// ELSEWHERE:     cl.program @fast_together
// ELSEWHERE-NOT:   cl.enqueue_kernel @conv_{{[0-9]+}}(
// ELSEWHERE:       cl.enqueue_kernel @conv_{{[0-9]+}}_conv_
func.func @fast_together(%x: tensor<1x512x7x7xf32>) -> tensor<1x512x7x7xf32> {
  %d = nn.constant dense<1.0> : tensor<512x1x3x3xf32>
  %p = nn.constant dense<1.0> : tensor<512x512x1x1xf32>
  %t = nn.unary relu %x : (tensor<1x512x7x7xf32>) -> tensor<1x512x7x7xf32>
  %a = nn.conv %t, %d {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 512 : i64} : (tensor<1x512x7x7xf32>, tensor<512x1x3x3xf32>) -> tensor<1x512x7x7xf32>
  %b = nn.conv %a, %p {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x512x7x7xf32>, tensor<512x512x1x1xf32>) -> tensor<1x512x7x7xf32>
  func.return %b : tensor<1x512x7x7xf32>
}

// The gain is within the noise.
// CHECK:         cl.program @within_the_noise
// CHECK-NOT:       cl.enqueue_kernel @conv_{{[0-9]+}}(
// CHECK:           cl.enqueue_kernel @conv_{{[0-9]+}}_conv_
// MODEL:         cl.program @within_the_noise
// MODEL-NOT:       cl.enqueue_kernel @conv_{{[0-9]+}}(
// MODEL:           cl.enqueue_kernel @conv_{{[0-9]+}}_conv_
// ELSEWHERE:     cl.program @within_the_noise
// ELSEWHERE-NOT:   cl.enqueue_kernel @conv_{{[0-9]+}}(
// ELSEWHERE:       cl.enqueue_kernel @conv_{{[0-9]+}}_conv_
func.func @within_the_noise(%x: tensor<1x32x28x28xf32>) -> tensor<1x32x28x28xf32> {
  %d = nn.constant dense<1.0> : tensor<32x1x3x3xf32>
  %p = nn.constant dense<1.0> : tensor<32x32x1x1xf32>
  %t = nn.unary relu %x : (tensor<1x32x28x28xf32>) -> tensor<1x32x28x28xf32>
  %a = nn.conv %t, %d {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 32 : i64} : (tensor<1x32x28x28xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x28x28xf32>
  %b = nn.conv %a, %p {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x32x28x28xf32>, tensor<32x32x1x1xf32>) -> tensor<1x32x28x28xf32>
  func.return %b : tensor<1x32x28x28xf32>
}
