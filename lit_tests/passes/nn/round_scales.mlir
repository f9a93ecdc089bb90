// RUN: clopt %s -p nn-round-scales,canonicalize,cse,dce --split-input-file | filecheck %s

// The value keeps its zero point; the weights, up to 0.6, get steps of 1/128 around zero.
// CHECK: clopt.remarks = ["w is 0.49% off by scales of powers of two."]
// CHECK-LABEL: @product
func.func @product(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %s = nn.constant dense<0.1> : tensor<f32>
  %z = nn.constant dense<7> : tensor<ui8>
  %q = nn.quantize half_even %x, %s, %z : (tensor<2x2xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x2xui8>
  %r = nn.reshape %q {shape = array<i64: 4, 1>} : (tensor<2x2xui8>) -> tensor<4x1xui8>
  %t = nn.reshape %r {shape = array<i64: 2, 2>} : (tensor<4x1xui8>) -> tensor<2x2xui8>
  %d = nn.dequantize %t, %s, %z : (tensor<2x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x2xf32>
  %w = nn.constant dense<[[16, 31], [21, 1]]> : tensor<2x2xi8>
  %sw = nn.constant dense<0.02> : tensor<f32>
  %zw = nn.constant dense<1> : tensor<i8>
  %wd = nn.dequantize %w, %sw, %zw : (tensor<2x2xi8>, tensor<f32>, tensor<i8>) -> tensor<2x2xf32>
  %y = nn.matmul %d, %wd : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  func.return %y : tensor<2x2xf32>
}
// CHECK: [[S:%.*]] = nn.constant dense<1.250000e-01> : tensor<f32>
// CHECK: nn.quantize half_even %x, [[S]], %z
// CHECK: nn.dequantize {{.*}}, [[S]], %z
// CHECK: nn.constant dense<{{\[\[}}38, 77], [51, 0]]> : tensor<2x2xi8>
// CHECK: nn.constant dense<7.812500e-03> : tensor<f32>

// -----

// The application gives the first integers and takes the others; one set has two scales.
// CHECK-LABEL: @outside
func.func @outside(%q: tensor<4xi8>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi8>, tensor<4xf32>) {
  // CHECK-DAG: dense<1.000000e-01>
  // CHECK-DAG: dense<3.000000e-01>
  %s = nn.constant dense<0.1> : tensor<f32>
  %u = nn.constant dense<0.3> : tensor<f32>
  %z = nn.constant dense<0> : tensor<i8>
  %0 = nn.dequantize %q, %s, %z : (tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<4xf32>
  %1 = nn.quantize half_up %x, %s, %z : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  %2 = nn.quantize half_up %0, %u, %z : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  %3 = nn.dequantize %2, %s, %z : (tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<4xf32>
  // CHECK-NOT: 1.250000e-01
  // CHECK: func.return
  func.return %0, %1, %3 : tensor<4xf32>, tensor<4xi8>, tensor<4xf32>
}
