// RUN: clopt %s -p nn-to-cl,nn-to-tir --split-input-file --verify-diagnostics | filecheck %s

// Between kernels activations lie in textures of four channels. The loops over channels run over
// the tails, 8 of 6 and of 5: weights and bias are packed here, with zeros in their tails, so the
// result is zero there without a test.
// CHECK-LABEL: tir.func @relayout_0
// CHECK-SAME:  (%x: memref<1x6x8x8xf32>, [[o:%.*]]: memref<1x2x8x8x4xf32, #tir.scope<texture, [3]>>) attributes {outputs = array<i64: 1>, comment = "pack image"}
// CHECK:       tir.block "out" ({{.*}}: spatial 1, [[c:%.*]]: spatial 8, [[h:%.*]]: spatial 8, [[w:%.*]]: spatial 8)
// CHECK:         [[in:%.*]] = arith.cmpi slt, [[c]], %{{.*}} : index
// CHECK-NEXT:    [[v:%.*]] = scf.if [[in]] -> (f32) {
// CHECK:           memref.load %x[
// CHECK:         } else {
// CHECK:         memref.store [[v]], [[o]][{{.*}}] : memref<1x2x8x8x4xf32, #tir.scope<texture, [3]>>

// CHECK-LABEL: tir.func @conv_1
// CHECK-SAME:  (%a: memref<1x2x8x8x4xf32, #tir.scope<texture, [3]>>, %f: memref<2x2x1x1x4x4xf32, #tir.scope<texture, [1]>>, %g: memref<2x4xf32>, %r: memref<1x2x8x8x4xf32, #tir.scope<texture, [3]>>) attributes {outputs = array<i64: 3>, constants = array<i64: 1, 2>, comment = "features, act"}
// CHECK-NEXT:  %conv = memref.alloca() : memref<1x8x8x8xf32>
// CHECK:       tir.block "conv" ({{.*}}: spatial 1, [[o:%.*]]: spatial 8, [[h:%.*]]: spatial 8, [[w:%.*]]: spatial 8, [[c:%.*]]: reduce 8, {{.*}}: reduce 1, {{.*}}: reduce 1)
// CHECK-NOT:     scf.if
// CHECK:         [[c4:%.*]] = affine.apply affine_map<(d0) -> ((d0 floordiv 4))> ([[c]])
// CHECK-NEXT:    [[ci:%.*]] = affine.apply affine_map<(d0) -> ((d0 mod 4))> ([[c]])
// CHECK-NEXT:    memref.load %a[{{.*}}, [[c4]], [[h]], [[w]], [[ci]]]
// CHECK-NEXT:    [[o4:%.*]] = affine.apply affine_map<(d0) -> ((d0 floordiv 4))> ([[o]])
// CHECK-NEXT:    [[oi:%.*]] = affine.apply affine_map<(d0) -> ((d0 mod 4))> ([[o]])
// CHECK-NEXT:    memref.load %f[[[o4]], [[c4]], %{{.*}}, %{{.*}}, [[ci]], [[oi]]]
// CHECK:       tir.block "out" ({{.*}}: spatial 1, {{.*}}: spatial 8, {{.*}}: spatial 8, {{.*}}: spatial 8)
// CHECK-NOT:     arith.cmpi
// CHECK:         memref.store {{.*}}, %r[

// CHECK-LABEL: tir.func @relayout_2
// CHECK-SAME:  comment = "unpack"
// CHECK:       tir.block "out" ({{.*}}: spatial 1, {{.*}}: spatial 5, {{.*}}: spatial 8, {{.*}}: spatial 8)

// CHECK-LABEL: cl.program @texture
// CHECK-NEXT:  %p = cl.alloc : memref<1x2x8x8x4xf32, #tir.scope<texture, [3]>>
// CHECK-NEXT:  cl.enqueue_kernel @relayout_0(%x, %p)
// CHECK-NEXT:  %v = cl.constant "w_{{.*}}" : memref<2x2x1x1x4x4xf32, #tir.scope<texture, [1]>>
// CHECK-NEXT:  %c = cl.constant "w_{{.*}}" : memref<2x4xf32>
// CHECK-NEXT:  %y = cl.alloc : memref<1x2x8x8x4xf32, #tir.scope<texture, [3]>>
// CHECK-NEXT:  cl.enqueue_kernel @conv_1(%p, %v, %c, %y)
// CHECK-NEXT:  cl.enqueue_kernel @relayout_2(%y, [[out:%.*]])
// CHECK-NEXT:  cl.return
func.func @texture(%x: tensor<1x6x8x8xf32>) -> tensor<1x5x8x8xf32> {
  %w = nn.constant dense<1.0> : tensor<5x6x1x1xf32>
  %b = nn.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>
  %p = nn.relayout %x : tensor<1x6x8x8xf32> -> tensor<1x6x8x8xf32, #nn.layout<[1 by 4], #tir.scope<texture, [3]>>> loc("image")
  %v = nn.relayout %w : tensor<5x6x1x1xf32> -> tensor<5x6x1x1xf32, #nn.layout<[1 by 4, 0 by 4], #tir.scope<texture, [1]>>>
  %c = nn.relayout %b : tensor<5xf32> -> tensor<5xf32, #nn.layout<[0 by 4]>>
  %y = nn.fused %p, %v, %c : (tensor<1x6x8x8xf32, #nn.layout<[1 by 4], #tir.scope<texture, [3]>>>, tensor<5x6x1x1xf32, #nn.layout<[1 by 4, 0 by 4], #tir.scope<texture, [1]>>>, tensor<5xf32, #nn.layout<[0 by 4]>>) -> tensor<1x5x8x8xf32, #nn.layout<[1 by 4], #tir.scope<texture, [3]>>> {
  ^bb0(%a: tensor<1x6x8x8xf32>, %f: tensor<5x6x1x1xf32>, %g: tensor<5xf32>):
    %q = nn.conv %a, %f, %g {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x6x8x8xf32>, tensor<5x6x1x1xf32>, tensor<5xf32>) -> tensor<1x5x8x8xf32> loc("features")
    %r = nn.unary relu %q : (tensor<1x5x8x8xf32>) -> tensor<1x5x8x8xf32> loc("act")
    nn.yield %r : tensor<1x5x8x8xf32>
  }
  %z = nn.relayout %y : tensor<1x5x8x8xf32, #nn.layout<[1 by 4], #tir.scope<texture, [3]>>> -> tensor<1x5x8x8xf32>
  func.return %z : tensor<1x5x8x8xf32>
}

