// RUN: clopt %s -p "nn-integer-products{mode=prefer},dce" | filecheck %s
// RUN: clopt %s --target pocl -p nn-integer-products | filecheck %s --check-prefix FLOATS

// Devices without an instruction for bytes keep floats.
// FLOATS-NOT: ui8>, tensor<{{[0-9x]+}}xi8>)

// Sums have a scale for each channel. The zero point of x adds itself times the weights' sum, -2
// and 2; padding has it, too.
// CHECK-LABEL: @conv
// CHECK:      %[[X:.*]] = nn.pad constant %q {low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, 1, 1>, value = 7 : ui8}
// CHECK:      %[[W:.*]] = nn.constant dense<{{.*}}-3{{.*}}1{{.*}}2{{.*}}0{{.*}}> : tensor<2x2x1x1xi8>
// CHECK-NEXT: %[[SUM:.*]] = nn.conv %[[X]], %[[W]] {{.*}}pads = array<i64: 0, 0, 0, 0>{{.*}} -> tensor<1x2x6x6xi32>
// CHECK:      %[[SCALE:.*]] = nn.constant dense<{{.*}}5.000000e-01{{.*}}1.000000e+00{{.*}}> : tensor<2x1x1xf32>
// CHECK-NEXT: %[[ZERO:.*]] = nn.constant dense<{{.*}}-14{{.*}}14{{.*}}> : tensor<2x1x1xi32>
// CHECK-NEXT: %[[Y:.*]] = nn.dequantize %[[SUM]], %[[SCALE]], %[[ZERO]]
// CHECK-NEXT: %[[B:.*]] = nn.reshape %b
// CHECK-NEXT: nn.binary add %[[Y]], %[[B]]
func.func @conv(%q: tensor<1x2x4x4xui8>, %b: tensor<2xf32>) -> tensor<1x2x6x6xf32> {
  %s = nn.constant dense<0.5> : tensor<f32>
  %z = nn.constant dense<7> : tensor<ui8>
  %x = nn.dequantize %q, %s, %z : (tensor<1x2x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xf32>
  %qw = nn.constant dense<[[[[-2]], [[2]]], [[[3]], [[1]]]]> : tensor<2x2x1x1xi8>
  %sw = nn.constant dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>
  %zw = nn.constant dense<1> : tensor<i8>
  %w = nn.dequantize %qw, %sw, %zw : (tensor<2x2x1x1xi8>, tensor<2x1x1x1xf32>, tensor<i8>) -> tensor<2x2x1x1xf32>
  %y = nn.conv %x, %w, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>, tensor<2xf32>) -> tensor<1x2x6x6xf32>
  func.return %y : tensor<1x2x6x6xf32>
}

// The step of the result, 4, joins the scale of the sums, and what a clip counts.
// CHECK-LABEL: @steps
// CHECK:      %[[SUM:.*]] = nn.matmul %q, %{{.*}} : (tensor<2x4xui8>, tensor<4x2xi8>) -> tensor<2x2xi32>
// CHECK:      %[[SCALE:.*]] = nn.constant dense<1.250000e-01> : tensor<f32>
// CHECK-NEXT: %[[Y:.*]] = nn.dequantize %[[SUM]], %[[SCALE]]
// CHECK-NEXT: %[[C:.*]] = nn.clip %[[Y]] {low = 0.000000e+00 : f32, high = 1.500000e+00 : f32}
// CHECK-NEXT: %[[ONE:.*]] = nn.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: nn.quantize half_even %[[C]], %[[ONE]]
func.func @steps(%q: tensor<2x4xui8>) -> tensor<2x2xui8> {
  %s = nn.constant dense<0.5> : tensor<f32>
  %z = nn.constant dense<0> : tensor<ui8>
  %x = nn.dequantize %q, %s, %z : (tensor<2x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x4xf32>
  %qw = nn.constant dense<[[1, 2], [3, 4], [5, 6], [-7, 8]]> : tensor<4x2xi8>
  %sw = nn.constant dense<1.0> : tensor<f32>
  %zw = nn.constant dense<0> : tensor<i8>
  %w = nn.dequantize %qw, %sw, %zw : (tensor<4x2xi8>, tensor<f32>, tensor<i8>) -> tensor<4x2xf32>
  %m = nn.matmul %x, %w : (tensor<2x4xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
  %c = nn.clip %m {low = 0.0 : f32, high = 6.0 : f32} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %t = nn.constant dense<4.0> : tensor<f32>
  %y = nn.quantize half_even %c, %t, %z : (tensor<2x2xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x2xui8>
  func.return %y : tensor<2x2xui8>
}

// 8 bits do not hold weights without such a zero point: floats are multiplied.
// CHECK-LABEL: @far
// CHECK-NOT: xi32>
func.func @far(%q: tensor<2x4xui8>) -> tensor<2x1xf32> {
  %s = nn.constant dense<0.5> : tensor<f32>
  %z = nn.constant dense<0> : tensor<ui8>
  %x = nn.dequantize %q, %s, %z : (tensor<2x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x4xf32>
  %qw = nn.constant dense<[[1], [3], [5], [127]]> : tensor<4x1xi8>
  %zw = nn.constant dense<-1> : tensor<i8>
  %w = nn.dequantize %qw, %s, %zw : (tensor<4x1xi8>, tensor<f32>, tensor<i8>) -> tensor<4x1xf32>
  %m = nn.matmul %x, %w : (tensor<2x4xf32>, tensor<4x1xf32>) -> tensor<2x1xf32>
  func.return %m : tensor<2x1xf32>
}

// The zero point of x is known at run time; 128 more makes both unsigned.
// CHECK-LABEL: @widened
// CHECK:      %[[X:.*]] = nn.cast %{{.*}} : (tensor<2x4xi16>) -> tensor<2x4xui8>
// CHECK:      %[[ZERO:.*]] = nn.binary add %z, %{{.*}} : (tensor<i32>, tensor<i32>) -> tensor<i32>
// CHECK:      %[[SUM:.*]] = nn.matmul %[[X]], %{{.*}} : (tensor<2x4xui8>, tensor<4x2xi8>) -> tensor<2x2xi32>
// CHECK-NEXT: %[[W:.*]] = nn.constant dense<{{.*}}9, 20{{.*}}> : tensor<2xi32>
// CHECK-NEXT: %[[OF_ZERO:.*]] = nn.binary mul %[[W]], %[[ZERO]]
// CHECK-NEXT: nn.binary sub %[[SUM]], %[[OF_ZERO]]
func.func @widened(%q: tensor<2x4xi8>, %z: tensor<i32>) -> tensor<2x2xi32> {
  %wide = nn.cast %q {to = i32} : (tensor<2x4xi8>) -> tensor<2x4xi32>
  %x = nn.binary sub %wide, %z : (tensor<2x4xi32>, tensor<i32>) -> tensor<2x4xi32>
  %w = nn.constant dense<[[1, 2], [3, 4], [5, 6], [0, 8]]> : tensor<4x2xi32>
  %y = nn.matmul %x, %w : (tensor<2x4xi32>, tensor<4x2xi32>) -> tensor<2x2xi32>
  func.return %y : tensor<2x2xi32>
}
