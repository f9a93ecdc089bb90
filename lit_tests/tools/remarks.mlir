// RUN: clopt %s --target "adreno-740 fp16=false" -p 'nn-mixed-precision{precision=f16}' --verify-diagnostics
// RUN: clopt %s --target "adreno-740 fp16=false" -p 'nn-mixed-precision{precision=f16}' 2>&1 \
// RUN:   | filecheck %s
// RUN: not clopt %s --target adreno-740 -p 'nn-mixed-precision{precision=f16}' --verify-diagnostics 2>&1 \
// RUN:   | filecheck %s --check-prefix=UNMET
// RUN: clopt %s -p dce | not clopt --target "adreno-740 fp16=false" \
// RUN:   -p 'nn-mixed-precision{precision=f16}' --verify-diagnostics 2>&1 \
// RUN:   | filecheck %s --check-prefix=UNEXPECTED

// CHECK: remark: The target adreno-740 has no half arithmetic
// UNMET: remarks.mlir:13: expected remark "has no half arithmetic" was not produced.
// UNEXPECTED: unexpected remark: <stdin>: The target adreno-740 has no half arithmetic
// expected-remark @unknown {{has no half arithmetic}}
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %y = "nn.matmul"(%x, %x) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %y : tensor<4x4xf32>
}
