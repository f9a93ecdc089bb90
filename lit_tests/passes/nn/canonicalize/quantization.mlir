// RUN: clopt %s -p canonicalize --split-input-file | filecheck %s

// CHECK-LABEL: @cancels
func.func @cancels(%q: tensor<2x4xi8>) -> tensor<2x4xi8> {
  %s = nn.constant dense<0.1> : tensor<f32>
  %s2 = nn.constant dense<0.1> : tensor<f32>
  %z = nn.constant dense<3> : tensor<i8>
  %x = nn.dequantize %q, %s, %z : (tensor<2x4xi8>, tensor<f32>, tensor<i8>) -> tensor<2x4xf32>
  %r = nn.quantize half_up %x, %s2, %z : (tensor<2x4xf32>, tensor<f32>, tensor<i8>) -> tensor<2x4xi8>
  func.return %r : tensor<2x4xi8>
}
// CHECK: func.return %q

// -----

// Another scale, zero point or type, or too few bits.
// CHECK-LABEL: @stays
func.func @stays(%q: tensor<4xi8>, %h: tensor<4xi16>, %s: tensor<f32>, %t: tensor<f32>, %u: tensor<f16>, %z: tensor<i8>, %y: tensor<i8>, %w: tensor<ui8>, %v: tensor<i16>) -> (tensor<4xi8>, tensor<4xi8>, tensor<4xui8>, tensor<4xi16>) {
  %x = nn.dequantize %q, %s, %z : (tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<4xf32>
  %half = nn.dequantize %h, %u, %v : (tensor<4xi16>, tensor<f16>, tensor<i16>) -> tensor<4xf16>
  // CHECK-COUNT-4: nn.quantize
  %0 = nn.quantize half_up %x, %t, %z : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  %1 = nn.quantize half_up %x, %s, %y : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  %2 = nn.quantize half_up %x, %s, %w : (tensor<4xf32>, tensor<f32>, tensor<ui8>) -> tensor<4xui8>
  %3 = nn.quantize half_up %half, %u, %v : (tensor<4xf16>, tensor<f16>, tensor<i16>) -> tensor<4xi16>
  func.return %0, %1, %2, %3 : tensor<4xi8>, tensor<4xi8>, tensor<4xui8>, tensor<4xi16>
}
