// RUN: clopt %s -p nn-to-cl,nn-to-tir,tir-choose-plan,tir-apply-plan --split-input-file | filecheck %s

// A 3x3 convolution: a work-item computes a texel at four columns. The loop over kernel rows is not
// unrolled, since that would double the registers.
// CHECK-LABEL: tir.func @conv_1(
// CHECK:   tir.for group_z %group_z = 0 to 2 {
// CHECK:   tir.for group_y %group_y = 0 to 7 {
// CHECK:   tir.for group_x %group_x = 0 to 7 {
// CHECK:   tir.for local_z %item_z = 0 to 8 {
// CHECK:   tir.for local_y %item_y = 0 to 8 {
// CHECK:   tir.for local_x %item_x = 0 to 2 {
// CHECK:   tir.for serial %co = 0 to 16 {
// CHECK:   tir.for rolled %kh = 0 to 3 {
// CHECK:   tir.for unrolled %kw = 0 to 3 {
// CHECK:   tir.for unrolled %w = 0 to 4 {
// CHECK:   tir.for unrolled %ci = 0 to 4 {
// CHECK:   tir.for vectorized %oi = 0 to 4 {
// CHECK:     tir.block "conv"
// CHECK:   tir.for unrolled %i3i = 0 to 4 {
// CHECK:   tir.for vectorized %i1i = 0 to 4 {
// CHECK:     tir.block "out"
module attributes {cl.target = #cl.target<"phone", {device_type = "gpu", preferred_work_group = 128 : i64, registers = 96 : i64, rolled_loops = true, texture = "prefer", images = true, max_image_width = 16384 : i64, max_image_height = 16384 : i64}>} {
  func.func @main(%x: tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32> {
    %p = nn.relayout %x : tensor<1x64x56x56xf32> -> tensor<1x64x56x56xf32, #nn.layout<[1 by 4], #tir.scope<texture, [3]>>>
    %w = nn.constant dense<1.0> : tensor<64x64x3x3xf32>
    %v = nn.relayout %w : tensor<64x64x3x3xf32> -> tensor<64x64x3x3xf32, #nn.layout<[1 by 4, 0 by 4], #tir.scope<texture, [1]>>>
    %y = nn.fused %p, %v : (tensor<1x64x56x56xf32, #nn.layout<[1 by 4], #tir.scope<texture, [3]>>>, tensor<64x64x3x3xf32, #nn.layout<[1 by 4, 0 by 4], #tir.scope<texture, [1]>>>) -> tensor<1x64x56x56xf32, #nn.layout<[1 by 4], #tir.scope<texture, [3]>>> {
    ^bb0(%a: tensor<1x64x56x56xf32>, %f: tensor<64x64x3x3xf32>):
      %r = nn.conv %a, %f {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32>
      nn.yield %r : tensor<1x64x56x56xf32>
    }
    %z = nn.relayout %y : tensor<1x64x56x56xf32, #nn.layout<[1 by 4], #tir.scope<texture, [3]>>> -> tensor<1x64x56x56xf32>
    func.return %z : tensor<1x64x56x56xf32>
  }
}

// -----

// Without a window two texels at seven columns fit: few reads for each product.
// CHECK-LABEL: tir.func @conv_1(
// CHECK:   tir.for group_z %group_z = 0 to 2 {
// CHECK:   tir.for group_y %group_y = 0 to 7 {
// CHECK:   tir.for local_z %item_z = 0 to 8 {
// CHECK:   tir.for local_y %item_y = 0 to 4 {
// CHECK:   tir.for local_x %item_x = 0 to 4 {
// CHECK:   tir.for rolled %co = 0 to 16 {
// CHECK:   tir.for unrolled %oo = 0 to 2 {
// CHECK:   tir.for unrolled %w = 0 to 7 {
// CHECK:   tir.for unrolled %ci = 0 to 4 {
// CHECK:   tir.for vectorized %oi = 0 to 4 {
// CHECK:     tir.block "conv"
// CHECK:   tir.for unrolled %i1oi = 0 to 2 {
// CHECK:   tir.for unrolled %i3i = 0 to 7 {
// CHECK:   tir.for vectorized %i1i = 0 to 4 {
// CHECK:     tir.block "out"
module attributes {cl.target = #cl.target<"phone", {device_type = "gpu", preferred_work_group = 128 : i64, registers = 96 : i64, rolled_loops = true, texture = "prefer", images = true, max_image_width = 16384 : i64, max_image_height = 16384 : i64}>} {
  func.func @main(%x: tensor<1x64x28x28xf32>) -> tensor<1x128x28x28xf32> {
    %p = nn.relayout %x : tensor<1x64x28x28xf32> -> tensor<1x64x28x28xf32, #nn.layout<[1 by 4], #tir.scope<texture, [3]>>>
    %w = nn.constant dense<1.0> : tensor<128x64x1x1xf32>
    %v = nn.relayout %w : tensor<128x64x1x1xf32> -> tensor<128x64x1x1xf32, #nn.layout<[1 by 4, 0 by 4], #tir.scope<texture, [1]>>>
    %y = nn.fused %p, %v : (tensor<1x64x28x28xf32, #nn.layout<[1 by 4], #tir.scope<texture, [3]>>>, tensor<128x64x1x1xf32, #nn.layout<[1 by 4, 0 by 4], #tir.scope<texture, [1]>>>) -> tensor<1x128x28x28xf32, #nn.layout<[1 by 4], #tir.scope<texture, [3]>>> {
    ^bb0(%a: tensor<1x64x28x28xf32>, %f: tensor<128x64x1x1xf32>):
      %r = nn.conv %a, %f {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x64x28x28xf32>, tensor<128x64x1x1xf32>) -> tensor<1x128x28x28xf32>
      nn.yield %r : tensor<1x128x28x28xf32>
    }
    %z = nn.relayout %y : tensor<1x128x28x28xf32, #nn.layout<[1 by 4], #tir.scope<texture, [3]>>> -> tensor<1x128x28x28xf32>
    func.return %z : tensor<1x128x28x28xf32>
  }
}

// -----

// A depthwise convolution is short: its whole window is unrolled.
// CHECK-LABEL: tir.func @conv_1(
// CHECK:   tir.for group_y %group_y = 0 to 7 {
// CHECK:   tir.for group_x %group_x = 0 to 7 {
// CHECK:   tir.for local_z %item_z = 0 to 8 {
// CHECK:   tir.for local_y %item_y = 0 to 8 {
// CHECK:   tir.for local_x %item_x = 0 to 2 {
// CHECK:   tir.for unrolled %kh = 0 to 3 {
// CHECK:   tir.for unrolled %kw = 0 to 3 {
// CHECK:   tir.for unrolled %w = 0 to 4 {
// CHECK:   tir.for vectorized %oi = 0 to 4 {
// CHECK:     tir.block "conv"
// CHECK:   tir.for unrolled %i3i = 0 to 4 {
// CHECK:   tir.for vectorized %i1i = 0 to 4 {
// CHECK:     tir.block "out"
module attributes {cl.target = #cl.target<"phone", {device_type = "gpu", preferred_work_group = 128 : i64, registers = 96 : i64, rolled_loops = true, texture = "prefer", images = true, max_image_width = 16384 : i64, max_image_height = 16384 : i64}>} {
  func.func @main(%x: tensor<1x32x56x56xf32>) -> tensor<1x32x56x56xf32> {
    %p = nn.relayout %x : tensor<1x32x56x56xf32> -> tensor<1x32x56x56xf32, #nn.layout<[1 by 4], #tir.scope<texture, [3]>>>
    %w = nn.constant dense<1.0> : tensor<32x1x3x3xf32>
    %v = nn.relayout %w : tensor<32x1x3x3xf32> -> tensor<32x1x3x3xf32, #nn.layout<[0 by 4], #tir.scope<texture, [1]>>>
    %y = nn.fused %p, %v : (tensor<1x32x56x56xf32, #nn.layout<[1 by 4], #tir.scope<texture, [3]>>>, tensor<32x1x3x3xf32, #nn.layout<[0 by 4], #tir.scope<texture, [1]>>>) -> tensor<1x32x56x56xf32, #nn.layout<[1 by 4], #tir.scope<texture, [3]>>> {
    ^bb0(%a: tensor<1x32x56x56xf32>, %f: tensor<32x1x3x3xf32>):
      %r = nn.conv %a, %f {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 32 : i64} : (tensor<1x32x56x56xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x56x56xf32>
      nn.yield %r : tensor<1x32x56x56xf32>
    }
    %z = nn.relayout %y : tensor<1x32x56x56xf32, #nn.layout<[1 by 4], #tir.scope<texture, [3]>>> -> tensor<1x32x56x56xf32>
    func.return %z : tensor<1x32x56x56xf32>
  }
}

// -----

// A pool has no second operand.
// CHECK-LABEL: tir.func @pool_max_1(
// CHECK:   tir.for group_y %group_y = 0 to 7 {
// CHECK:   tir.for group_x %group_x = 0 to 2 {
// CHECK:   tir.for local_z %item_z = 0 to 8 {
// CHECK:   tir.for local_y %item_y = 0 to 4 {
// CHECK:   tir.for local_x %item_x = 0 to 4 {
// CHECK:   tir.for rolled %kh = 0 to 2 {
// CHECK:   tir.for unrolled %kw = 0 to 2 {
// CHECK:   tir.for unrolled %w = 0 to 4 {
// CHECK:   tir.for vectorized %ci = 0 to 4 {
// CHECK:     tir.block "max_pool"
// CHECK:   tir.for unrolled %i3i = 0 to 4 {
// CHECK:   tir.for vectorized %i1i = 0 to 4 {
// CHECK:     tir.block "out"
module attributes {cl.target = #cl.target<"phone", {device_type = "gpu", preferred_work_group = 128 : i64, registers = 96 : i64, rolled_loops = true, texture = "prefer", images = true, max_image_width = 16384 : i64, max_image_height = 16384 : i64}>} {
  func.func @main(%x: tensor<1x32x56x56xf32>) -> tensor<1x32x28x28xf32> {
    %p = nn.relayout %x : tensor<1x32x56x56xf32> -> tensor<1x32x56x56xf32, #nn.layout<[1 by 4], #tir.scope<texture, [3]>>>
    %y = nn.fused %p : (tensor<1x32x56x56xf32, #nn.layout<[1 by 4], #tir.scope<texture, [3]>>>) -> tensor<1x32x28x28xf32, #nn.layout<[1 by 4], #tir.scope<texture, [3]>>> {
    ^bb0(%a: tensor<1x32x56x56xf32>):
      %r = nn.pool max %a {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x32x56x56xf32>) -> tensor<1x32x28x28xf32>
      nn.yield %r : tensor<1x32x28x28xf32>
    }
    %z = nn.relayout %y : tensor<1x32x28x28xf32, #nn.layout<[1 by 4], #tir.scope<texture, [3]>>> -> tensor<1x32x28x28xf32>
    func.return %z : tensor<1x32x28x28xf32>
  }
}

// -----

// Elementwise: a texel for each work-item; the groups are of one axis, as 35 is odd.
// CHECK-LABEL: tir.func @relu_1(
// CHECK:   tir.for group_x %group = 0 to 20 {
// CHECK:   tir.for local_x %item = 0 to 128 {
// CHECK:   tir.for vectorized %i1i = 0 to 4 {
// CHECK:     tir.block "out"
module attributes {cl.target = #cl.target<"phone", {device_type = "gpu", preferred_work_group = 128 : i64, registers = 96 : i64, rolled_loops = true, texture = "prefer", images = true, max_image_width = 16384 : i64, max_image_height = 16384 : i64}>} {
  func.func @main(%x: tensor<1x6x35x35xf32>) -> tensor<1x6x35x35xf32> {
    %p = nn.relayout %x : tensor<1x6x35x35xf32> -> tensor<1x6x35x35xf32, #nn.layout<[1 by 4], #tir.scope<texture, [3]>>>
    %y = nn.fused %p : (tensor<1x6x35x35xf32, #nn.layout<[1 by 4], #tir.scope<texture, [3]>>>) -> tensor<1x6x35x35xf32, #nn.layout<[1 by 4], #tir.scope<texture, [3]>>> {
    ^bb0(%a: tensor<1x6x35x35xf32>):
      %r = nn.unary relu %a : (tensor<1x6x35x35xf32>) -> tensor<1x6x35x35xf32>
      nn.yield %r : tensor<1x6x35x35xf32>
    }
    %z = nn.relayout %y : tensor<1x6x35x35xf32, #nn.layout<[1 by 4], #tir.scope<texture, [3]>>> -> tensor<1x6x35x35xf32>
    func.return %z : tensor<1x6x35x35xf32>
  }
}

// -----

// A sum over 50 columns of texels: each step takes a texel, the last one two of its elements.
// CHECK-LABEL: tir.func @matmul_2(
// CHECK:   tir.for rolled %ko = 0 to 13 {
// CHECK:   tir.for unrolled %ki = 0 to 4 {
// CHECK:   tir.for vectorized %ni = 0 to 4 {
// CHECK:     tir.block "matmul"
module attributes {cl.target = #cl.target<"phone", {device_type = "gpu", preferred_work_group = 128 : i64, registers = 96 : i64, rolled_loops = true, texture = "prefer", images = true, max_image_width = 16384 : i64, max_image_height = 16384 : i64}>} {
  func.func @main(%x: tensor<50x50xf32>, %y: tensor<50x64xf32>) -> tensor<50x64xf32> {
    %p = nn.relayout %x : tensor<50x50xf32> -> tensor<50x50xf32, #nn.layout<[1 by 4], #tir.scope<texture, [1]>>>
    %q = nn.relayout %y : tensor<50x64xf32> -> tensor<50x64xf32, #nn.layout<[1 by 4], #tir.scope<texture, [1]>>>
    %r = nn.fused %p, %q : (tensor<50x50xf32, #nn.layout<[1 by 4], #tir.scope<texture, [1]>>>, tensor<50x64xf32, #nn.layout<[1 by 4], #tir.scope<texture, [1]>>>) -> tensor<50x64xf32, #nn.layout<[1 by 4], #tir.scope<texture, [1]>>> {
    ^bb0(%a: tensor<50x50xf32>, %b: tensor<50x64xf32>):
      %s = nn.matmul %a, %b : (tensor<50x50xf32>, tensor<50x64xf32>) -> tensor<50x64xf32>
      nn.yield %s : tensor<50x64xf32>
    }
    %z = nn.relayout %r : tensor<50x64xf32, #nn.layout<[1 by 4], #tir.scope<texture, [1]>>> -> tensor<50x64xf32>
    func.return %z : tensor<50x64xf32>
  }
}
