// RUN: clopt %s -p nn-fuse --split-input-file | filecheck %s

// Elementwise operations follow the convolution before them; each convolution has its own kernel.
// CHECK-LABEL: @residual
// CHECK-NEXT: [[b:%.*]] = nn.fused %x, %w
// CHECK:        [[conv:%.*]] = nn.conv
// CHECK-NEXT:   [[relu:%.*]] = nn.unary relu [[conv]]
// CHECK-NEXT:   nn.yield [[relu]]
// CHECK:      [[d:%.*]] = nn.fused [[b]], %w, %x
// CHECK:        nn.conv
// CHECK-NEXT:   nn.binary add
// CHECK:      func.return [[d]]
func.func @residual(%x: tensor<1x4x6xf32>, %w: tensor<4x4x1xf32>) -> tensor<1x4x6xf32> {
  %a = nn.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : (tensor<1x4x6xf32>, tensor<4x4x1xf32>) -> tensor<1x4x6xf32>
  %b = nn.unary relu %a : (tensor<1x4x6xf32>) -> tensor<1x4x6xf32>
  %c = nn.conv %b, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : (tensor<1x4x6xf32>, tensor<4x4x1xf32>) -> tensor<1x4x6xf32>
  %d = nn.binary add %c, %x : (tensor<1x4x6xf32>, tensor<1x4x6xf32>) -> tensor<1x4x6xf32>
  func.return %d : tensor<1x4x6xf32>
}

// -----

// A number is part of the kernel, an array is read by it.
// CHECK-LABEL: @literals
// CHECK:      [[w:%.*]] = nn.constant dense<[1.000000e+00, 2.000000e+00]>
// CHECK-NEXT: nn.fused %x, [[w]]
// CHECK-NEXT: ^bb0([[x:%.*]]: tensor<2xf32>, [[v:%.*]]: tensor<2xf32>):
// CHECK-NEXT:   [[one:%.*]] = nn.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:   [[a:%.*]] = nn.binary add [[x]], [[one]]
// CHECK-NEXT:   nn.binary mul [[a]], [[v]]
func.func @literals(%x: tensor<2xf32>) -> tensor<2xf32> {
  %one = nn.constant dense<1.0> : tensor<f32>
  %w = nn.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %a = nn.binary add %x, %one : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %b = nn.binary mul %a, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %b : tensor<2xf32>
}

// -----

// What two kernels read is stored once.
// CHECK-LABEL: @two_users
// CHECK:      [[a:%.*]] = nn.fused %x
// CHECK:        nn.unary exp
// CHECK:      nn.fused [[a]]
// CHECK:        nn.unary relu
// CHECK:      nn.fused [[a]]
// CHECK:        nn.unary neg
func.func @two_users(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = nn.unary exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %b = nn.unary relu %a : (tensor<4xf32>) -> tensor<4xf32>
  %c = nn.unary neg %a : (tensor<4xf32>) -> tensor<4xf32>
  func.return %b, %c : tensor<4xf32>, tensor<4xf32>
}

// -----

// A kernel writes one result; an operation with two that are used is computed twice.
// CHECK-LABEL: @several_results
// CHECK:      [[v:%.*]] = nn.fused %x : (tensor<4x8xf32>) -> tensor<4x2xf32>
// CHECK:        [[w:%.*]], %{{.*}} = nn.top_k
// CHECK-NEXT:   nn.yield [[w]]
// CHECK:      [[i:%.*]] = nn.fused %x : (tensor<4x8xf32>) -> tensor<4x2xi64>
// CHECK:        %{{.*}}, [[j:%.*]] = nn.top_k
// CHECK-NEXT:   nn.yield [[j]]
// CHECK:      func.return [[v]], [[i]]
func.func @several_results(%x: tensor<4x8xf32>) -> (tensor<4x2xf32>, tensor<4x2xi64>) {
  %v, %i = nn.top_k %x {axis = 1 : i64, k = 2 : i64, largest} : (tensor<4x8xf32>) -> (tensor<4x2xf32>, tensor<4x2xi64>)
  func.return %v, %i : tensor<4x2xf32>, tensor<4x2xi64>
}

// -----

// An exponential is not computed again for each copy that broadcasting makes; a relu is.
// CHECK-LABEL: @costly
// CHECK:      [[a:%.*]] = nn.fused %x
// CHECK-NEXT: ^
// CHECK-NEXT:   nn.unary exp
// CHECK:      nn.fused %y, [[a]]
// CHECK-NEXT: ^
// CHECK-NEXT:   nn.unary relu
// CHECK-NEXT:   nn.binary mul
func.func @costly(%x: tensor<4x1xf32>, %y: tensor<1x4xf32>) -> tensor<4x4xf32> {
  %a = nn.unary exp %x : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %b = nn.unary relu %y : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %c = nn.binary mul %a, %b : (tensor<4x1xf32>, tensor<1x4xf32>) -> tensor<4x4xf32>
  func.return %c : tensor<4x4xf32>
}

// -----

