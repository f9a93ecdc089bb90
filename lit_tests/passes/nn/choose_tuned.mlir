// RUN: clopt %s -p 'nn-choose{tuning="%S/Inputs/choose_tuned.jsonl" device="A processor" driver="1.0"},verify' --target pocl | filecheck %s
// RUN: clopt %s -p nn-choose --target pocl --tuning %S/Inputs/choose_tuned.jsonl 2>&1 | filecheck %s --check-prefix=ELSEWHERE

// By the database the convolution is fastest between plain values, so it stays an operation without
// blocks (choose_blocks.mlir is the choice of the model).
// CHECK-NOT: clopt.remarks
// CHECK-NOT: nn.relayout
// CHECK:     nn.winograd_conv

// On another device it is a starting point.
// ELSEWHERE:     remark: the layouts are the fastest measured on A processor, driver 1.0; run clopt-tune to
// ELSEWHERE-NOT: nn.relayout
func.func @alone(%x: tensor<1x64x14x14xf32>) -> tensor<1x64x14x14xf32> {
  %w = nn.constant dense<1.0> : tensor<64x64x3x3xf32>
  %y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x64x14x14xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x14x14xf32>
  func.return %y : tensor<1x64x14x14xf32>
}
