// RUN: clopt %s -p canonicalize --split-input-file | filecheck %s

// CHECK-LABEL: @cancel
func.func @cancel(%x: tensor<4xf32>, %b: tensor<4xi1>) -> (tensor<4xf32>, tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) {
  %0 = nn.unary neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = nn.unary neg %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = nn.unary logical_not %b : (tensor<4xi1>) -> tensor<4xi1>
  %3 = nn.unary logical_not %2 : (tensor<4xi1>) -> tensor<4xi1>
  %4 = nn.unary relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %5 = nn.unary relu %4 : (tensor<4xf32>) -> tensor<4xf32>
  %6 = nn.unary sqrt %x : (tensor<4xf32>) -> tensor<4xf32>
  %7 = nn.unary reciprocal %6 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1, %3, %5, %7 : tensor<4xf32>, tensor<4xi1>, tensor<4xf32>, tensor<4xf32>
}
// CHECK-NEXT: [[r:%.*]] = nn.unary relu %x
// CHECK-NEXT: [[q:%.*]] = nn.unary rsqrt %x
// CHECK-NEXT: func.return %x, %b, [[r]], [[q]]

// -----

// CHECK-LABEL: @clips
func.func @clips(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = nn.clip %x {low = 0.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = nn.clip %0 {high = 6.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = nn.clip %x {low = -1.0 : f32, high = 3.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = nn.unary relu %2 : (tensor<4xf32>) -> tensor<4xf32>
  %4 = nn.clip %x {low = 0xFF800000 : f32, high = 0x7F800000 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  %5 = nn.clip %2 {low = 5.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1, %3, %4, %5 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
// CHECK-NEXT: [[a:%.*]] = nn.clip %x {low = 0.000000e+00 : f32, high = 6.000000e+00 : f32}
// CHECK-NEXT: [[b:%.*]] = nn.clip %x {low = 0.000000e+00 : f32, high = 3.000000e+00 : f32}
// CHECK-NEXT: [[c:%.*]] = nn.clip %x {low = 5.000000e+00 : f32, high = 5.000000e+00 : f32}
// CHECK-NEXT: func.return [[a]], [[b]], %x, [[c]]

// -----

// CHECK-LABEL: @clip_at_zero
func.func @clip_at_zero(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.clip %x {low = 0.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
// CHECK-NEXT: nn.unary relu %x

// -----

// CHECK-LABEL: @neutral
func.func @neutral(%x: tensor<4xf32>, %b: tensor<4xi1>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xi1>, tensor<4xf32>) {
  %zero = nn.constant dense<0.0> : tensor<1xf32>
  %one = nn.constant dense<1.0> : tensor<f32>
  %true = nn.constant dense<true> : tensor<i1>
  %0 = nn.binary add %zero, %x : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = nn.binary div %x, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = nn.binary and %b, %true : (tensor<4xi1>, tensor<i1>) -> tensor<4xi1>
  %3 = nn.cast %x {to = f32} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xi1>, tensor<4xf32>
}
// CHECK-NEXT: func.return %x, %x, %b, %x

// -----

// A constant that broadcasts x is not neutral.
// CHECK-LABEL: @neutral_broadcast
func.func @neutral_broadcast(%x: tensor<4xf32>) -> tensor<2x4xf32> {
  %zero = nn.constant dense<0.0> : tensor<2x1xf32>
  %0 = nn.binary add %x, %zero : (tensor<4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  func.return %0 : tensor<2x4xf32>
}
// CHECK: nn.binary add

// -----

// CHECK-LABEL: @powers
func.func @powers(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %three = nn.constant dense<3.0> : tensor<f32>
  %two = nn.constant dense<2.0> : tensor<f32>
  %half = nn.constant dense<0.5> : tensor<f32>
  %one = nn.constant dense<1.0> : tensor<f32>
  %0 = nn.binary pow %x, %two : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = nn.binary pow %x, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = nn.binary div %one, %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = nn.binary pow %x, %three : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
// CHECK-NEXT: nn.binary mul %x, %x
// CHECK-NEXT: nn.unary sqrt %x
// CHECK-NEXT: nn.unary reciprocal %x
// CHECK-NEXT: [[s:%.*]] = nn.binary mul %x, %x
// CHECK-NEXT: nn.binary mul [[s]], %x

// -----

// CHECK-LABEL: @bounds
func.func @bounds(%x: tensor<4xi32>, %y: tensor<4xf32>) -> (tensor<4xi32>, tensor<4xf32>) {
  %c = nn.constant dense<7> : tensor<i32>
  %s = nn.constant dense<0.25> : tensor<f32>
  %0 = nn.binary min %c, %x : (tensor<i32>, tensor<4xi32>) -> tensor<4xi32>
  %1 = nn.binary prelu %y, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %0, %1 : tensor<4xi32>, tensor<4xf32>
}
// CHECK-NEXT: nn.clip %x {high = 7 : i32}
// CHECK-NEXT: nn.unary leaky_relu %y {params = array<f64: 2.500000e-01>}

// -----

// CHECK-LABEL: @where
func.func @where(%x: tensor<4xf32>, %y: tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %true = nn.constant dense<true> : tensor<4xi1>
  %0 = nn.where %true, %x, %y : (tensor<4xi1>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = nn.where %true, %y, %x : (tensor<4xi1>, tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
// CHECK-NEXT: [[e:%.*]] = nn.expand %y
// CHECK-NEXT: func.return %x, [[e]]
