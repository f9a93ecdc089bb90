// RUN: clopt %s | clopt | filecheck %s
// RUN: clopt %s --print-op-generic | clopt | filecheck %s

// CHECK:      vta.graph @block(%x: tensor<1x3x8x8xi8>, %z: tensor<1x4x4x4xi8>) -> (tensor<1x4x4x4xi8>, tensor<1x2x8x8xi8>) #vta.config<1x16_i8w8a32_15_15_18_17> attributes {a = 1 : i64} {
// CHECK-NEXT:   %w = nn.constant dense<1> : tensor<4x3x3x3xi8>
// CHECK-NEXT:   %b = nn.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
// CHECK-NEXT:   %y = vta.conv %x, %w, %b {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 0, 0>, shift = 8 : i64, low = 0 : i64} : (tensor<1x3x8x8xi8>, tensor<4x3x3x3xi8>, tensor<4xi32>) -> tensor<1x4x4x4xi8>
// CHECK-NEXT:   %s = vta.add %y, %z {left_shifts = array<i64: 2, 0>, shift = 2 : i64
// CHECK-NEXT:   %r = vta.scale %s {multiplier = 3 : i64, offset = -7 : i64
// CHECK-NEXT:   %v = nn.constant dense<2> : tensor<4x1x2x2xi8>
// CHECK-NEXT:   %t = vta.conv_transpose %r, %v {strides = array<i64: 2, 2>, groups = 2 : i64
// CHECK-NEXT:   vta.return %s, %t : tensor<1x4x4x4xi8>, tensor<1x2x8x8xi8>
vta.graph @block(%x: tensor<1x3x8x8xi8>, %z: tensor<1x4x4x4xi8>) -> (tensor<1x4x4x4xi8>, tensor<1x2x8x8xi8>) #vta.config<1x16_i8w8a32_15_15_18_17> attributes {a = 1 : i64} {
  %w = nn.constant dense<1> : tensor<4x3x3x3xi8>
  %b = nn.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %y = vta.conv %x, %w, %b {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64, shift = 8 : i64, low = 0 : i64, high = 127 : i64} : (tensor<1x3x8x8xi8>, tensor<4x3x3x3xi8>, tensor<4xi32>) -> tensor<1x4x4x4xi8>
  %s = vta.add %y, %z {left_shifts = array<i64: 2, 0>, shift = 2 : i64, low = -128 : i64, high = 127 : i64} : (tensor<1x4x4x4xi8>, tensor<1x4x4x4xi8>) -> tensor<1x4x4x4xi8>
  %r = vta.scale %s {multiplier = 3 : i64, offset = -7 : i64, shift = 1 : i64, low = -128 : i64, high = 127 : i64} : (tensor<1x4x4x4xi8>) -> tensor<1x4x4x4xi8>
  %v = nn.constant dense<2> : tensor<4x1x2x2xi8>
  %t = vta.conv_transpose %r, %v {strides = array<i64: 2, 2>, groups = 2 : i64, shift = 4 : i64} : (tensor<1x4x4x4xi8>, tensor<4x1x2x2xi8>) -> tensor<1x2x8x8xi8>
  vta.return %s, %t : tensor<1x4x4x4xi8>, tensor<1x2x8x8xi8>
}

// CHECK:      vta.graph @classes(%x: tensor<2x20xi8>) -> tensor<2x10xi8>
// CHECK-NEXT:   %w = nn.constant
// CHECK-NEXT:   %y = vta.dense %x, %w {shift = 6 : i64{{.*}}} : (tensor<2x20xi8>, tensor<10x20xi8>) -> tensor<2x10xi8>
vta.graph @classes(%x: tensor<2x20xi8>) -> tensor<2x10xi8> #vta.config<2x16_i8w8a32_15_15_18_17> {
  %w = nn.constant dense<1> : tensor<10x20xi8>
  %y = vta.dense %x, %w {shift = 6 : i64} : (tensor<2x20xi8>, tensor<10x20xi8>) -> tensor<2x10xi8>
  vta.return %y : tensor<2x10xi8>
}