// -----

// A function that makes something of zero is masked where it is stored. A sum may run over the
// tail of its operand, a maximum may not.
!packed = tensor<1x6x2xf32, #nn.layout<[1 by 4]>>
// CHECK-LABEL: tir.func @cos_0
// CHECK:       [[n:%.*]] = arith.constant 6 : index
// CHECK-NEXT:  [[in:%.*]] = arith.cmpi slt, %{{.*}}, [[n]] : index
// CHECK:       [[v:%.*]] = math.cos
// CHECK-NEXT:  [[zero:%.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:  [[s:%.*]] = arith.select [[in]], [[v]], [[zero]] : f32
// CHECK:       memref.store [[s]], %{{.*}} : memref<1x2x2x4xf32>
// CHECK-LABEL: tir.func @reduce_sum_1
// CHECK:       tir.block "reduce_sum" ({{.*}}: spatial 1, {{.*}}: spatial 1, {{.*}}: spatial 2, {{.*}}: reduce 8)
// CHECK-LABEL: tir.func @reduce_max_2
// CHECK:       tir.block "reduce_max" ({{.*}}: spatial 1, {{.*}}: spatial 1, {{.*}}: spatial 2, {{.*}}: reduce 6)
// CHECK-LABEL: cl.program @tails
func.func @tails(%x: tensor<1x6x2xf32>) -> (tensor<1x2xf32>, tensor<1x2xf32>) {
  %y = nn.fused %x : (tensor<1x6x2xf32>) -> !packed {
  ^bb0(%a: tensor<1x6x2xf32>):
    %q = nn.unary cos %a : (tensor<1x6x2xf32>) -> tensor<1x6x2xf32>
    nn.yield %q : tensor<1x6x2xf32>
  }
  %s = nn.fused %y : (!packed) -> tensor<1x2xf32> {
  ^bb0(%a: tensor<1x6x2xf32>):
    %q = nn.reduce sum %a {axes = array<i64: 1>} : (tensor<1x6x2xf32>) -> tensor<1x2xf32>
    nn.yield %q : tensor<1x2xf32>
  }
  %m = nn.fused %y : (!packed) -> tensor<1x2xf32> {
  ^bb0(%a: tensor<1x6x2xf32>):
    %q = nn.reduce max %a {axes = array<i64: 1>} : (tensor<1x6x2xf32>) -> tensor<1x2xf32>
    nn.yield %q : tensor<1x2xf32>
  }
  func.return %s, %m : tensor<1x2xf32>, tensor<1x2xf32>
}

// -----

// Pieces that are whole texels are stored one by one; where a texel has parts of two, one stage
// chooses between them, as a texel is written as a whole.
// CHECK-LABEL: tir.func @concat_0
// CHECK:       tir.block "out" ({{.*}}: spatial 1, {{.*}}: spatial 4)
// CHECK:       tir.block "out_2" ({{.*}}: spatial 1, {{.*}}: spatial 8)
// CHECK-LABEL: tir.func @concat_1
// CHECK:       tir.block "out" ({{.*}}: spatial 1, {{.*}}: spatial 12)
// CHECK-NOT:   tir.block "out_2"
// CHECK-LABEL: cl.program @pieces
func.func @pieces(%a: tensor<1x4xf32>, %b: tensor<1x5xf32>) -> (tensor<1x9xf32>, tensor<1x9xf32>) {
  %u = nn.fused %a, %b : (tensor<1x4xf32>, tensor<1x5xf32>) -> tensor<1x9xf32, #nn.layout<[1 by 4], #tir.scope<texture, [1]>>> {
  ^bb0(%x: tensor<1x4xf32>, %y: tensor<1x5xf32>):
    %q = nn.concat %x, %y {axis = 1 : i64} : (tensor<1x4xf32>, tensor<1x5xf32>) -> tensor<1x9xf32>
    nn.yield %q : tensor<1x9xf32>
  }
  %v = nn.fused %b, %a : (tensor<1x5xf32>, tensor<1x4xf32>) -> tensor<1x9xf32, #nn.layout<[1 by 4], #tir.scope<texture, [1]>>> {
  ^bb0(%x: tensor<1x5xf32>, %y: tensor<1x4xf32>):
    %q = nn.concat %x, %y {axis = 1 : i64} : (tensor<1x5xf32>, tensor<1x4xf32>) -> tensor<1x9xf32>
    nn.yield %q : tensor<1x9xf32>
  }
  %s = nn.relayout %u : tensor<1x9xf32, #nn.layout<[1 by 4], #tir.scope<texture, [1]>>> -> tensor<1x9xf32>
  %t = nn.relayout %v : tensor<1x9xf32, #nn.layout<[1 by 4], #tir.scope<texture, [1]>>> -> tensor<1x9xf32>
  func.return %s, %t : tensor<1x9xf32>, tensor<1x9xf32>
}
