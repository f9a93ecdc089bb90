// RUN: clopt %s | filecheck %s
// RUN: clopt %s | clopt | filecheck %s

// Heads may share their keys or their values.
// CHECK-LABEL: @heads
func.func @heads(%q: tensor<2x3x9x5xf32>, %k: tensor<1x3x7x5xf32>, %v: tensor<7x4xf32>) -> tensor<2x3x9x4xf32> {
  // CHECK-NEXT: %s = nn.attention_scores %q, %k : (tensor<2x3x9x5xf32>, tensor<1x3x7x5xf32>) -> tensor<2x3x9x7xf32>
  %s = nn.attention_scores %q, %k : (tensor<2x3x9x5xf32>, tensor<1x3x7x5xf32>) -> tensor<2x3x9x7xf32>
  // CHECK-NEXT: nn.attention %s, %v : (tensor<2x3x9x7xf32>, tensor<7x4xf32>) -> tensor<2x3x9x4xf32>
  %y = nn.attention %s, %v : (tensor<2x3x9x7xf32>, tensor<7x4xf32>) -> tensor<2x3x9x4xf32>
  func.return %y : tensor<2x3x9x4xf32>
}
