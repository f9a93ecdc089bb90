// RUN: clopt %s --target nvidia -p fuse,lower,tir-choose-plan | filecheck %s
// RUN: clopt %s --target "nvidia row_accesses=0" -p fuse,lower,tir-choose-plan | filecheck %s --check-prefix=EVEN

// An item of a transform of Winograd's accesses 36 plain elements of each channel: items are then
// neighbours in rows of tiles, and not whichever fill a group of 256 evenly.
// CHECK: tir.func @winograd_output_3
// CHECK-SAME: plan = #tir.plan<"texels", 2, {group = [256]}>
// EVEN: tir.func @winograd_output_3
// EVEN-SAME: plan = #tir.plan<"texels", 2, {group = [2, 2, 64]}>
func.func @main(%x: tensor<8x64x56x56xf32>) -> tensor<8x64x56x56xf32> {
  %w = nn.constant dense<1.0> : tensor<64x64x3x3xf32>
  %y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (tensor<8x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<8x64x56x56xf32>
  %z = nn.conv %y, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (tensor<8x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<8x64x56x56xf32>
  func.return %z : tensor<8x64x56x56xf32>
}
