// RUN: clopt %s -f linalg --split-input-file --verify-diagnostics

func.func @open(%x: tensor<4xf32>, %n: tensor<index>) -> tensor<4xf32> {
  // expected-error @+1 {{but clopt compiles for static shapes}}
  %y = tensor.cast %x : tensor<4xf32> to tensor<?xf32>
  %z = tensor.cast %y : tensor<?xf32> to tensor<4xf32>
  func.return %z : tensor<4xf32>
}

// -----

// expected-error @+1 {{@open has the type tensor<?xf32>}}
func.func @open(%x: tensor<?xf32>) -> tensor<?xf32> {
  func.return %x : tensor<?xf32>
}

// -----

func.func @elided() -> tensor<400xf32> {
  // expected-error @+1 {{has no elements: they were elided when the text was printed}}
  %w = arith.constant dense_resource<__elided__> : tensor<400xf32>
  func.return %w : tensor<400xf32>
}

// -----

func.func @foreign(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = arith.constant 1.0 : f32
  %i = arith.constant 1 : index
  // expected-error @+1 {{is not supported; lower it to linalg on tensors}}
  %y = tensor.insert %one into %x[%i] : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

func.func @calls_itself(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{calls @calls_itself, which calls itself}}
  %y = func.call @calls_itself(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