// A product stores its rows where they move.
// CHECK-LABEL: @heads
// CHECK:      nn.fused %x, %w
// CHECK-NEXT: ^
// CHECK-NEXT:   nn.matmul
// CHECK-NEXT:   nn.reshape
// CHECK-NEXT:   [[c:%.*]] = nn.transpose
// CHECK-NEXT:   nn.yield [[c]]
func.func @heads(%x: tensor<6x4xf32>, %w: tensor<4x8xf32>) -> tensor<2x3x8xf32> {
  %a = nn.matmul %x, %w : (tensor<6x4xf32>, tensor<4x8xf32>) -> tensor<6x8xf32>
  %b = nn.reshape %a {shape = array<i64: 3, 2, 8>} : (tensor<6x8xf32>) -> tensor<3x2x8xf32>
  %c = nn.transpose %b {perm = array<i64: 1, 0, 2>} : (tensor<3x2x8xf32>) -> tensor<2x3x8xf32>
  func.return %c : tensor<2x3x8xf32>
}

// -----

// Other reshapes need no kernel, and a softmax starts one of its own.
// CHECK-LABEL: @views
// CHECK-NEXT: [[r:%.*]] = nn.reshape %x
// CHECK-NEXT: [[s:%.*]] = nn.fused [[r]]
// CHECK:        nn.unary neg
// CHECK-NEXT:   nn.softmax
// CHECK:      nn.reshape [[s]]
// CHECK-NOT:  nn.fused
func.func @views(%x: tensor<2x3x4xf32>) -> tensor<24xf32> {
  %a = nn.reshape %x {shape = array<i64: 6, 4>} : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %b = nn.unary neg %a : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %c = nn.softmax %b {axis = 1 : i64} : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %d = nn.reshape %c {shape = array<i64: 24>} : (tensor<6x4xf32>) -> tensor<24xf32>
  func.return %d : tensor<24xf32>
}

// -----

// Most of what is concatenated has a kernel already, which can write it where it belongs: so can the
// kernel of the rest. Where one kernel computes most of it, it does all.
// CHECK-LABEL: @join
// CHECK:      [[a:%.*]] = nn.fused %x : {{.*}} {
// CHECK-NEXT: ^bb0
// CHECK-NEXT:   nn.softmax
// CHECK:      [[b:%.*]] = nn.fused %y : {{.*}} {
// CHECK-NEXT: ^bb0
// CHECK-NEXT:   nn.slice
// CHECK-NEXT:   nn.yield
// CHECK:      nn.fused [[a]], [[b]]
// CHECK-NEXT: ^bb0
// CHECK-NEXT:   nn.concat
// CHECK:      nn.fused %y, %x
// CHECK-NEXT: ^bb0
// CHECK-NEXT:   nn.slice
// CHECK-NEXT:   nn.unary relu
// CHECK-NEXT:   nn.concat
func.func @join(%x: tensor<1x4x6xf32>, %y: tensor<1x4x8xf32>) -> (tensor<1x8x6xf32>, tensor<1x8x6xf32>) {
  %a = nn.softmax %x {axis = 2 : i64} : (tensor<1x4x6xf32>) -> tensor<1x4x6xf32>
  %b = nn.slice %y {starts = array<i64: 0, 0, 1>, sizes = array<i64: 1, 4, 6>, steps = array<i64: 1, 1, 1>} : (tensor<1x4x8xf32>) -> tensor<1x4x6xf32>
  %c = nn.concat %a, %b {axis = 1 : i64} : (tensor<1x4x6xf32>, tensor<1x4x6xf32>) -> tensor<1x8x6xf32>
  %d = nn.slice %y {starts = array<i64: 0, 0, 2>, sizes = array<i64: 1, 4, 6>, steps = array<i64: 1, 1, 1>} : (tensor<1x4x8xf32>) -> tensor<1x4x6xf32>
  %e = nn.unary relu %x : (tensor<1x4x6xf32>) -> tensor<1x4x6xf32>
  %f = nn.concat %d, %e {axis = 1 : i64} : (tensor<1x4x6xf32>, tensor<1x4x6xf32>) -> tensor<1x8x6xf32>
  func.return %c, %f : tensor<1x8x6xf32>, tensor<1x8x6xf32>
}

// -----

// A generic whose loops are the axes of its result follows a product as its epilogue.
// CHECK-LABEL: @generic
// CHECK: nn.fused
// CHECK: nn.matmul
// CHECK-NEXT: nn.generic
// CHECK-NOT: nn.fused
func.func @generic(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %c: tensor<4xf32>) -> tensor<4x4xf32> {
  %y = nn.matmul %a, %b : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %z = nn.generic %y, %c {maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], extents = array<i64: 4, 4>, elements = [f32]} : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32> {
  ^bb0(%x: f32, %w: f32):
    %e = math.expm1 %x : f32
    %p = arith.mulf %e, %w : f32
    nn.yield %p : f32
  }
  func.return %z : tensor<4x4xf32>
}

// -----

// A lazy where reads what other kernels have stored, since one of them does not run. Its consumer
// is computed with it.
// CHECK-LABEL: @lazy
// CHECK:      [[a:%.*]] = nn.fused %x
// CHECK:        nn.unary exp
// CHECK:      [[b:%.*]] = nn.fused %x
// CHECK:        nn.unary sin
// CHECK:      nn.fused %c, [[a]], [[b]]
// CHECK:        [[w:%.*]] = nn.where {{.*}} {lazy}
// CHECK-NEXT:   nn.unary relu [[w]]
func.func @lazy(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %a = nn.unary exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %b = nn.unary sin %x : (tensor<4xf32>) -> tensor<4xf32>
  %w = nn.where %c, %a, %b {lazy} : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = nn.unary relu %w : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
