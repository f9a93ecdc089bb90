// RUN: clopt %s --target nvidia -p fuse,lower,tir-choose-plan | filecheck %s
// RUN: clopt %s --target "nvidia dot_product=off" -p fuse,lower,tir-choose-plan | filecheck %s --check-prefix=OFF
// RUN: clopt %s --target nvidia -p fuse,lower,schedule -t opencl-c | filecheck %s --check-prefix=SOURCE

// Many results keep a GPU busy with a work-item for each tile; of few, a group shares the sums.
// CHECK: tir.func @conv_1(%{{[a-z_0-9]*}}: memref<8x16x56x56x4xi8>, %{{[a-z_0-9]*}}: memref<64x64x1x1xi8>
// CHECK-SAME: plan = #tir.plan<"dot-texels", 1,
// CHECK: tir.func @conv_3(%{{[a-z_0-9]*}}: memref<1x32x7x7x4xi8>
// CHECK-SAME: plan = #tir.plan<"dot-parts", 1,
// OFF-NOT: "dot-

// Words of activations, and four words of weights at once.
// SOURCE: __kernel void conv_1(
// SOURCE-NEXT: __global const char *restrict
// SOURCE: = *(__global const int *)(
// SOURCE: dp4a4(conv_0_0, (int4)({{[a-z_0-9]*}}), {{[a-z_0-9]*}});
// The parts of a sum meet in local memory.
// SOURCE: __kernel void conv_3(
// SOURCE: __local int conv_rf[
// SOURCE: barrier(CLK_LOCAL_MEM_FENCE);
func.func @main(%x: tensor<8x64x56x56xf32>, %z: tensor<1x128x7x7xf32>) -> (tensor<8x64x56x56xf32>, tensor<1x64x7x7xf32>) {
  %one = nn.constant dense<1.0> : tensor<f32>
  %zero = nn.constant dense<0> : tensor<ui8>
  %q = nn.quantize half_even %x, %one, %zero : (tensor<8x64x56x56xf32>, tensor<f32>, tensor<ui8>) -> tensor<8x64x56x56xui8>
  %w = nn.constant dense<1> : tensor<64x64x1x1xi8>
  %y = nn.conv %q, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<8x64x56x56xui8>, tensor<64x64x1x1xi8>) -> tensor<8x64x56x56xi32>
  %f = nn.cast %y {to = f32} : (tensor<8x64x56x56xi32>) -> tensor<8x64x56x56xf32>
  %p = nn.quantize half_even %z, %one, %zero : (tensor<1x128x7x7xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x128x7x7xui8>
  %v = nn.constant dense<1> : tensor<64x128x3x3xi8>
  %u = nn.conv %p, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x128x7x7xui8>, tensor<64x128x3x3xi8>) -> tensor<1x64x7x7xi32>
  %g = nn.cast %u {to = f32} : (tensor<1x64x7x7xi32>) -> tensor<1x64x7x7xf32>
  func.return %f, %g : tensor<8x64x56x56xf32>, tensor<1x64x7x7xf32>
}
