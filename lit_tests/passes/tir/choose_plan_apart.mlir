// RUN: clopt %s --target "adreno-740 winograd=prefer" -p fuse,lower,tir-choose-plan | filecheck %s
// RUN: clopt %s --target "adreno-740 winograd=prefer rolled_loops=false" -p fuse,lower,tir-choose-plan | filecheck %s --check-prefix=MIXED
// RUN: clopt %s --target "adreno-740 winograd=prefer" -p fuse,lower,schedule | filecheck %s --check-prefix=LOOPS

// The stages of a transform of Winograd's read 84 texels: a compiler that mixes their instructions
// has no registers for them.
// CHECK: tir.func @winograd_input_0
// CHECK-SAME: plan = #tir.plan<"texels", 2, {{.*}}, apart = 1}>
// MIXED: tir.func @winograd_input_0
// MIXED-SAME: plan = #tir.plan<"texels", 2, {{.*}}, apart = 0}>

// Their loops run once, and are loops nevertheless.
// LOOPS: tir.func @winograd_input_0
// LOOPS-COUNT-4: tir.for rolled {{.*}} = 0 to 1 {
func.func @main(%x: tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32> {
  %w = nn.constant dense<1.0> : tensor<8x8x3x3xf32>
  %y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x8x8xf32>, tensor<8x8x3x3xf32>) -> tensor<1x8x8x8xf32>
  func.return %y : tensor<1x8x8x8xf32>
}
