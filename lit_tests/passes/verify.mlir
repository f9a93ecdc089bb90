// RUN: clopt %s --disable-verify -p verify --split-input-file --verify-diagnostics | filecheck %s
// RUN: clopt %s --disable-verify -p 'verify{bodies=false}' --split-input-file --verify-diagnostics | filecheck %s

// expected-error @+2 {{'nn.unary': result type should be tensor<4xf32> but is tensor<5xf32>}}
func.func @broken(%x: tensor<4xf32>) -> tensor<5xf32> {
  %y = nn.unary relu %x : (tensor<4xf32>) -> tensor<5xf32>
  func.return %y : tensor<5xf32>
}

// -----

// CHECK: func.func @sound
func.func @sound(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = nn.unary relu %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
