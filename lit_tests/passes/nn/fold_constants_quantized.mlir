// RUN: clopt %s -p "nn-fold-constants{keep_quantized=true}" | filecheck %s
// RUN: clopt %s -p nn-fold-constants | filecheck %s --check-prefix FLOATS

// A product may read integers; other operations get floats.
// CHECK-LABEL: @weights
func.func @weights(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %w = nn.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>
  %s = nn.constant dense<0.5> : tensor<f32>
  %z = nn.constant dense<1> : tensor<i8>
  %a = nn.dequantize %w, %s, %z : (tensor<2x2xi8>, tensor<f32>, tensor<i8>) -> tensor<2x2xf32>
  %0 = nn.matmul %x, %a : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %b = nn.dequantize %w, %s, %z : (tensor<2x2xi8>, tensor<f32>, tensor<i8>) -> tensor<2x2xf32>
  %t = nn.transpose %b {perm = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = nn.matmul %x, %t : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %c = nn.dequantize %w, %s, %z : (tensor<2x2xi8>, tensor<f32>, tensor<i8>) -> tensor<2x2xf32>
  %2 = nn.binary add %x, %c : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  func.return %0, %1, %2 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}
// CHECK: [[A:%.*]] = nn.dequantize
// CHECK-NEXT: nn.matmul %x, [[A]]
// CHECK-NEXT: [[B:%.*]] = nn.dequantize
// CHECK-NEXT: [[T:%.*]] = nn.transpose [[B]]
// CHECK-NEXT: nn.matmul %x, [[T]]
// CHECK-NEXT: [[C:%.*]] = nn.constant dense<{{\[\[}}0.000000e+00, 5.000000e-01], [1.000000e+00, 1.500000e+00]]>
// CHECK-NEXT: nn.binary add %x, [[C]]

// FLOATS-NOT: nn.dequantize
