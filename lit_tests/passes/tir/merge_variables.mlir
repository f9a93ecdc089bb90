// RUN: clopt %s --target pocl -p nn-fuse,lower,tir-merge-variables --split-input-file | filecheck %s
// RUN: clopt %s --target nvidia -p nn-fuse,lower,tir-merge-variables --split-input-file | filecheck %s --check-prefix=GPU

// The rows and columns of a convolution that sees one pixel are one variable, of 4 x 6 pixels. The
// operand and the result keep their types; the sums have the shape of the variables. Images stay.
// CHECK-LABEL: tir.func @conv_0
// CHECK:         memref.alloca() : memref<2x16x24xf32>
// CHECK:         tir.for parallel %hw = 0 to 24 {
// CHECK:           tir.block "conv" ({{.*}}%[[PIXEL:hw_?[0-9]*]]: spatial 24,
// CHECK-NEXT:        %[[ROW:.*]] = affine.apply affine_map<(d0) -> ((d0 floordiv 6))> (%[[PIXEL]])
// CHECK-NEXT:        %[[COLUMN:.*]] = affine.apply affine_map<(d0) -> ((d0 mod 6))> (%[[PIXEL]])
// CHECK-NEXT:        memref.load %{{.*}}[%{{.*}}, %{{.*}}, %[[PIXEL]]] : memref<2x16x24xf32>
// CHECK-NEXT:        memref.load %x[%{{.*}}, %{{.*}}, %[[ROW]], %[[COLUMN]]] : memref<2x8x4x6xf32>
// CHECK:         tir.for parallel %i2i3 = 0 to 24 {
// CHECK:           memref.store %{{.*}} : memref<2x16x4x6xf32>
// GPU-LABEL:   tir.func @conv_0
// GPU:           memref.alloca() : memref<2x16x4x6xf32>
func.func @pixels(%x: tensor<2x8x4x6xf32>, %w: tensor<16x8x1x1xf32>) -> tensor<2x16x4x6xf32> {
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<2x8x4x6xf32>, tensor<16x8x1x1xf32>) -> tensor<2x16x4x6xf32>
  func.return %0 : tensor<2x16x4x6xf32>
}

// -----

// A window reads several rows, and a stride leaves pixels out: rows and columns stay.
// CHECK-LABEL: tir.func @conv_0
// CHECK:         memref.alloca() : memref<1x16x4x6xf32>
// CHECK-LABEL: tir.func @conv_1
// CHECK:         memref.alloca() : memref<1x16x2x3xf32>
func.func @windows(%x: tensor<1x16x4x6xf32>, %w: tensor<16x16x3x3xf32>, %v: tensor<16x16x1x1xf32>) -> tensor<1x16x2x3xf32> {
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x4x6xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x4x6xf32>
  %1 = nn.conv %0, %v {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x16x4x6xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x2x3xf32>
  func.return %1 : tensor<1x16x2x3xf32>
}
