// RUN: clopt %s -p nn-fuse,nn-to-cl,nn-to-tir --split-input-file --verify-diagnostics

func.func @interpolated_integers(%x: tensor<8xi8>) -> tensor<16xi8> {
  // expected-error@unknown {{up: linear resize of i8 would round; cast the input to float first}}
  %r = nn.resize linear %x {coordinate_mode = #nn<coordinate_mode half_pixel>, scales = array<f64: 2.0>, sizes = array<i64: 16>} : (tensor<8xi8>) -> tensor<16xi8> loc("up")
  func.return %r : tensor<16xi8>
}

// -----

func.func @nothing_to_gather(%x: tensor<0x4xf32>, %i: tensor<5xi64>) -> tensor<5x4xf32> {
  // expected-error@unknown {{nn.gather: cannot gather from a tensor without elements; give it elements}}
  %r = nn.gather %x, %i {axis = 0 : i64} : (tensor<0x4xf32>, tensor<5xi64>) -> tensor<5x4xf32>
  func.return %r : tensor<5x4xf32>
}

// -----

func.func @no_extreme(%x: tensor<4x0xf32>) -> tensor<4xi64> {
  // expected-error@unknown {{nn.arg_reduce: an empty axis has no extreme element; reduce an axis with elements}}
  %r = nn.arg_reduce max %x {axis = 1 : i64} : (tensor<4x0xf32>) -> tensor<4xi64>
  func.return %r : tensor<4xi64>
}

// -----

func.func @no_mean(%x: tensor<4x0xi32>) -> tensor<4xi32> {
  // expected-error@unknown {{nn.reduce: the mean of no integers is undefined; reduce a tensor with elements}}
  %r = nn.reduce mean %x {axes = array<i64: 1>} : (tensor<4x0xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}
