// RUN: clopt %s -p nn-mixed-precision --split-input-file | filecheck %s --check-prefix=OFF
// RUN: clopt %s -p 'nn-mixed-precision{precision="f16-storage"}' --split-input-file | filecheck %s
// RUN: clopt %s -p 'nn-mixed-precision{precision="f16-storage"},nn-mixed-precision{precision="f16-storage"}' --split-input-file | filecheck %s
// RUN: clopt %s --target intel-cpu -p 'nn-mixed-precision{precision=f16}' --split-input-file | filecheck %s --check-prefix=HALF
// RUN: clopt %s --target pocl -p 'nn-mixed-precision{precision=f16}' --split-input-file | filecheck %s --check-prefix=NONE
// RUN: not clopt %s -p 'nn-mixed-precision{precision=f8}' 2>&1 | filecheck %s --check-prefix=WRONG

// OFF-NOT: f16
// WRONG: precision must be one of f32, f16-storage, f16, not f8
// NONE: clopt.remarks = ["The target pocl has no half arithmetic: f16 is computed in float, as f16-storage."]
// NONE-NOT: accumulate

// A cast where floats come in, one where they go out; weights are halves already.
// CHECK-LABEL: @border
func.func @border(%x: tensor<1x4x5x5xf32>) -> tensor<1x4x3x3xf32> {
  %w = nn.constant dense<0.1> : tensor<4x4x3x3xf32>
  %b = nn.constant dense<2.0> : tensor<4xf32>
  %y = nn.conv %x, %w, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x4x5x5xf32>, tensor<4x4x3x3xf32>, tensor<4xf32>) -> tensor<1x4x3x3xf32>
  %r = nn.unary relu %y : (tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
  %p = nn.unary sigmoid %r : (tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
  func.return %p : tensor<1x4x3x3xf32>
}
// CHECK: [[x:%.*]] = nn.cast %x {to = f16}
// CHECK: [[w:%.*]] = nn.constant dense<9.997560e-02> : tensor<4x4x3x3xf16>
// CHECK: [[b:%.*]] = nn.constant dense<2.000000e+00> : tensor<4xf16>
// CHECK: [[y:%.*]] = nn.conv [[x]], [[w]], [[b]] {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>}
// CHECK-NEXT: [[r:%.*]] = nn.unary relu [[y]] : {{.*}} -> tensor<1x4x3x3xf16>
// CHECK-NEXT: [[f:%.*]] = nn.cast [[r]] {to = f32}
// CHECK-NEXT: [[p:%.*]] = nn.unary sigmoid [[f]] : {{.*}} -> tensor<1x4x3x3xf32>
// CHECK-NEXT: func.return [[p]]
// HALF-LABEL: @border
// HALF: nn.conv {{.*}}accumulate = f16

// -----

// Exponentials and sums leave the range of half, comparisons decide: f32. The next product rounds.
// CHECK-LABEL: @single
func.func @single(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xi64>) {
  %y = nn.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %e = nn.unary exp %y : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %s = nn.reduce sum %e {axes = array<i64: 1>, keepdims} : (tensor<4x4xf32>) -> tensor<4x1xf32>
  %q = nn.binary div %e, %s : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
  %z = nn.matmul %q, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %i = nn.arg_reduce max %y {axis = 1 : i64} : (tensor<4x4xf32>) -> tensor<4xi64>
  func.return %z, %i : tensor<4x4xf32>, tensor<4xi64>
}
// CHECK-DAG: [[w:%.*]] = nn.cast %w {to = f16}
// CHECK-DAG: [[x:%.*]] = nn.cast %x {to = f16}
// CHECK: [[y:%.*]] = nn.matmul [[x]], [[w]]
// CHECK-NEXT: [[yf:%.*]] = nn.cast [[y]] {to = f32}
// CHECK-NEXT: nn.unary exp [[yf]]
// CHECK: nn.reduce sum {{.*}} -> tensor<4x1xf32>
// CHECK-NEXT: [[q:%.*]] = nn.binary div {{.*}} -> tensor<4x4xf32>
// CHECK-NEXT: [[h:%.*]] = nn.cast [[q]] {to = f16}
// CHECK-NEXT: [[z:%.*]] = nn.matmul [[h]], [[w]]
// CHECK-NEXT: [[zf:%.*]] = nn.cast [[z]] {to = f32}
// CHECK-NEXT: [[i:%.*]] = nn.arg_reduce max [[yf]]
// CHECK-NEXT: func.return [[zf]], [[i]]

// -----

// What half cannot hold stays, with a remark, and so does what would vanish. The constant that
// another operation shares is there in both types.
// CHECK: clopt.remarks = ["nn.matmul stays in f32: a constant reaches 1e+05, which is beyond the range of half.", "nn.binary stays in f32: a constant of at most 1e-12 would vanish in half."]
// CHECK-LABEL: @misfits
func.func @misfits(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %big = nn.constant dense<[[1.0, 2.0], [3.0, 1.0e5]]> : tensor<2x2xf32>
  %w = nn.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %eps = nn.constant dense<1.0e-12> : tensor<f32>
  %a = nn.matmul %x, %big : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %b = nn.matmul %x, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %c = nn.binary add %b, %eps : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %d = nn.binary mul %a, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %e = nn.matmul %c, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  func.return %d, %e : tensor<2x2xf32>, tensor<2x2xf32>
}
// CHECK-DAG: [[w:%.*]] = nn.constant {{.*4.0.*}} : tensor<2x2xf32>
// CHECK-DAG: [[h:%.*]] = nn.constant {{.*4.0.*}} : tensor<2x2xf16>
// CHECK: nn.matmul %x, %big : {{.*}} -> tensor<2x2xf32>
// CHECK: nn.matmul {{%.*}}, [[h]] : {{.*}} -> tensor<2x2xf16>
// CHECK: nn.binary mul {{%.*}}, [[w]] : {{.*}} -> tensor<2x2xf32>

// -----

// A residual chain and a concatenation stay halves throughout.
// CHECK-LABEL: @residual
func.func @residual(%x: tensor<4x4xf32>, %t: tensor<4x4xf32>) -> tensor<8x4xf32> {
  %w = nn.constant dense<1.5> : tensor<4x4xf32>
  %a = nn.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = nn.matmul %a, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = nn.binary add %a, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %d = nn.concat %c, %t {axis = 0 : i64} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %e = nn.matmul %d, %w : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  func.return %e : tensor<8x4xf32>
}
// CHECK: nn.binary add {{.*}} -> tensor<4x4xf16>
// CHECK-NEXT: nn.concat {{.*}} -> tensor<8x4xf16>
// CHECK-NEXT: nn.matmul {{.*}} -> tensor<8x4xf16>
// CHECK-NEXT: nn.cast {{.*}} -> tensor<8x4xf32>
// CHECK-NEXT: func.return
