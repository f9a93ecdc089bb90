// RUN: clopt %s -p nn-fold-relayouts,verify --target adreno-740 --split-input-file | filecheck %s

// A transform of a transform starts at the source, and one back to it is none.
// CHECK-LABEL: @chains
// CHECK-NEXT:  [[b:%.*]] = nn.relayout %x : tensor<1x8x4x4xf32> -> tensor<1x8x4x4xf32, #nn.layout<[1 by 4]>>
// CHECK-NEXT:  func.return [[b]], %x
func.func @chains(%x: tensor<1x8x4x4xf32>) -> (tensor<1x8x4x4xf32, #nn.layout<[1 by 4]>>, tensor<1x8x4x4xf32>) {
  %a = nn.relayout %x : tensor<1x8x4x4xf32> -> tensor<1x8x4x4xf32, #nn.layout<[1 by 4], #tir.scope<texture, [3]>>>
  %b = nn.relayout %a : tensor<1x8x4x4xf32, #nn.layout<[1 by 4], #tir.scope<texture, [3]>>> -> tensor<1x8x4x4xf32, #nn.layout<[1 by 4]>>
  %c = nn.relayout %b : tensor<1x8x4x4xf32, #nn.layout<[1 by 4]>> -> tensor<1x8x4x4xf32>
  func.return %b, %c : tensor<1x8x4x4xf32, #nn.layout<[1 by 4]>>, tensor<1x8x4x4xf32>
}

// -----

// What leaves the network is written as the user wants it; two equal transforms are one.
// CHECK-LABEL: @output
// CHECK-NEXT:  [[y:%.*]] = nn.fused %x : (tensor<1x8x4x4xf32, #nn.layout<[1 by 4]>>) -> tensor<1x8x4x4xf32>
// CHECK-NOT:   nn.relayout
// CHECK:       func.return [[y]], [[y]]
func.func @output(%x: tensor<1x8x4x4xf32, #nn.layout<[1 by 4]>>) -> (tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>) {
  %y = nn.fused %x : (tensor<1x8x4x4xf32, #nn.layout<[1 by 4]>>) -> tensor<1x8x4x4xf32, #nn.layout<[1 by 4], #tir.scope<texture, [3]>>> {
  ^bb0(%a: tensor<1x8x4x4xf32>):
    %r = nn.unary relu %a : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    nn.yield %r : tensor<1x8x4x4xf32>
  }
  %p = nn.relayout %y : tensor<1x8x4x4xf32, #nn.layout<[1 by 4], #tir.scope<texture, [3]>>> -> tensor<1x8x4x4xf32>
  %q = nn.relayout %y : tensor<1x8x4x4xf32, #nn.layout<[1 by 4], #tir.scope<texture, [3]>>> -> tensor<1x8x4x4xf32>
  func.return %p, %q : tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>
}

// -----

// Consumers that want different layouts of one result get both from the kernel that computes it.
// CHECK-LABEL: @two_consumers
// CHECK-NEXT:  [[z:%.*]], [[y:%.*]] = nn.fused %x : (tensor<1x8x4x4xf32>) -> (tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32, #nn.layout<[1 by 4], #tir.scope<texture, [3]>>>)
// CHECK:         nn.yield [[r:%.*]], [[r]]
// CHECK:       nn.fused [[y]]
// CHECK:       func.return {{.*}}, [[z]]
func.func @two_consumers(%x: tensor<1x8x4x4xf32>) -> (tensor<1x8x2x2xf32>, tensor<1x8x4x4xf32>) {
  %y = nn.fused %x : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32, #nn.layout<[1 by 4], #tir.scope<texture, [3]>>> {
  ^bb0(%a: tensor<1x8x4x4xf32>):
    %r = nn.unary relu %a : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    nn.yield %r : tensor<1x8x4x4xf32>
  }
  %z = nn.relayout %y : tensor<1x8x4x4xf32, #nn.layout<[1 by 4], #tir.scope<texture, [3]>>> -> tensor<1x8x4x4xf32>
  %p = nn.fused %y : (tensor<1x8x4x4xf32, #nn.layout<[1 by 4], #tir.scope<texture, [3]>>>) -> tensor<1x8x2x2xf32> {
  ^bb0(%b: tensor<1x8x4x4xf32>):
    %m = nn.pool max %b {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x8x4x4xf32>) -> tensor<1x8x2x2xf32>
    nn.yield %m : tensor<1x8x2x2xf32>
  }
  func.return %p, %z : tensor<1x8x2x2xf32>, tensor<1x8x4x4xf32>
}

// -----

// A kernel reads what is there, an image or a buffer, rather than wait for a copy.
// CHECK-LABEL: @input
// CHECK-NEXT:  nn.fused %x, %y : (tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32, #nn.layout<[1 by 4]>>)
// CHECK-NOT:   nn.relayout
func.func @input(%x: tensor<1x8x4x4xf32>, %y: tensor<1x8x4x4xf32, #nn.layout<[1 by 4]>>) -> tensor<1x8x4x4xf32, #nn.layout<[1 by 4]>> {
  %p = nn.relayout %x : tensor<1x8x4x4xf32> -> tensor<1x8x4x4xf32, #nn.layout<[1 by 4], #tir.scope<texture, [3]>>>
  %q = nn.relayout %y : tensor<1x8x4x4xf32, #nn.layout<[1 by 4]>> -> tensor<1x8x4x4xf32, #nn.layout<[1 by 4], #tir.scope<texture, [3]>>>
  %z = nn.fused %p, %q : (tensor<1x8x4x4xf32, #nn.layout<[1 by 4], #tir.scope<texture, [3]>>>, tensor<1x8x4x4xf32, #nn.layout<[1 by 4], #tir.scope<texture, [3]>>>) -> tensor<1x8x4x4xf32, #nn.layout<[1 by 4]>> {
  ^bb0(%a: tensor<1x8x4x4xf32>, %b: tensor<1x8x4x4xf32>):
    %r = nn.binary add %a, %b : (tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    nn.yield %r : tensor<1x8x4x4xf32>
  }
  func.return %z : tensor<1x8x4x4xf32, #nn.layout<[1 by 4]>>
}

// -----

// A convolution over 512 channels reads a large plain input four times slower: the transform stays.
// CHECK-LABEL: @worth_it
// CHECK:       [[p:%.*]] = nn.relayout %x
// CHECK:       nn.fused [[p]]
func.func @worth_it(%x: tensor<1x512x64x64xf32>, %w: tensor<512x512x3x3xf32>) -> tensor<1x512x64x64xf32, #nn.layout<[1 by 4]>> {
  %p = nn.relayout %x : tensor<1x512x64x64xf32> -> tensor<1x512x64x64xf32, #nn.layout<[1 by 4], #tir.scope<texture, [3]>>>
  %z = nn.fused %p, %w : (tensor<1x512x64x64xf32, #nn.layout<[1 by 4], #tir.scope<texture, [3]>>>, tensor<512x512x3x3xf32>) -> tensor<1x512x64x64xf32, #nn.layout<[1 by 4]>> {
  ^bb0(%a: tensor<1x512x64x64xf32>, %b: tensor<512x512x3x3xf32>):
    %r = nn.conv %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x512x64x64xf32>, tensor<512x512x3x3xf32>) -> tensor<1x512x64x64xf32>
    nn.yield %r : tensor<1x512x64x64xf32>
  }
  func.return %z : tensor<1x512x64x64xf32, #nn.layout<[1 by 4]>>
}
