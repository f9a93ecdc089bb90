// RUN: clopt %s -p nn-to-cl,nn-to-tir,tir-choose-plan,tir-apply-plan,verify,cl-pack-constants --split-input-file --verify-diagnostics | filecheck %s
// RUN: clopt %s -p nn-to-cl,nn-to-tir,tir-choose-plan,tir-apply-plan,cl-pack-constants,verify,cl-pack-constants --split-input-file --verify-diagnostics | filecheck %s

// Two launches read the same weights: they are packed once, and the original is gone. The kernel
// reads them where the layout places them.
// CHECK-LABEL: tir.func @matmul_0
// CHECK-SAME: %r: memref<1x16x16xf32>
// CHECK-NOT:  layouts
// CHECK:      [[b:%.*]] = affine.apply affine_map<(d0, d1) -> ((d1 floordiv 16))> ([[k:%.*]], [[n:%.*]])
// CHECK-NEXT: [[l:%.*]] = affine.apply affine_map<(d0, d1) -> ((d1 mod 16))> ([[k]], [[n]])
// CHECK-NEXT: memref.load %r{{\[}}[[b]], [[k]], [[l]]] : memref<1x16x16xf32>
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

// -----

// A layout that does not fill its last block: the constant is padded.
// CHECK-LABEL: tir.func @padded(%w: memref<3x2x4xf32>, %y: memref<7x3xf32>)
// CHECK:      [[b:%.*]] = affine.apply affine_map<(d0, d1) -> ((d0 floordiv 4))> (%i, %j)
// CHECK-NEXT: [[l:%.*]] = affine.apply affine_map<(d0, d1) -> ((d0 mod 4))> (%i, %j)
// CHECK-NEXT: memref.load %w[%j, [[b]], [[l]]] : memref<3x2x4xf32>
module attributes {cl.target = #cl.target<"cpu", {}>} {
  tir.func @padded(%w: memref<7x3xf32>, %y: memref<7x3xf32>) attributes {outputs = array<i64: 1>, constants = array<i64: 0>, layouts = {"0" = affine_map<(d0, d1) -> (d1, d0 floordiv 4, d0 mod 4)>}} {
    tir.for parallel %a = 0 to 7 {
      tir.for parallel %b = 0 to 3 {
        tir.block "copy" (%i: spatial 7, %j: spatial 3) = affine_map<(d0, d1) -> (d0, d1)> (%a, %b) {
          %p = memref.load %w[%i, %j] : memref<7x3xf32>
          memref.store %p, %y[%i, %j] : memref<7x3xf32>
        }
      }
    }
  }
}
