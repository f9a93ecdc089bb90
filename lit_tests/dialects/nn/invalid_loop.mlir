// RUN: clopt %s --split-input-file --verify-diagnostics

func.func @main(%h: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{the module has no func.func @step}}
  %r = nn.loop @step %h {trips = 2 : i64, carried = 1 : i64, rows = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// -----

func.func @main(%h: tensor<4xf32>, %x: tensor<2x3xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{@step takes (tensor<4xf32>, tensor<4xf32>), but an iteration of the loop needs (tensor<4xf32>, tensor<3xf32>)}}
  %r = nn.loop @step %h, %x {trips = 2 : i64, carried = 1 : i64, rows = 1 : i64} : (tensor<4xf32>, tensor<2x3xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
func.func private @step(%h: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  func.return %h : tensor<4xf32>
}

// -----

func.func @main(%h: tensor<4xf32>) -> (tensor<4xf32>, tensor<2x4xf32>) {
  // expected-error@+1 {{@step returns (tensor<4xf32>), but an iteration of the loop needs (tensor<4xf32>, tensor<4xf32>)}}
  %r, %s = nn.loop @step %h {trips = 2 : i64, carried = 1 : i64, rows = 0 : i64} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<2x4xf32>)
  func.return %r, %s : tensor<4xf32>, tensor<2x4xf32>
}
func.func private @step(%h: tensor<4xf32>) -> tensor<4xf32> {
  func.return %h : tensor<4xf32>
}

// -----

func.func @main(%h: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{trips must be positive, not 0}}
  %r = nn.loop @step %h {trips = 0 : i64, carried = 1 : i64, rows = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
func.func private @step(%h: tensor<4xf32>) -> tensor<4xf32> {
  func.return %h : tensor<4xf32>
}

// -----

func.func @main(%h: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{2 carried values need as many operands and results, but the loop has 1 and 1}}
  %r = nn.loop @step %h {trips = 3 : i64, carried = 2 : i64, rows = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
func.func private @step(%h: tensor<4xf32>) -> tensor<4xf32> {
  func.return %h : tensor<4xf32>
}

// -----

func.func @main(%h: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{rows must be at most the 0 operands that are not carried, not 1}}
  %r = nn.loop @step %h {trips = 3 : i64, carried = 1 : i64, rows = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
func.func private @step(%h: tensor<4xf32>) -> tensor<4xf32> {
  func.return %h : tensor<4xf32>
}

// -----

func.func @main(%h: tensor<4xf32>) -> tensor<5xf32> {
  // expected-error@+1 {{a carried value must keep its type, but tensor<4xf32> becomes tensor<5xf32>}}
  %r = nn.loop @step %h {trips = 3 : i64, carried = 1 : i64, rows = 0 : i64} : (tensor<4xf32>) -> tensor<5xf32>
  func.return %r : tensor<5xf32>
}
func.func private @step(%h: tensor<4xf32>) -> tensor<5xf32> {
  %c = nn.constant dense<1.0> : tensor<5xf32>
  func.return %c : tensor<5xf32>
}

// -----

func.func private @step(%x: tensor<f32>) -> tensor<f32> {
  func.return %x : tensor<f32>
}
func.func @main(%x: tensor<4xf32>) -> tensor<3xf32> {
  // expected-error@+1 {{tensor<4xf32> must have 3 rows, one for each iteration}}
  %r = nn.loop @step %x {trips = 3 : i64, carried = 0 : i64, rows = 1 : i64} : (tensor<4xf32>) -> tensor<3xf32>
  func.return %r : tensor<3xf32>
}

// -----

func.func private @step(%x: tensor<f32>) -> tensor<f32> {
  func.return %x : tensor<f32>
}
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error@+1 {{reversed lists 2, but the loop has 2 tensors of rows}}
  %r = nn.loop @step %x {trips = 3 : i64, carried = 0 : i64, rows = 1 : i64, reversed = array<i64: 2>} : (tensor<3xf32>) -> tensor<3xf32>
  func.return %r : tensor<3xf32>
}

// -----

func.func @main(%h: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{@main contains the loop, so it cannot be its body}}
  %r = nn.loop @main %h {trips = 3 : i64, carried = 1 : i64, rows = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
