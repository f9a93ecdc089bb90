// RUN: clopt %s -p nn-round-halves --split-input-file --verify-diagnostics | filecheck %s
// RUN: clopt %s -p nn-round-halves,simplify,fuse --split-input-file --verify-diagnostics | filecheck %s --check-prefix=FUSED

// Each operation is computed in f32 and rounded. Simplification keeps the casts, and a kernel ends
// where a result is rounded.
// CHECK-LABEL: @chain
// CHECK-NEXT:    [[x:%.*]] = nn.cast %x {to = f32}
// CHECK-NEXT:    [[y:%.*]] = nn.cast %y {to = f32}
// CHECK-NEXT:    [[p:%.*]] = nn.binary mul [[x]], [[y]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    [[h:%.*]] = nn.cast [[p]] {to = f16}
// CHECK-NEXT:    [[w:%.*]] = nn.cast [[h]] {to = f32}
// CHECK-NEXT:    [[c:%.*]] = nn.clip [[w]] {low = 5.000000e-01 : f32} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    [[r:%.*]] = nn.cast [[c]] {to = f16}
// CHECK-NEXT:    func.return [[r]]
// FUSED-LABEL: @chain
// FUSED-COUNT-2: nn.fused
// FUSED-NOT:     nn.fused
// FUSED:         func.return
func.func @chain(%x: tensor<4xf16>, %y: tensor<4xf16>) -> tensor<4xf16> {
  %p = nn.binary mul %x, %y : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
  %c = nn.clip %p {low = 0.5 : f16} : (tensor<4xf16>) -> tensor<4xf16>
  func.return %c : tensor<4xf16>
}

// -----

// Elements that are moved, compared or converted need no rounding. Sums are kept in f32.
// CHECK-LABEL: @others
// CHECK-NEXT:    nn.transpose %x {{.*}} -> tensor<4x3xf16>
// CHECK-NEXT:    nn.compare lt %x, %x : (tensor<3x4xf16>, tensor<3x4xf16>) -> tensor<3x4xi1>
// CHECK:         nn.matmul {{.*}} : (tensor<4x3xf32>, tensor<3x4xf32>) -> tensor<4x4xf32>
func.func @others(%x: tensor<3x4xf16>) -> (tensor<3x4xi1>, tensor<4x4xf16>) {
  %t = nn.transpose %x {perm = array<i64: 1, 0>} : (tensor<3x4xf16>) -> tensor<4x3xf16>
  %c = nn.compare lt %x, %x : (tensor<3x4xf16>, tensor<3x4xf16>) -> tensor<3x4xi1>
  %m = nn.matmul %t, %x {accumulate = f16} : (tensor<4x3xf16>, tensor<3x4xf16>) -> tensor<4x4xf16>
  func.return %c, %m : tensor<3x4xi1>, tensor<4x4xf16>
}
