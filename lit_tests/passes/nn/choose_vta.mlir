// RUN: clopt %s -p 'nn-choose{facts="vta=prefer" graphs_only=true}' | filecheck %s
// RUN: clopt %s -p 'nn-choose{facts="vta=prefer" graphs_only=true}' --explain -o %t 2>&1 | filecheck %s --check-prefix=WHY

// A convolution and the maxima of its results are one graph, between kernels that pack and unpack.
// CHECK:      vta.binary @vta_0(%{{.*}}: !vta.dram<act, 16>) -> (%{{.*}}: !vta.dram<act, 4>) scratch
// CHECK-LABEL: func.func @main
// CHECK:      [[r:%.*]] = nn.reshape %x
// CHECK-NEXT: [[t:%.*]] = nn.transpose [[r]]
// CHECK-NEXT: [[y:%.*]] = vta.call @vta_0([[t]]) : (tensor<1x1x4x4x1x16xi8>) -> tensor<1x1x2x2x1x16xi8>
// CHECK-NEXT: [[u:%.*]] = nn.transpose [[y]]
// CHECK-NEXT: nn.reshape [[u]]
// CHECK-NEXT: nn.concat

// WHY: VTA in main: 4 of 5 operations in 1 graph
// WHY: nn.conv: {{.*}} vta_0 {{.*}} vta.conv
// WHY: nn.pool: {{.*}} vta_0 {{.*}} vta.max_pool
// WHY: nn.concat: {{.*}} VTA can concatenate whole blocks of 16 channels, but an operand that is not the last has 20
func.func @main(%x: tensor<1x16x4x4xi8>, %y: tensor<1x20x2x2xi8>) -> (tensor<1x16x2x2xi8>, tensor<1x40x2x2xi8>) {
  %s = nn.constant dense<6.25e-02> : tensor<f32>
  %z = nn.constant dense<0> : tensor<i8>
  %w = nn.constant dense<0.5> : tensor<16x16x1x1xf32>
  %a = nn.dequantize %x, %s, %z : (tensor<1x16x4x4xi8>, tensor<f32>, tensor<i8>) -> tensor<1x16x4x4xf32>
  %b = nn.conv %a, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x4x4xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x4x4xf32>
  %q = nn.quantize half_up %b, %s, %z : (tensor<1x16x4x4xf32>, tensor<f32>, tensor<i8>) -> tensor<1x16x4x4xi8>
  %m = nn.pool max %q {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x16x4x4xi8>) -> tensor<1x16x2x2xi8>
  %c = nn.concat %y, %y {axis = 1 : i64} : (tensor<1x20x2x2xi8>, tensor<1x20x2x2xi8>) -> tensor<1x40x2x2xi8>
  func.return %m, %c : tensor<1x16x2x2xi8>, tensor<1x40x2x2xi8>
}
