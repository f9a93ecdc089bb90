// RUN: clopt %s -p 'nn-winograd{mode=prefer}' --split-input-file | filecheck %s
// RUN: clopt %s --target pocl blocks=off winograd_transform_cost=8.0 -p nn-winograd --split-input-file | filecheck %s --check-prefix=AUTO
// RUN: clopt %s --target pocl blocks=auto winograd_packed_cost=8.0 -p nn-winograd --split-input-file | filecheck %s --check-prefix=TILES
// RUN: clopt %s --target "pocl winograd=off" -p nn-winograd --split-input-file | filecheck %s --check-prefix=OFF
// RUN: clopt %s --target nvidia -p nn-winograd --split-input-file | filecheck %s --check-prefix=GPU
// RUN: clopt %s --target "adreno-740 winograd=prefer" -p nn-winograd --split-input-file | filecheck %s --check-prefix=TEXELS
// RUN: not clopt %s -p 'nn-winograd{mode=on}' 2>&1 | filecheck %s --check-prefix=WRONG

// OFF-NOT: nn.winograd
// WRONG: mode is one of off, auto, prefer, not on

// Where weights are texels, too, the products compute along channels.
// Six by six tiles of four by four results; weights are transformed here, bias follows behind.
// CHECK-LABEL: @floats
// AUTO-LABEL: @floats
// TILES-LABEL: @floats
// TEXELS-LABEL: @floats
func.func @floats(%x: tensor<1x32x14x13xf32>) -> tensor<1x32x14x13xf32> {
  %w = nn.constant dense<1.0> : tensor<32x32x3x3xf32>
  %b = nn.constant dense<2.0> : tensor<32xf32>
  %y = nn.conv %x, %w, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x32x14x13xf32>, tensor<32x32x3x3xf32>, tensor<32xf32>) -> tensor<1x32x14x13xf32>
  func.return %y : tensor<1x32x14x13xf32>
}
// CHECK: [[u:%.*]] = nn.constant {{.*}} : tensor<36x32x32xf32>
// CHECK-NEXT: [[v:%.*]] = nn.winograd_input %x {tile = 4 : i64, pads = array<i64: 1, 1, 1, 1>} : {{.*}} -> tensor<36x32x16xf32>
// CHECK-NEXT: [[m:%.*]] = nn.matmul [[u]], [[v]] : {{.*}} -> tensor<36x32x16xf32>
// CHECK-NEXT: [[y:%.*]] = nn.winograd_output [[m]] {tile = 4 : i64, sizes = array<i64: 1, 14, 13>} : {{.*}} -> tensor<1x32x14x13xf32>
// CHECK-NEXT: [[b:%.*]] = nn.constant dense<2.000000e+00> : tensor<32x1x1xf32>
// CHECK-NEXT: nn.binary add [[y]], [[b]]
// AUTO: nn.winograd_input
// TEXELS: [[v:%.*]] = nn.winograd_input %x {tile = 4 : i64, pads = array<i64: 1, 1, 1, 1>, in_steps}
// TEXELS-NEXT: [[m:%.*]] = nn.winograd_product [[v]], {{.*}} : (tensor<36x32x16xf32>, tensor<36x32x32xf32>) -> tensor<36x32x16xf32>
// TEXELS-NEXT: nn.winograd_output [[m]] {tile = 4 : i64, sizes = array<i64: 1, 14, 13>, in_steps}
// TILES: [[u:%.*]] = nn.constant {{.*}} : tensor<32x36x32xf32>
// TILES-NEXT: nn.winograd_conv %x, [[u]], %b {tile = 4 : i64, pads = array<i64: 1, 1, 1, 1>}

// -----

// Halves have bits for two by two results only; how the products are summed up stays as it was.
// CHECK-LABEL: @halves
func.func @halves(%x: tensor<1x8x8x8xf16>) -> tensor<1x8x6x6xf16> {
  %w = nn.constant dense<1.0> : tensor<8x8x3x3xf16>
  %y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, accumulate = f16} : (tensor<1x8x8x8xf16>, tensor<8x8x3x3xf16>) -> tensor<1x8x6x6xf16>
  func.return %y : tensor<1x8x6x6xf16>
}
// CHECK: nn.winograd_input %x {tile = 2 : i64, pads = array<i64: 0, 0, 0, 0>} : {{.*}} -> tensor<16x8x9xf16>
// CHECK-NEXT: nn.matmul {{.*}} {accumulate = f16} : {{.*}} -> tensor<16x8x9xf16>
// CHECK-NEXT: nn.winograd_output {{.*}} {tile = 2 : i64, sizes = array<i64: 1, 6, 6>}

