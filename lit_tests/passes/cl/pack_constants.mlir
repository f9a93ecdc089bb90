// RUN: clopt %s -p lower-nn-to-tir,tir-auto-schedule,cl-pack-constants --split-input-file --verify-diagnostics | filecheck %s

// Two launches read the same weights: they are packed once, and the original is gone.
// CHECK-LABEL: tir.func @matmul_0
// CHECK-SAME: layouts = {"1" = affine_map<(d0, d1) -> ((d1 floordiv [[n:.*]]), d0, (d1 mod [[n]]))>}
// CHECK:      cl.program @twice
// CHECK-NEXT:   [[w:%.*]] = cl.constant "w_{{.*}}" : memref<{{.*}}x16x{{.*}}xf32>
// CHECK-NEXT:   cl.alloc
// CHECK-NEXT:   cl.enqueue_kernel @matmul_0(%x, [[w]], {{.*}})
// CHECK-NEXT:   cl.enqueue_kernel @matmul_0({{.*}}, [[w]], {{.*}})
// CHECK-NEXT:   cl.return
module attributes {cl.target = #cl.target<"cpu", {}>} {
  func.func @twice(%x: tensor<6x16xf32>) -> tensor<6x16xf32> {
    %w = nn.constant dense<0.5> : tensor<16x16xf32>
    %a = nn.fused %x, %w : (tensor<6x16xf32>, tensor<16x16xf32>) -> tensor<6x16xf32> {
    ^bb0(%l: tensor<6x16xf32>, %r: tensor<16x16xf32>):
      %p = nn.matmul %l, %r : (tensor<6x16xf32>, tensor<16x16xf32>) -> tensor<6x16xf32>
      nn.yield %p : tensor<6x16xf32>
    }
    %b = nn.fused %a, %w : (tensor<6x16xf32>, tensor<16x16xf32>) -> tensor<6x16xf32> {
    ^bb0(%l: tensor<6x16xf32>, %r: tensor<16x16xf32>):
      %p = nn.matmul %l, %r : (tensor<6x16xf32>, tensor<16x16xf32>) -> tensor<6x16xf32>
      nn.yield %p : tensor<6x16xf32>
    }
    func.return %b : tensor<6x16xf32>
  }
}

// -----

// A kernel that reads them as they are keeps them.
// CHECK-LABEL: cl.program @both
// CHECK-NEXT:   [[w:%.*]] = cl.constant "w_{{.*}}" : memref<16x16xf32>
// CHECK-NEXT:   [[p:%.*]] = cl.constant "w_{{.*}}" : memref<{{.*}}x16x{{.*}}xf32>
// CHECK-NEXT:   cl.alloc
// CHECK-NEXT:   cl.enqueue_kernel @matmul_0(%x, [[p]], {{.*}})
// CHECK-NEXT:   cl.enqueue_kernel @add_1({{.*}}, [[w]], {{.*}})
module attributes {cl.target = #cl.target<"cpu", {}>} {
  func.func @both(%x: tensor<16x16xf32>) -> tensor<16x16xf32> {
    %w = nn.constant dense<0.5> : tensor<16x16xf32>
    %a = nn.fused %x, %w : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32> {
    ^bb0(%l: tensor<16x16xf32>, %r: tensor<16x16xf32>):
      %p = nn.matmul %l, %r : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
      nn.yield %p : tensor<16x16xf32>
    }
    %b = nn.fused %a, %w : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32> {
    ^bb0(%l: tensor<16x16xf32>, %r: tensor<16x16xf32>):
      %p = nn.binary add %l, %r : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
      nn.yield %p : tensor<16x16xf32>
    }
    func.return %b : tensor<16x16xf32>
  }
}
