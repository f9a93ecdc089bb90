// RUN: clopt %s | clopt | filecheck %s
// RUN: clopt %s --print-op-generic | clopt | filecheck %s

%x0, %x1, %x2, %x3, %x4, %x5, %x6, %x7, %x8, %x9, %x10, %x11 = "test.op"() : () -> (tensor<f32>, tensor<3xf16>, tensor<0x4xf32>, tensor<3xf32>, tensor<3xi8>, tensor<2x1x4xf32>, tensor<3x1xf32>, tensor<4xi1>, tensor<4xi1>, tensor<2x3xf32>, tensor<2x1xi1>, tensor<2xf32>)

// CHECK: %0 = nn.unary relu %x0 : (tensor<f32>) -> tensor<f32>
%0 = nn.unary relu %x0 : (tensor<f32>) -> tensor<f32>

// CHECK-NEXT: %1 = nn.unary selu %x1 {params = array<f64: 1.500000e+00, 0.33333333333333331>} : (tensor<3xf16>) -> tensor<3xf16>
%1 = nn.unary selu %x1 {params = array<f64: 1.500000e+00, 0.33333333333333331>} : (tensor<3xf16>) -> tensor<3xf16>

// CHECK-NEXT: %2 = nn.unary isnan %x2 : (tensor<0x4xf32>) -> tensor<0x4xi1>
%2 = nn.unary isnan %x2 : (tensor<0x4xf32>) -> tensor<0x4xi1>

// CHECK-NEXT: %3 = nn.clip %x3 {low = 0.000000e+00 : f32, high = 6.000000e+00 : f32} : (tensor<3xf32>) -> tensor<3xf32>
%3 = nn.clip %x3 {low = 0.000000e+00 : f32, high = 6.000000e+00 : f32} : (tensor<3xf32>) -> tensor<3xf32>

// CHECK-NEXT: %4 = nn.clip %x1 {low = 0.000000e+00 : f16, high = 0x7c00 : f16} : (tensor<3xf16>) -> tensor<3xf16>
%4 = nn.clip %x1 {low = 0.000000e+00 : f16, high = 0x7c00 : f16} : (tensor<3xf16>) -> tensor<3xf16>

// CHECK-NEXT: %5 = nn.clip %x3 {high = -1.000000e-01 : f32} : (tensor<3xf32>) -> tensor<3xf32>
%5 = nn.clip %x3 {high = -1.000000e-01 : f32} : (tensor<3xf32>) -> tensor<3xf32>

// CHECK-NEXT: %6 = nn.clip %x4 {low = -7 : i8} : (tensor<3xi8>) -> tensor<3xi8>
%6 = nn.clip %x4 {low = -7 : i8} : (tensor<3xi8>) -> tensor<3xi8>

// CHECK-NEXT: %7 = nn.binary prelu %x5, %x6 : (tensor<2x1x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
%7 = nn.binary prelu %x5, %x6 : (tensor<2x1x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>

// CHECK-NEXT: %8 = nn.binary and %x7, %x8 : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
%8 = nn.binary and %x7, %x8 : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>

// CHECK-NEXT: %9 = nn.compare lt %x9, %x3 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
%9 = nn.compare lt %x9, %x3 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>

// CHECK-NEXT: %10 = nn.where %x10, %x3, %x0 : (tensor<2x1xi1>, tensor<3xf32>, tensor<f32>) -> tensor<2x3xf32>
%10 = nn.where %x10, %x3, %x0 : (tensor<2x1xi1>, tensor<3xf32>, tensor<f32>) -> tensor<2x3xf32>

// CHECK-NEXT: %11 = nn.cast %x11 {to = i64} : (tensor<2xf32>) -> tensor<2xi64>
%11 = nn.cast %x11 {to = i64} : (tensor<2xf32>) -> tensor<2xi64>
