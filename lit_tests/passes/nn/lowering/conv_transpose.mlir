// RUN: clopt %s -p nn-fuse,nn-to-cl,nn-to-tir --split-input-file | filecheck %s

// Stride 2 and a kernel of 4: two taps meet each output, no zeros are multiplied.
// CHECK-LABEL: tir.func @conv_transpose_0
func.func @strided(%x: tensor<1x2x5xf32>, %w: tensor<2x3x4xf32>) -> tensor<1x3x10xf32> {
  %r = nn.conv_transpose %x, %w {strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 1, 1>, output_padding = array<i64: 0>} : (tensor<1x2x5xf32>, tensor<2x3x4xf32>) -> tensor<1x3x10xf32>
  func.return %r : tensor<1x3x10xf32>
}
// CHECK: %conv_transpose = memref.alloca() : memref<1x3x10xf32>
// CHECK: tir.block "conv_transpose" (%n_1: spatial 1, %o_1: spatial 3, %w_2: spatial 10, %c_1: reduce 2, %kw_1: reduce 2) = {{.*}} init [0.000000e+00 : f32] {
// CHECK: memref.load %conv_transpose[%{{.*}}, %o_1, %w_2] : memref<1x3x10xf32>
// CHECK: affine.apply affine_map<(d0, d1) -> ((((d0 + 1) floordiv 2) + (d1 * -1)))> (%w_2, %kw_1)
// CHECK: arith.cmpi sge, %{{.*}}, %{{.*}} : index
// CHECK: arith.cmpi slt, %{{.*}}, %{{.*}} : index
// CHECK: arith.andi %{{.*}}, %{{.*}} : i1
// CHECK: scf.if %{{.*}} -> (f32) {
// CHECK: memref.load %x[%{{.*}}, %c_1, %{{.*}}] : memref<1x2x5xf32>
// CHECK: affine.apply affine_map<(d0, d1) -> ((((d0 + 1) mod 2) + (d1 * 2)))> (%w_2, %kw_1)
// CHECK: memref.load %w[%c_1, %o_1, %{{.*}}] : memref<2x3x4xf32>
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK: } else {
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: memref.store %{{.*}}, %conv_transpose[%{{.*}}, %o_1, %w_2] : memref<1x3x10xf32>
// CHECK: tir.block "out" (%i0_1: spatial 1, %i1_1: spatial 3, %i2_1: spatial 10) = {{.*}} {
// CHECK: memref.load %conv_transpose[%{{.*}}, %i1_1, %i2_1] : memref<1x3x10xf32>
// CHECK: memref.store %{{.*}}, %r[%{{.*}}, %i1_1, %i2_1] : memref<1x3x10xf32>

// -----

// Where stride and dilation have a common factor, taps are asked whether they meet an input.
// CHECK-LABEL: tir.func @conv_transpose_0
func.func @common_factor(%x: tensor<1x2x5xf32>, %w: tensor<2x3x2xf32>) -> tensor<1x3x11xf32> {
  %r = nn.conv_transpose %x, %w {strides = array<i64: 2>, dilations = array<i64: 2>, pads = array<i64: 0, 0>, output_padding = array<i64: 0>} : (tensor<1x2x5xf32>, tensor<2x3x2xf32>) -> tensor<1x3x11xf32>
  func.return %r : tensor<1x3x11xf32>
}
// CHECK: %conv_transpose = memref.alloca() : memref<1x3x11xf32>
// CHECK: tir.block "conv_transpose" (%n_1: spatial 1, %o_1: spatial 3, %w_2: spatial 11, %c_1: reduce 2, %kw_1: reduce 2) = {{.*}} init [0.000000e+00 : f32] {
// CHECK: memref.load %conv_transpose[%{{.*}}, %o_1, %w_2] : memref<1x3x11xf32>
// CHECK: affine.apply affine_map<(d0, d1) -> (((d1 * -1) + (d0 floordiv 2)))> (%w_2, %kw_1)
// CHECK: arith.cmpi sge, %{{.*}}, %{{.*}} : index
// CHECK: arith.cmpi slt, %{{.*}}, %{{.*}} : index
// CHECK: arith.andi %{{.*}}, %{{.*}} : i1
// CHECK: affine.apply affine_map<(d0) -> ((d0 mod 2))> (%w_2)
// CHECK: arith.cmpi eq, %{{.*}}, %{{.*}} : index
// CHECK: arith.andi %{{.*}}, %{{.*}} : i1
// CHECK: scf.if %{{.*}} -> (f32) {
// CHECK: memref.load %x[%{{.*}}, %c_1, %{{.*}}] : memref<1x2x5xf32>
// CHECK: memref.load %w[%c_1, %o_1, %kw_1] : memref<2x3x2xf32>
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK: } else {
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: memref.store %{{.*}}, %conv_transpose[%{{.*}}, %o_1, %w_2] : memref<1x3x11xf32>
// CHECK: tir.block "out" (%i0_1: spatial 1, %i1_1: spatial 3, %i2_1: spatial 11) = {{.*}} {
// CHECK: memref.load %conv_transpose[%{{.*}}, %i1_1, %i2_1] : memref<1x3x11xf32>
// CHECK: memref.store %{{.*}}, %r[%{{.*}}, %i1_1, %i2_1] : memref<1x3x11xf32>
