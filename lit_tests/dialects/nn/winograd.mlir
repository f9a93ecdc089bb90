// RUN: clopt %s | filecheck %s
// RUN: clopt %s | clopt | filecheck %s

// CHECK-LABEL: @transforms
func.func @transforms(%x: tensor<2x3x7x6xf32>, %m: tensor<36x5x8xf32>, %h: tensor<16x5x1xf16>) -> (tensor<36x3x8xf32>, tensor<2x5x7x6xf32>, tensor<1x5x2x1xf16>) {
  // CHECK-NEXT: nn.winograd_input %x {tile = 4 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<2x3x7x6xf32>) -> tensor<36x3x8xf32>
  %v = nn.winograd_input %x {tile = 4 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<2x3x7x6xf32>) -> tensor<36x3x8xf32>
  // CHECK-NEXT: nn.winograd_output %m {tile = 4 : i64, sizes = array<i64: 2, 7, 6>} : (tensor<36x5x8xf32>) -> tensor<2x5x7x6xf32>
  %y = nn.winograd_output %m {tile = 4 : i64, sizes = array<i64: 2, 7, 6>} : (tensor<36x5x8xf32>) -> tensor<2x5x7x6xf32>
  // CHECK-NEXT: nn.winograd_input %x {tile = 4 : i64, pads = array<i64: 1, 1, 1, 1>, in_steps}
  %u = nn.winograd_input %x {tile = 4 : i64, pads = array<i64: 1, 1, 1, 1>, in_steps} : (tensor<2x3x7x6xf32>) -> tensor<36x3x8xf32>
  // CHECK-NEXT: nn.winograd_output %m {tile = 4 : i64, sizes = array<i64: 2, 7, 6>, in_steps}
  %s = nn.winograd_output %m {tile = 4 : i64, sizes = array<i64: 2, 7, 6>, in_steps} : (tensor<36x5x8xf32>) -> tensor<2x5x7x6xf32>
  // CHECK-NEXT: nn.winograd_output %h {tile = 2 : i64, sizes = array<i64: 1, 2, 1>}
  %z = nn.winograd_output %h {tile = 2 : i64, sizes = array<i64: 1, 2, 1>} : (tensor<16x5x1xf16>) -> tensor<1x5x2x1xf16>
  func.return %v, %y, %z : tensor<36x3x8xf32>, tensor<2x5x7x6xf32>, tensor<1x5x2x1xf16>
}

// CHECK-LABEL: @products
func.func @products(%x: tensor<36x3x8xf32>, %w: tensor<36x5x3xf32>, %y: tensor<16x3x1xf16>, %v: tensor<16x5x3xf16>) -> (tensor<36x5x8xf32>, tensor<16x5x1xf16>) {
  // CHECK-NEXT: nn.winograd_product %x, %w : (tensor<36x3x8xf32>, tensor<36x5x3xf32>) -> tensor<36x5x8xf32>
  %m = nn.winograd_product %x, %w : (tensor<36x3x8xf32>, tensor<36x5x3xf32>) -> tensor<36x5x8xf32>
  // CHECK-NEXT: nn.winograd_product %y, %v {accumulate = f16} : (tensor<16x3x1xf16>, tensor<16x5x3xf16>) -> tensor<16x5x1xf16>
  %h = nn.winograd_product %y, %v {accumulate = f16} : (tensor<16x3x1xf16>, tensor<16x5x3xf16>) -> tensor<16x5x1xf16>
  func.return %m, %h : tensor<36x5x8xf32>, tensor<16x5x1xf16>
}

// CHECK-LABEL: @conv
func.func @conv(%x: tensor<2x3x7x6xf32>, %w: tensor<5x36x3xf32>, %b: tensor<5xf32>) -> tensor<2x5x7x6xf32> {
  // CHECK-NEXT: nn.winograd_conv %x, %w, %b {tile = 4 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<2x3x7x6xf32>, tensor<5x36x3xf32>, tensor<5xf32>) -> tensor<2x5x7x6xf32>
  %y = nn.winograd_conv %x, %w, %b {tile = 4 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<2x3x7x6xf32>, tensor<5x36x3xf32>, tensor<5xf32>) -> tensor<2x5x7x6xf32>
  func.return %y : tensor<2x5x7x6xf32>
}
