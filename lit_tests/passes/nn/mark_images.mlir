// RUN: clopt %s --target adreno-740 -p 'nn-mark-images{names=camera,mask}' | filecheck %s
// RUN: clopt %s --target adreno-740 -p 'nn-mark-images{names=camera,mask},simplify,fuse' | filecheck %s --check-prefix=FUSED
// RUN: clopt %s --target adreno-740 -p 'nn-mark-images{names=camera,mask},simplify,fuse,lower' | filecheck %s --check-prefix=LOOPS
// RUN: clopt %s --target adreno-740 -p nn-mark-images | filecheck %s --check-prefix=NONE
// RUN: not clopt %s --target adreno-740 -p 'nn-mark-images{names=photo}' 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not clopt %s --target adreno-740 -p 'nn-mark-images{names=row}' 2>&1 | filecheck %s --check-prefix=RANK
// RUN: not clopt %s --target adreno-740 -p 'nn-mark-images{names=indices}' 2>&1 | filecheck %s --check-prefix=TYPE
// RUN: not clopt %s --target adreno-740 max_image_height=2 -p 'nn-mark-images{names=camera}' 2>&1 | filecheck %s --check-prefix=LIMIT
// RUN: not clopt %s --target adreno-740 texture=off -p 'nn-mark-images{names=camera}' 2>&1 | filecheck %s --check-prefix=OFF
// RUN: not clopt %s --target pocl -p 'nn-mark-images{names=camera}' 2>&1 | filecheck %s --check-prefix=CPU
// RUN: not clopt %s --target generic images=false -p 'nn-mark-images{names=camera}' 2>&1 | filecheck %s --check-prefix=WITHOUT

// UNKNOWN: "photo" is to be an image, but the network has no such input or output; it has "camera", "row", "indices", "mask".
// RANK: "row" has the shape 4; an image holds N x C x H x W, four channels in a texel.
// TYPE: "indices" is tensor<1x4x3x3xi32>, but an image must be of f32 or f16.
// LIMIT: "camera" is an image2d of 3 x 3 texels, but adreno-740 has at most 16384 x 2; give the value another layout, or keep it in a buffer.
// OFF: "camera" is to be an image, but on adreno-740 values lie in buffers, not in texels of four channels (texture=off); bind a buffer, or compile with texture=prefer.
// CPU: "camera" is to be an image, but on pocl values lie in buffers
// WITHOUT: "camera" is to be an image, but generic has no images.

// CHECK: func.func @main(%camera: tensor<1x3x3x3xf32> {nn.name = "camera", nn.image}, %row: tensor<4xf32> {nn.name = "row"}, %indices: tensor<1x4x3x3xi32> {nn.name = "indices"}) -> (tensor<1x3x3x3xf32> {nn.name = "mask", nn.image})
// NONE-NOT: nn.image

// Nobody promises zeros in the tail of an input; that of an output is ours.
// FUSED: func.func @main(%camera: tensor<1x3x3x3xf32, #nn.layout<[1 by 4] undefined tails, #tir.scope<texture, [3]>>> {nn.name = "camera", nn.image}
// FUSED-SAME: -> (tensor<1x3x3x3xf32, #nn.layout<[1 by 4], #tir.scope<texture, [3]>>> {nn.name = "mask", nn.image})
// FUSED-NOT: nn.relayout

// So the kernel writes zero there, although a relu of zero is zero.
// LOOPS: tir.func @relu_0(%camera: memref<1x1x3x3x4xf32, #tir.scope<texture, [3]>>, [[mask:%.*]]: memref<1x1x3x3x4xf32, #tir.scope<texture, [3]>>)
// LOOPS: tir.block "out" ({{.*}}: spatial 1, [[c:%.*]]: spatial 4,
// LOOPS:   arith.cmpi slt, [[c]]
// LOOPS: cl.program @main(%camera: memref<1x1x3x3x4xf32, #tir.scope<texture, [3]>> {cl.name = "camera", cl.shape = array<i64: 1, 3, 3, 3>}
// LOOPS-NEXT: cl.enqueue_kernel @relu_0(%camera,
func.func @main(%camera: tensor<1x3x3x3xf32> {nn.name = "camera"}, %row: tensor<4xf32> {nn.name = "row"}, %indices: tensor<1x4x3x3xi32> {nn.name = "indices"}) -> (tensor<1x3x3x3xf32> {nn.name = "mask"}) {
  %r = nn.unary relu %camera : (tensor<1x3x3x3xf32>) -> tensor<1x3x3x3xf32>
  func.return %r : tensor<1x3x3x3xf32>
}
