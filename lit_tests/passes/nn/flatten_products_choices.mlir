// RUN: clopt %s --split-input-file --target pocl -p nn-flatten-products | filecheck %s

// A choice demands one product of all rows, although the target has no panels.
// CHECK: cl.choices = [#cl.choice<"form", "7b95bb2e8277fe7f", "flat", "nn.matmul", ["stacked"]>]
// CHECK: nn.matmul {{.*}} -> tensor<24x6xf32>
module attributes {cl.choices = [#cl.choice<"form", "7b95bb2e8277fe7f", "flat", "", []>]} {
  func.func @flat(%a: tensor<2x3x4x5xf32>, %b: tensor<5x6xf32>) -> tensor<2x3x4x6xf32> {
    %y = nn.matmul %a, %b : (tensor<2x3x4x5xf32>, tensor<5x6xf32>) -> tensor<2x3x4x6xf32>
    func.return %y : tensor<2x3x4x6xf32>
  }
}

// -----

// CHECK: cl.choices = [#cl.choice<"form", "7b95bb2e8277fe7f", "stacked", "nn.matmul", ["flat"]>]
// CHECK: nn.matmul {{.*}} -> tensor<2x3x4x6xf32>
module attributes {cl.choices = []} {
  func.func @noted(%a: tensor<2x3x4x5xf32>, %b: tensor<5x6xf32>) -> tensor<2x3x4x6xf32> {
    %y = nn.matmul %a, %b : (tensor<2x3x4x5xf32>, tensor<5x6xf32>) -> tensor<2x3x4x6xf32>
    func.return %y : tensor<2x3x4x6xf32>
  }
}