// -----

// The weights of large tiles would come from memory for longer than smaller ones are multiplied.
// TILES-LABEL: @deep
// TILES: nn.winograd_conv {{.*}} {tile = 2 : i64
// TILES-LABEL: @wide
// TILES: nn.winograd_conv {{.*}} {tile = 4 : i64
func.func @deep(%x: tensor<1x64x7x7xf32>) -> tensor<1x64x7x7xf32> {
  %w = nn.constant dense<1.0> : tensor<64x64x3x3xf32>
  %y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x64x7x7xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x7x7xf32>
  func.return %y : tensor<1x64x7x7xf32>
}
func.func @wide(%x: tensor<8x64x14x14xf32>) -> tensor<8x64x14x14xf32> {
  %w = nn.constant dense<1.0> : tensor<64x64x3x3xf32>
  %y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (tensor<8x64x14x14xf32>, tensor<64x64x3x3xf32>) -> tensor<8x64x14x14xf32>
  func.return %y : tensor<8x64x14x14xf32>
}

// -----

// More launches pay on a GPU where each of them has work for the whole device.
// GPU-LABEL: @one_image
// GPU-NOT: nn.winograd
// GPU-LABEL: @eight_images
// GPU: nn.winograd_input
func.func @one_image(%x: tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32> {
  %w = nn.constant dense<1.0> : tensor<64x64x3x3xf32>
  %y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32>
  func.return %y : tensor<1x64x56x56xf32>
}
func.func @eight_images(%x: tensor<8x64x56x56xf32>) -> tensor<8x64x56x56xf32> {
  %w = nn.constant dense<1.0> : tensor<64x64x3x3xf32>
  %y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (tensor<8x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<8x64x56x56xf32>
  func.return %y : tensor<8x64x56x56xf32>
}

// -----

// A few channels are not worth their transforms.
// AUTO-LABEL: @few_channels
// AUTO-NOT: nn.winograd
// TEXELS-LABEL: @few_channels
// TEXELS-NOT: nn.winograd
func.func @few_channels(%x: tensor<1x3x32x32xf32>) -> tensor<1x4x32x32xf32> {
  %w = nn.constant dense<1.0> : tensor<4x3x3x3xf32>
  %y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x3x32x32xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x32x32xf32>
  func.return %y : tensor<1x4x32x32xf32>
}

// -----

// Strides, dilations, groups, other filters and computed weights are as they were, and so is a
// single row, for which whole tiles take as many products.
// CHECK-LABEL: @others
// CHECK-NOT: nn.winograd
func.func @others(%x: tensor<1x4x9x9xf32>, %r: tensor<1x4x1x3xf32>, %u: tensor<4x4x3x3xf32>) -> (tensor<1x4x4x4xf32>, tensor<1x4x5x5xf32>, tensor<1x4x7x7xf32>, tensor<1x4x7x7xf32>, tensor<1x4x1x3xf32>) {
  %w = nn.constant dense<1.0> : tensor<4x4x3x3xf32>
  %g = nn.constant dense<1.0> : tensor<4x1x3x3xf32>
  %a = nn.conv %x, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x4x9x9xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x4x4xf32>
  %b = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x4x9x9xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x5x5xf32>
  %c = nn.conv %x, %g {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 4 : i64} : (tensor<1x4x9x9xf32>, tensor<4x1x3x3xf32>) -> tensor<1x4x7x7xf32>
  %d = nn.conv %x, %u {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x4x9x9xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x7x7xf32>
  %e = nn.conv %r, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x4x1x3xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x1x3xf32>
  func.return %a, %b, %c, %d, %e : tensor<1x4x4x4xf32>, tensor<1x4x5x5xf32>, tensor<1x4x7x7xf32>, tensor<1x4x7x7xf32>, tensor<1x4x1x3xf32>
}
