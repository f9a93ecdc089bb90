// RUN: clopt %s --target "adreno-740 texture=prefer" -p opencl -t opencl-c | filecheck %s

// A detection head reads texels of 3 x 5 channels through a reshape. A work-item reads one of each
// map, once, and writes its four elements; the last texel has three.
// CHECK-LABEL: __kernel void concat
// CHECK:         read_imagef
// CHECK-NOT:     read_imagef
// CHECK:         if (item_x * 4 < 12) {
// CHECK-NEXT:      cat[{{.*}}] = head{{[0-9]*}}.s3;
// CHECK-NEXT:    }
// CHECK:         read_imagef
// CHECK-NOT:     read_imagef
// CHECK-NOT:     for (
func.func @network(%x: tensor<1x32x16x8xf32>, %v: tensor<15x32x1x1xf32>, %y: tensor<1x32x8x4xf32>, %w: tensor<15x32x1x1xf32>) -> tensor<1x480x5xf32> {
  %head = nn.conv %x, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x32x16x8xf32>, tensor<15x32x1x1xf32>) -> tensor<1x15x16x8xf32>
  %a = nn.reshape %head {shape = array<i64: 1, 3, 5, 16, 8>} : (tensor<1x15x16x8xf32>) -> tensor<1x3x5x16x8xf32>
  %b = nn.transpose %a {perm = array<i64: 0, 1, 3, 4, 2>} : (tensor<1x3x5x16x8xf32>) -> tensor<1x3x16x8x5xf32>
  %c = nn.reshape %b {shape = array<i64: 1, 384, 5>} : (tensor<1x3x16x8x5xf32>) -> tensor<1x384x5xf32>
  %head2 = nn.conv %y, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x32x8x4xf32>, tensor<15x32x1x1xf32>) -> tensor<1x15x8x4xf32>
  %d = nn.reshape %head2 {shape = array<i64: 1, 3, 5, 8, 4>} : (tensor<1x15x8x4xf32>) -> tensor<1x3x5x8x4xf32>
  %e = nn.transpose %d {perm = array<i64: 0, 1, 3, 4, 2>} : (tensor<1x3x5x8x4xf32>) -> tensor<1x3x8x4x5xf32>
  %f = nn.reshape %e {shape = array<i64: 1, 96, 5>} : (tensor<1x3x8x4x5xf32>) -> tensor<1x96x5xf32>
  %cat = nn.concat %c, %f {axis = 1 : i64} : (tensor<1x384x5xf32>, tensor<1x96x5xf32>) -> tensor<1x480x5xf32>
  func.return %cat : tensor<1x480x5xf32>
}
