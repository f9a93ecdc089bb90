// RUN: clopt %s -p canonicalize --split-input-file | filecheck %s

// As PyTorch exports it.
// CHECK-LABEL: @gelu
func.func @gelu(%x: tensor<4xf32>) -> tensor<4xf32> {
  %sqrt2 = nn.constant dense<1.41421354> : tensor<f32>
  %one = nn.constant dense<1.0> : tensor<f32>
  %half = nn.constant dense<0.5> : tensor<f32>
  %0 = nn.binary div %x, %sqrt2 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = nn.unary erf %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = nn.binary add %1, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = nn.binary mul %x, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = nn.binary mul %3, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %4 : tensor<4xf32>
}
// CHECK-NEXT: nn.unary gelu %x
// CHECK-NEXT: func.return

// -----

// Of a product, with the half on the other side and a multiplication for the division.
// CHECK-LABEL: @gelu_of_product
func.func @gelu_of_product(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %inverse = nn.constant dense<0.707106769> : tensor<f32>
  %one = nn.constant dense<1.0> : tensor<f32>
  %half = nn.constant dense<0.5> : tensor<f32>
  %x = nn.binary mul %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %0 = nn.binary mul %inverse, %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = nn.unary erf %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = nn.binary add %one, %1 : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = nn.binary mul %x, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %4 = nn.binary mul %3, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %4 : tensor<4xf32>
}
// CHECK-NEXT: nn.binary mul %a, %b
// CHECK-NEXT: nn.unary gelu

// -----

// CHECK-LABEL: @gelu_tanh
func.func @gelu_tanh(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = nn.constant dense<0.0447149985> : tensor<f32>
  %k = nn.constant dense<0.797884583> : tensor<f32>
  %three = nn.constant dense<3.0> : tensor<f32>
  %one = nn.constant dense<1.0> : tensor<f32>
  %half = nn.constant dense<0.5> : tensor<f32>
  %0 = nn.binary mul %x, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = nn.binary pow %x, %three : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = nn.binary mul %1, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = nn.binary add %x, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = nn.binary mul %3, %k : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %5 = nn.unary tanh %4 : (tensor<4xf32>) -> tensor<4xf32>
  %6 = nn.binary add %5, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %7 = nn.binary mul %0, %6 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %7 : tensor<4xf32>
}
// CHECK-NEXT: nn.unary gelu_tanh %x
// CHECK-NEXT: func.return

// -----

// Another x in the gate is no gelu.
// CHECK-LABEL: @not_gelu
func.func @not_gelu(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %sqrt2 = nn.constant dense<1.41421354> : tensor<f32>
  %one = nn.constant dense<1.0> : tensor<f32>
  %half = nn.constant dense<0.5> : tensor<f32>
  %0 = nn.binary div %y, %sqrt2 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = nn.unary erf %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = nn.binary add %1, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = nn.binary mul %x, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = nn.binary mul %3, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %4 : tensor<4xf32>
}
// CHECK-NOT: gelu %
// CHECK: nn.unary erf

// -----

// CHECK-LABEL: @gates
func.func @gates(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = nn.unary sigmoid %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = nn.binary mul %0, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %c = nn.constant dense<1.5> : tensor<f32>
  %2 = nn.binary mul %x, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = nn.unary sigmoid %2 : (tensor<4xf32>) -> tensor<4xf32>
  %4 = nn.binary mul %x, %3 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %5 = nn.unary softplus %x : (tensor<4xf32>) -> tensor<4xf32>
  %6 = nn.unary tanh %5 : (tensor<4xf32>) -> tensor<4xf32>
  %7 = nn.binary mul %x, %6 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %1, %4, %7 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
// CHECK-NEXT: nn.unary silu %x
// CHECK-NEXT: nn.unary swish %x {params = array<f64: 1.500000e+00>}
// CHECK-NEXT: nn.unary mish %x

// -----

// CHECK-LABEL: @hard_swish
func.func @hard_swish(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %three = nn.constant dense<3.0> : tensor<f32>
  %six = nn.constant dense<6.0> : tensor<f32>
  %0 = nn.binary add %x, %three : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = nn.clip %0 {low = 0.0 : f32, high = 6.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = nn.binary mul %x, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = nn.binary div %2, %six : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %4 = nn.binary div %1, %six : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %5 = nn.binary mul %x, %4 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %3, %4, %5 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
// CHECK-NEXT: nn.unary hard_swish %x
// CHECK-NEXT: nn.unary hard_sigmoid %x
// CHECK-NEXT: nn.unary hard_swish %x
// CHECK-NEXT: func.return

// -----

// CHECK-LABEL: @other_hard_sigmoids
// CHECK-NOT: hard_swish
// CHECK: func.return
func.func @other_hard_sigmoids(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = nn.unary hard_sigmoid %x {params = array<f64: 0.16666666666666666, 0.4>} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = nn.binary mul %x, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = nn.unary hard_sigmoid %x {params = array<f64: 0.2, 0.5>} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = nn.binary mul %x, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %1, %3 : tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: @exponentials
func.func @exponentials(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %one = nn.constant dense<1.0> : tensor<f32>
  %0 = nn.unary exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = nn.binary add %0, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = nn.unary log %1 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = nn.unary neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %4 = nn.unary exp %3 : (tensor<4xf32>) -> tensor<4xf32>
  %5 = nn.binary add %one, %4 : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %6 = nn.binary div %one, %5 : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %2, %6 : tensor<4xf32>, tensor<4xf32>
}
// CHECK-NEXT: nn.unary softplus %x
// CHECK-NEXT: nn.unary sigmoid %x
// CHECK-NEXT: func.return
