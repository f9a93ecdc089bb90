// RUN: clopt %s -p nn-to-tir --split-input-file --verify-diagnostics | filecheck %s

// A reduction is a stage of its own; operations after it are computed where the result is stored.
// CHECK-LABEL: tir.func @matmul_0
// CHECK-SAME: (%a: memref<2x3xf32>, %b: memref<3x4xf32>, %q: memref<2x4xf32>) attributes {outputs = array<i64: 2>, constants = array<i64: 1>, comment = "fc, act"}
// CHECK-NEXT: [[t:%.*]] = memref.alloca() : memref<2x4xf32>
// CHECK-NEXT: tir.for parallel %m = 0 to 2 {
// CHECK-NEXT:   tir.for parallel %n = 0 to 4 {
// CHECK-NEXT:     tir.for serial %k = 0 to 3 {
// CHECK-NEXT:       tir.block "matmul" ({{.*}}: spatial 2, {{.*}}: spatial 4, {{.*}}: reduce 3) {{.*}} init [0.000000e+00 : f32] {
// CHECK:              memref.store {{.*}}, [[t]]
// CHECK:      tir.for parallel %i0 = 0 to 2 {
// CHECK-NEXT:   tir.for parallel %i1 = 0 to 4 {
// CHECK-NEXT:     tir.block "out"
// CHECK-NEXT:       [[v:%.*]] = memref.load [[t]]
// CHECK:            [[r:%.*]] = arith.select
// CHECK-NEXT:       memref.store [[r]], %q
nn.kernel @matmul_0 {constants = array<i64: 1>, comment = "fc, act"} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32> {
^bb0(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>):
  %p = nn.matmul %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %q = nn.unary relu %p : (tensor<2x4xf32>) -> tensor<2x4xf32>
  nn.yield %q : tensor<2x4xf32>
}

// The program that launches a kernel stays as it is.
// CHECK:      cl.program @main
// CHECK-NEXT:   %w = cl.constant "w" : memref<3x4xf32>
// CHECK-NEXT:   cl.enqueue_kernel @matmul_0(%x, %w, %y)
cl.program @main(%x: memref<2x3xf32>, %y: memref<2x4xf32>) inputs 1 {
  %w = cl.constant "w" : memref<3x4xf32>
  cl.enqueue_kernel @matmul_0(%x, %w, %y) : memref<2x3xf32>, memref<3x4xf32>, memref<2x4xf32>
  cl.return
}

// -----

// Parameters have the layouts of the kernel's tensors.
// CHECK-LABEL: tir.func @relu_0
// CHECK-SAME: (%a: memref<1x2x8x4xf32>, %b: memref<1x6x8xf32>)
nn.kernel @relu_0 : (tensor<1x6x8xf32, #nn.layout<[1 by 4]>>) -> tensor<1x6x8xf32> {
^bb0(%a: tensor<1x6x8xf32>):
  %b = nn.unary relu %a : (tensor<1x6x8xf32>) -> tensor<1x6x8xf32>
  nn.yield %b : tensor<1x6x8xf32>
}

// -----

// expected-error@unknown {{fc: accumulate = f16 needs half arithmetic, which the target none lacks; leave it out to accumulate halves in float}}
module attributes {cl.target = #cl.target<"none", {fp16 = false}>} {
  nn.kernel @matmul_0 : (tensor<2x3xf16>, tensor<3x4xf16>) -> tensor<2x4xf16> {
  ^bb0(%a: tensor<2x3xf16>, %b: tensor<3x4xf16>):
    %p = nn.matmul %a, %b {accumulate = f16} : (tensor<2x3xf16>, tensor<3x4xf16>) -> tensor<2x4xf16> loc("fc")
    nn.yield %p : tensor<2x4xf16>
  }
}
