// RUN: clopt %s --target adreno-740 -p nn-fake-quantize,dce | filecheck %s
// RUN: clopt %s --target "nvidia dot_product=off" -p nn-fake-quantize,dce | filecheck %s
// RUN: clopt %s --target pocl -p nn-fake-quantize,dce | filecheck %s --check-prefix SAME
// RUN: clopt %s --target "adreno-740 vta=auto" -p nn-fake-quantize,dce | filecheck %s --check-prefix SAME

// The step, a half, joins weights and bias; what follows clamps, rounds and multiplies by the scale.
// CHECK-LABEL: @steps(
// SAME-LABEL: @steps(
// SAME: nn.quantize half_even
// SAME-NEXT: nn.dequantize
// CHECK-DAG: %[[W:.*]] = nn.constant dense<6.000000e+00> : tensor<1x1x1x1xf32>
// CHECK-DAG: %[[B:.*]] = nn.constant dense<2.000000e+00> : tensor<1xf32>
// CHECK: %[[Y:.*]] = nn.conv %{{.*}}, %[[W]], %[[B]]
// CHECK-NEXT: %[[R:.*]] = nn.unary relu %[[Y]]
// CHECK-NOT: nn.quantize
// CHECK: %[[CLIPPED:.*]] = nn.clip %[[R]] {low = -3.000000e+00 : f32, high = 2.520000e+02 : f32}
// CHECK-NEXT: %[[ROUNDED:.*]] = nn.unary round %[[CLIPPED]]
// CHECK: %[[SCALE:.*]] = nn.constant dense<5.000000e-01> : tensor<f32>
// CHECK-NEXT: %[[RESULT:.*]] = nn.binary mul %[[ROUNDED]], %[[SCALE]]
// CHECK-NEXT: func.return %[[RESULT]]
func.func @steps(%x: tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32> {
  %w = nn.constant dense<3.0> : tensor<1x1x1x1xf32>
  %b = nn.constant dense<1.0> : tensor<1xf32>
  %s = nn.constant dense<0.5> : tensor<f32>
  %z = nn.constant dense<3> : tensor<ui8>
  %c = nn.conv %x, %w, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>) -> tensor<1x1x2x2xf32>
  %r = nn.unary relu %c : (tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  %q = nn.quantize half_even %r, %s, %z : (tensor<1x1x2x2xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x1x2x2xui8>
  %y = nn.dequantize %q, %s, %z : (tensor<1x1x2x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x1x2x2xf32>
  func.return %y : tensor<1x1x2x2xf32>
}

// A maximum of rounded values is one of them.
// CHECK-LABEL: @same_steps(
// CHECK: %[[X:.*]] = nn.dequantize
// CHECK-NEXT: %[[M:.*]] = nn.pool max %[[X]]
// CHECK-NEXT: func.return %[[M]]
func.func @same_steps(%q: tensor<1x1x2x2xui8>) -> tensor<1x1x1x1xf32> {
  %s = nn.constant dense<0.3> : tensor<f32>
  %z = nn.constant dense<3> : tensor<ui8>
  %x = nn.dequantize %q, %s, %z : (tensor<1x1x2x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x1x2x2xf32>
  %m = nn.pool max %x {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x1x2x2xf32>) -> tensor<1x1x1x1xf32>
  %p = nn.quantize half_even %m, %s, %z : (tensor<1x1x1x1xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x1x1x1xui8>
  %y = nn.dequantize %p, %s, %z : (tensor<1x1x1x1xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x1x1x1xf32>
  func.return %y : tensor<1x1x1x1xf32>
}

// The integers are a result, and halves go up: both stay.
// CHECK-LABEL: @others(
// CHECK: nn.quantize half_even
// CHECK-NEXT: nn.dequantize
// CHECK-NEXT: nn.quantize half_up
// CHECK-NEXT: nn.dequantize
func.func @others(%x: tensor<2xf32>) -> (tensor<2xui8>, tensor<2xf32>, tensor<2xf32>) {
  %s = nn.constant dense<1.0> : tensor<f32>
  %z = nn.constant dense<3> : tensor<ui8>
  %q = nn.quantize half_even %x, %s, %z : (tensor<2xf32>, tensor<f32>, tensor<ui8>) -> tensor<2xui8>
  %y = nn.dequantize %q, %s, %z : (tensor<2xui8>, tensor<f32>, tensor<ui8>) -> tensor<2xf32>
  %p = nn.quantize half_up %x, %s, %z : (tensor<2xf32>, tensor<f32>, tensor<ui8>) -> tensor<2xui8>
  %t = nn.dequantize %p, %s, %z : (tensor<2xui8>, tensor<f32>, tensor<ui8>) -> tensor<2xf32>
  func.return %q, %y, %t : tensor<2xui8>, tensor<2xf32>, tensor<2xf32>
}
