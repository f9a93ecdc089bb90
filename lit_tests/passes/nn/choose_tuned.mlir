// RUN: clopt %s -p 'recall-choices{tuning="%S/Inputs/choose_tuned.jsonl" device="A processor" driver="1.0"},nn-choose,verify' --target pocl | filecheck %s
// RUN: clopt %s -p nn-choose --target pocl --tuning %S/Inputs/choose_tuned.jsonl 2>&1 | filecheck %s --check-prefix=ELSEWHERE

// By the database the network is faster if the convolution writes blocks, which a copy then unpacks
// (choose_blocks.mlir is the choice of the model).
// CHECK-NOT: clopt.remarks
// CHECK:     nn.winograd_conv
// CHECK:     nn.relayout {{.*}} : tensor<1x64x14x14xf32, #nn.layout<[1 by 8]>> -> tensor<1x64x14x14xf32>

// On another device it is a starting point.
// ELSEWHERE: remark: the module has each layout that was fastest measured on A processor, driver 1.0; run clopt-tune to
// ELSEWHERE: nn.relayout {{.*}} : tensor<1x64x14x14xf32, #nn.layout<[1 by 8]>> -> tensor<1x64x14x14xf32>
func.func @alone(%x: tensor<1x64x14x14xf32>) -> tensor<1x64x14x14xf32> {
  %w = nn.constant dense<1.0> : tensor<64x64x3x3xf32>
  %y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x64x14x14xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x14x14xf32>
  func.return %y : tensor<1x64x14x14xf32>
}
