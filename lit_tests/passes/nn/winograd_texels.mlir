// RUN: clopt %s --target adreno-630 -p nn-winograd | filecheck %s --check-prefix=SMALL
// RUN: clopt %s --target "adreno-630 texture=off" -p nn-winograd | filecheck %s --check-prefix=LARGE
// RUN: clopt %s --target adreno-740 -p nn-winograd | filecheck %s --check-prefix=LARGE

// -----

// Transforms move more between memory and the device: they pay where products take longer than that.
// SMALL-LABEL: @filled
// SMALL: nn.winograd_input {{.*}} {tile = 4 : i64
// SMALL-LABEL: @deeper
// SMALL: nn.winograd_input {{.*}} {tile = 2 : i64
// SMALL-LABEL: @seven
// SMALL-NOT: nn.winograd
// SMALL-LABEL: @sums_of_halves
// SMALL-NOT: nn.winograd
// LARGE-NOT: nn.winograd
func.func @filled(%x: tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32> {
  %w = nn.constant dense<1.0> : tensor<64x64x3x3xf32>
  %y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32>
  func.return %y : tensor<1x64x56x56xf32>
}
func.func @deeper(%x: tensor<1x256x14x14xf32>) -> tensor<1x256x14x14xf32> {
  %w = nn.constant dense<1.0> : tensor<256x256x3x3xf32>
  %y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x256x14x14xf32>, tensor<256x256x3x3xf32>) -> tensor<1x256x14x14xf32>
  func.return %y : tensor<1x256x14x14xf32>
}
func.func @seven(%x: tensor<1x256x7x7xf32>) -> tensor<1x256x7x7xf32> {
  %w = nn.constant dense<1.0> : tensor<256x256x3x3xf32>
  %y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x256x7x7xf32>, tensor<256x256x3x3xf32>) -> tensor<1x256x7x7xf32>
  func.return %y : tensor<1x256x7x7xf32>
}
func.func @sums_of_halves(%x: tensor<1x64x56x56xf16>) -> tensor<1x64x56x56xf16> {
  %w = nn.constant dense<1.0> : tensor<64x64x3x3xf16>
  %y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, accumulate = f16} : (tensor<1x64x56x56xf16>, tensor<64x64x3x3xf16>) -> tensor<1x64x56x56xf16>
  func.return %y : tensor<1x64x56x56xf16>
}
