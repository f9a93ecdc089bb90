// RUN: clopt %s -p 'recall-choices{tuning="%S/Inputs/choose_tuned_forms.jsonl" device="A processor" driver="1.0"},nn-choose,verify' --target pocl | filecheck %s
// RUN: clopt %s -p nn-choose --target pocl --tuning %S/Inputs/choose_tuned_forms.jsonl 2>&1 | filecheck %s --check-prefix=ELSEWHERE
// RUN: clopt %s -p nn-choose --target pocl | filecheck %s --check-prefix=MODEL
// RUN: clopt %s -p nn-choose --target "pocl winograd=off" --tuning %S/Inputs/choose_tuned_forms.jsonl 2>&1 | filecheck %s --check-prefix=OFF
// RUN: clopt %s -p nn-choose --target "pocl winograd=prefer" --tuning %S/Inputs/choose_tuned_forms.jsonl 2>&1 | filecheck %s --check-prefix=PREFER

// CHECK-NOT: clopt.remarks
// ELSEWHERE: remark: the module has each form that was fastest measured on A processor, driver 1.0; run clopt-tune to

// The facts of the target decide alone.
// OFF-NOT:     remark
// OFF-NOT:     nn.winograd
// PREFER-NOT:  remark

// By the database the direct form is fastest; another one that is faster still crashed.
// MODEL-LABEL:  @faster
// MODEL:        nn.winograd_conv {{.*}} {tile = 4
// CHECK-LABEL:  @faster
// CHECK-NOT:    nn.winograd_conv
// CHECK:        nn.conv
// ELSEWHERE-LABEL: @faster
// ELSEWHERE:       nn.conv
// PREFER-LABEL: @faster
// PREFER:       nn.winograd_conv {{.*}} {tile = 4
func.func @faster(%x: tensor<1x64x14x14xf32>) -> tensor<1x64x14x14xf32> {
  %w = nn.constant dense<1.0> : tensor<64x64x3x3xf32>
  %y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x64x14x14xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x14x14xf32>
  func.return %y : tensor<1x64x14x14xf32>
}

// Smaller tiles are faster by less than the noise of both. The bias has no part in the record.
// CHECK-LABEL: @noise
// CHECK:       nn.winograd_conv {{.*}} {tile = 4
func.func @noise(%x: tensor<1x64x28x28xf32>) -> tensor<1x64x28x28xf32> {
  %w = nn.constant dense<1.0> : tensor<64x64x3x3xf32>
  %b = nn.constant dense<2.0> : tensor<64xf32>
  %y = nn.conv %x, %w, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x64x28x28xf32>, tensor<64x64x3x3xf32>, tensor<64xf32>) -> tensor<1x64x28x28xf32>
  func.return %y : tensor<1x64x28x28xf32>
}

// The model's form was never measured.
// CHECK-LABEL: @unknown
// CHECK:       nn.winograd_conv {{.*}} {tile = 4
func.func @unknown(%x: tensor<1x64x20x20xf32>) -> tensor<1x64x20x20xf32> {
  %w = nn.constant dense<1.0> : tensor<64x64x3x3xf32>
  %y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x64x20x20xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x20x20xf32>
  func.return %y : tensor<1x64x20x20xf32>
}
