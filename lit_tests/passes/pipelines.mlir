// RUN: clopt %s -p simplify | filecheck %s --check-prefix=SIMPLIFY
// RUN: clopt %s -p simplify,fuse | filecheck %s --check-prefix=FUSE
// RUN: clopt %s -p simplify,fuse,lower | filecheck %s --check-prefix=LOWER
// RUN: clopt %s -p simplify,fuse,lower,schedule | filecheck %s --check-prefix=SCHEDULE
// RUN: clopt %s -p opencl | filecheck %s --check-prefix=SCHEDULE

// The batch norm is part of the weights, what nothing reads is gone, equal operations are one.
// SIMPLIFY-LABEL: func.func @main
// SIMPLIFY-NOT:     batch_norm
// SIMPLIFY:         [[a:%.*]] = nn.conv %x, %{{.*}}, %{{.*}}pads = array<i64: 1, 1, 1, 1>
// SIMPLIFY-NEXT:    [[b:%.*]] = nn.unary relu [[a]]
// SIMPLIFY-NEXT:    [[c:%.*]] = nn.binary add [[b]], [[b]]
// SIMPLIFY-NEXT:    func.return [[c]]

// Two kernels: the border, and all of the rest.
// FUSE-LABEL: func.func @main
// FUSE:         [[p:%.*]] = nn.fused %x
// FUSE-NEXT:    ^
// FUSE-NEXT:      nn.pad
// FUSE:         [[y:%.*]] = nn.fused {{.*}}[[p]]
// FUSE:           nn.conv
// FUSE-NEXT:      nn.unary relu
// FUSE-NEXT:      nn.binary add
// FUSE:         func.return [[y]]

// LOWER-NOT:   nn.
// LOWER:       tir.func @pad_0
// LOWER:       tir.func @conv_1
// LOWER:         tir.block "conv"
// LOWER:         tir.block "out"
// LOWER:       cl.program @main
// LOWER:         cl.enqueue_kernel @pad_0
// LOWER-NEXT:    cl.enqueue_kernel @conv_1
// LOWER-NEXT:    cl.return

// SCHEDULE-NOT:   tir.block
// SCHEDULE:       tir.func @pad_0
// SCHEDULE-SAME:    global_size = array<i64:
// SCHEDULE:       tir.func @conv_1
// SCHEDULE-SAME:    global_size = array<i64:
// SCHEDULE:         tir.for vectorized
// SCHEDULE:       cl.program @main
// SCHEDULE:         cl.enqueue_kernel @conv_1
module attributes {cl.target = #cl.target<"cpu", {}>} {
  func.func @main(%x: tensor<1x2x8x8xf32>) -> tensor<1x4x8x8xf32> {
    %w = nn.constant dense<0.5> : tensor<4x2x3x3xf32>
    %two = nn.constant dense<2.0> : tensor<4xf32>
    %one = nn.constant dense<1.0> : tensor<4xf32>
    %a = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x2x8x8xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x8x8xf32>
    %b = nn.batch_norm %a, %two, %one, %one, %two {epsilon = 0.0 : f64} : (tensor<1x4x8x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
    %c = nn.unary relu %b : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
    %d = nn.unary relu %b : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
    %unused = nn.unary exp %b : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
    %e = nn.binary add %c, %d : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
    func.return %e : tensor<1x4x8x8xf32>
  }
}
