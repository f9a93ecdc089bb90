// A function of another compiler that computes parts with nn.
func.func @step(%state: tensor<4x8xf32>, %w: tensor<8x8xf32>, %is_last: i1) -> tensor<4x8xf32> {
  %product = nn.matmul %state, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %next = scf.if %is_last -> (tensor<4x8xf32>) {
    %y = nn.softmax %product {axis = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    scf.yield %y : tensor<4x8xf32>
  } else {
    scf.yield %product : tensor<4x8xf32>
  }
  func.return %next : tensor<4x8xf32>
}
