// RUN: clopt %s | clopt | filecheck %s
// RUN: clopt %s --print-op-generic | clopt | filecheck %s

%x, %s, %z, %sc, %zc, %q, %h, %sh, %z0 = "test.op"() : () -> (tensor<1x3x4xf32>, tensor<f32>, tensor<i8>, tensor<3x1xf32>, tensor<3x1xui16>, tensor<1x3x4xi32>, tensor<2xf16>, tensor<f16>, tensor<i32>)

// CHECK: %0 = nn.quantize half_up %x, %s, %z : (tensor<1x3x4xf32>, tensor<f32>, tensor<i8>) -> tensor<1x3x4xi8>
%0 = nn.quantize half_up %x, %s, %z : (tensor<1x3x4xf32>, tensor<f32>, tensor<i8>) -> tensor<1x3x4xi8>

// CHECK-NEXT: %1 = nn.quantize half_even %x, %sc, %zc : (tensor<1x3x4xf32>, tensor<3x1xf32>, tensor<3x1xui16>) -> tensor<1x3x4xui16>
%1 = nn.quantize half_even %x, %sc, %zc : (tensor<1x3x4xf32>, tensor<3x1xf32>, tensor<3x1xui16>) -> tensor<1x3x4xui16>

// CHECK-NEXT: %2 = nn.quantize half_even %h, %sh, %z : (tensor<2xf16>, tensor<f16>, tensor<i8>) -> tensor<2xi8>
%2 = nn.quantize half_even %h, %sh, %z : (tensor<2xf16>, tensor<f16>, tensor<i8>) -> tensor<2xi8>

// CHECK-NEXT: %3 = nn.dequantize %1, %s, %zc : (tensor<1x3x4xui16>, tensor<f32>, tensor<3x1xui16>) -> tensor<1x3x4xf32>
%3 = nn.dequantize %1, %s, %zc : (tensor<1x3x4xui16>, tensor<f32>, tensor<3x1xui16>) -> tensor<1x3x4xf32>

// CHECK-NEXT: %4 = nn.dequantize %q, %sc, %z0 : (tensor<1x3x4xi32>, tensor<3x1xf32>, tensor<i32>) -> tensor<1x3x4xf32>
%4 = nn.dequantize %q, %sc, %z0 : (tensor<1x3x4xi32>, tensor<3x1xf32>, tensor<i32>) -> tensor<1x3x4xf32>
