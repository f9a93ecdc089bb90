// RUN: clopt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{ranges from 1 to 3, outside 3 elements}}
  %y = nn.generic %x {maps = [affine_map<(i, j) -> (i, j + 1)>, affine_map<(i, j) -> (i, j)>], extents = array<i64: 2, 3>, elements = [f32]} : (tensor<2x3xf32>) -> tensor<2x3xf32> {
  ^bb0(%a: f32):
    nn.yield %a : f32
  }
  func.return %y : tensor<2x3xf32>
}

// -----

func.func @f(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{1 operands and 1 results need as many maps but there are 1}}
  %y = nn.generic %x {maps = [affine_map<(i, j) -> (i, j)>], extents = array<i64: 2, 3>, elements = [f32]} : (tensor<2x3xf32>) -> tensor<2x3xf32> {
  ^bb0(%a: f32):
    nn.yield %a : f32
  }
  func.return %y : tensor<2x3xf32>
}

// -----

func.func @f(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{a map must have all loops as dimensions}}
  %y = nn.generic %x {maps = [affine_map<(i) -> (i, i)>, affine_map<(i, j) -> (i, j)>], extents = array<i64: 2, 3>, elements = [f32]} : (tensor<2x3xf32>) -> tensor<2x3xf32> {
  ^bb0(%a: f32):
    nn.yield %a : f32
  }
  func.return %y : tensor<2x3xf32>
}

// -----

func.func @f(%x: tensor<2x3xf32>) -> tensor<2x2xf32> {
  // expected-error @+1 {{must name each loop once}}
  %y = nn.generic %x {maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, i)>], extents = array<i64: 2, 3>, elements = [f32]} : (tensor<2x3xf32>) -> tensor<2x2xf32> {
  ^bb0(%a: f32):
    nn.yield %a : f32
  }
  func.return %y : tensor<2x2xf32>
}

// -----

func.func @f(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{init is for loops that no result has}}
  %y = nn.generic %x {maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], extents = array<i64: 2, 3>, elements = [f32]} : (tensor<2x3xf32>) -> tensor<2xf32> {
  ^bb0(%a: f32):
    nn.yield %a : f32
  }
  func.return %y : tensor<2xf32>
}

// -----

func.func @f(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{a result of f32 cannot start from 0 : i32}}
  %y = nn.generic %x {maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], extents = array<i64: 2, 3>, elements = [f32], init = [0 : i32]} : (tensor<2x3xf32>) -> tensor<2xf32> {
  ^bb0(%a: f32, %s: f32):
    nn.yield %a : f32
  }
  func.return %y : tensor<2xf32>
}

// -----

func.func @f(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{the body must have arguments f32 but has f64}}
  %y = nn.generic %x {maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], extents = array<i64: 2, 3>, elements = [f32]} : (tensor<2x3xf32>) -> tensor<2x3xf32> {
  ^bb0(%b: f64):
    %a = arith.truncf %b : f64 to f32
    nn.yield %a : f32
  }
  func.return %y : tensor<2x3xf32>
}

// -----

func.func @f(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{math.ctpop is not allowed in the body of a generic}}
  %y = nn.generic %x {maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], extents = array<i64: 2, 3>, elements = [f32]} : (tensor<2x3xf32>) -> tensor<2x3xf32> {
  ^bb0(%a: f32):
    %n = arith.fptosi %a : f32 to i32
    %c = math.ctpop %n : i32
    nn.yield %a : f32
  }
  func.return %y : tensor<2x3xf32>
}

// -----

func.func @f(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{there is no loop 2}}
  %y = nn.generic %x {maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], extents = array<i64: 2, 3>, elements = [f32]} : (tensor<2x3xf32>) -> tensor<2x3xf32> {
  ^bb0(%a: f32):
    %i = nn.index 2
    nn.yield %a : f32
  }
  func.return %y : tensor<2x3xf32>
}
