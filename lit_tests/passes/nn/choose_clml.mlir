// RUN: clopt %s -p 'nn-choose{facts="clml=prefer clml_version=3"}' --split-input-file | filecheck %s
// RUN: clopt %s --target adreno-740 -p nn-choose --split-input-file | filecheck %s --check-prefix=OFF
// RUN: clopt %s --target "pocl clml=auto" -p nn-choose --split-input-file | filecheck %s --check-prefix=OFF
// RUN: not clopt %s --target "pocl clml=prefer" -p nn-choose --split-input-file 2>&1 | filecheck %s --check-prefix=NONE
// RUN: not clopt %s -p 'nn-choose{facts="clml=on"}' --split-input-file 2>&1 | filecheck %s --check-prefix=WRONG

// OFF-NOT: clml.
// NONE: clml=prefer needs a device with CLML, and pocl has none
// WRONG: clml must be "off" or "auto" or "prefer", not "on"

// Each row of the table. A convolution takes relu6 along; its graph needs no newer version than 1.
// CHECK: clml.graph @clml_0(%x: !clml.tensor<1x3x8x8xf32, nchw>) -> !clml.tensor<1x4x4x8xf32, nchw> version 1 arithmetic fp32 {
// CHECK-NEXT: [[x:%.*]] = clml.copy %x : {{.*}}nchw> -> {{.*}}optimal>
// CHECK-NEXT: [[w:%.*]] = clml.constant "{{.*}}" : !clml.tensor<4x3x3x2xf32, optimal, parameter>
// CHECK-NEXT: [[b:%.*]] = clml.constant "{{.*}}" : !clml.tensor<1x4x1x1xf32, optimal, parameter>
// CHECK-NEXT: [[y:%.*]] = clml.conv_activation relu6 [[x]], [[w]], [[b]] {strides = array<i64: 2, 1>, dilations = array<i64: 1, 2>, pads = array<i64: 1, 2, 0, 0>}
// CHECK-NEXT: [[z:%.*]] = clml.copy [[y]] : {{.*}}optimal> -> {{.*}}nchw>
// CHECK-NEXT: clml.return [[z]]
// CHECK: func.func @conv
// CHECK: [[r:%.*]] = clml.call @clml_0(%x) : (tensor<1x3x8x8xf32>) -> tensor<1x4x4x8xf32>
// CHECK-NEXT: func.return [[r]]
func.func @conv(%x: tensor<1x3x8x8xf32>) -> tensor<1x4x4x8xf32> {
  %w = nn.constant dense<1.0> : tensor<4x3x3x2xf32>
  %b = nn.constant dense<2.0> : tensor<4xf32>
  %y = nn.conv %x, %w, %b {strides = array<i64: 2, 1>, dilations = array<i64: 1, 2>, pads = array<i64: 1, 2, 0, 0>} : (tensor<1x3x8x8xf32>, tensor<4x3x3x2xf32>, tensor<4xf32>) -> tensor<1x4x4x8xf32>
  %z = nn.clip %y {low = 0.0 : f32, high = 6.0 : f32} : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  func.return %z : tensor<1x4x4x8xf32>
}

// -----

// One filter for each channel is a mode of its own, not a group count; relu without a lower bound
// but 0 is one, too.
// CHECK: [[w:%.*]] = clml.constant "{{.*}}" : !clml.tensor<1x4x3x3xf32, optimal, parameter>
// CHECK: clml.conv_activation relu {{.*}}, [[w]] {mode = #clml<conv_mode depthwise>,
func.func @depthwise(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x6x6xf32> {
  %w = nn.constant dense<1.0> : tensor<4x1x3x3xf32>
  %y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 4} : (tensor<1x4x8x8xf32>, tensor<4x1x3x3xf32>) -> tensor<1x4x6x6xf32>
  %z = nn.clip %y {low = 0.0 : f32} : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  func.return %z : tensor<1x4x6x6xf32>
}

// -----

// Weights of a transposed convolution are turned to output channels first; what output_padding adds
// at the end is less cut off there.
// CHECK: [[w:%.*]] = clml.constant "{{.*}}" : !clml.tensor<5x4x3x3xf32, optimal, parameter>
// CHECK: clml.conv {{.*}}, [[w]] {mode = #clml<conv_mode transpose>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 0, 1>} : {{.*}} -> !clml.tensor<1x5x16x15xf32, optimal>
func.func @transposed(%x: tensor<1x4x8x8xf32>) -> tensor<1x5x16x15xf32> {
  %w = nn.constant dense<1.0> : tensor<4x5x3x3xf32>
  %y = nn.conv_transpose %x, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, output_padding = array<i64: 1, 0>} : (tensor<1x4x8x8xf32>, tensor<4x5x3x3xf32>) -> tensor<1x5x16x15xf32>
  func.return %y : tensor<1x5x16x15xf32>
}

// -----

// Batch norms that nobody folded, in CLML's order: mean, variance, scale, bias; alone, behind a
// convolution, and between that and its activation.
// CHECK: version 3 arithmetic fp32
// CHECK-DAG: [[mean:%.*]] = clml.constant "[[MEAN:.*]]" : !clml.tensor<1x4x1x1xf32, optimal, parameter>
// CHECK: [[y:%.*]] = clml.batch_norm {{.*}}, %mean, %var, %scale, %bias {epsilon = 2.000000e-03 : f64}
// CHECK: [[z:%.*]] = clml.conv_batch_norm_activation relu [[y]], %w, %mean, %var, %scale, %bias {{{.*}}epsilon = 1.000000e-03 : f64
// CHECK: clml.conv_batch_norm [[z]], %w, %b, %mean, %var, %scale, %bias {{{.*}}epsilon = 1.000000e-03 : f64
func.func @batch_norm(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %w = nn.constant dense<1.0> : tensor<4x4x1x1xf32>
  %b = nn.constant dense<2.0> : tensor<4xf32>
  %scale = nn.constant dense<3.0> : tensor<4xf32>
  %bias = nn.constant dense<4.0> : tensor<4xf32>
  %mean = nn.constant dense<5.0> : tensor<4xf32>
  %var = nn.constant dense<6.0> : tensor<4xf32>
  %y = nn.batch_norm %x, %scale, %bias, %mean, %var {epsilon = 2.0e-3} : (tensor<1x4x8x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
  %c = nn.conv %y, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  %d = nn.batch_norm %c, %scale, %bias, %mean, %var {epsilon = 1.0e-3} : (tensor<1x4x8x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
  %r = nn.unary relu %d : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %e = nn.conv %r, %w, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
  %z = nn.batch_norm %e, %scale, %bias, %mean, %var {epsilon = 1.0e-3} : (tensor<1x4x8x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
  func.return %z : tensor<1x4x8x8xf32>
}

// -----

// What simplify makes of batch norms that nothing takes: a product and a sum for each channel.
// CHECK: [[y:%.*]] = clml.batch_norm %x_1, [[zero:%.*]], [[one:%.*]], %scale, %bias {epsilon = 0.000000e+00 : f64}
// CHECK: clml.batch_norm [[y]], [[zero]], [[one]], [[one]], {{%.*}} {epsilon = 0.000000e+00 : f64}
func.func @scale_and_shift(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %scale = nn.constant dense<3.0> : tensor<4x1x1xf32>
  %bias = nn.constant dense<4.0> : tensor<1x4x1x1xf32>
  %c = nn.constant dense<5.0> : tensor<f32>
  %y = nn.binary mul %x, %scale : (tensor<1x4x8x8xf32>, tensor<4x1x1xf32>) -> tensor<1x4x8x8xf32>
  %z = nn.binary add %bias, %y : (tensor<1x4x1x1xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %r = nn.binary sub %z, %c : (tensor<1x4x8x8xf32>, tensor<f32>) -> tensor<1x4x8x8xf32>
  func.return %r : tensor<1x4x8x8xf32>
}

// -----

// Dense layers: with a bias in the order N x K, without one in the order K x N.
// CHECK: [[y:%.*]] = clml.fully_connected {{%.*}}, %w, %b : (!clml.tensor<1x6x1x1xf32, optimal>, !clml.tensor<1x1x5x6xf32, optimal, parameter>, !clml.tensor<1x5x1x1xf32, optimal, parameter>) -> !clml.tensor<1x5x1x1xf32, optimal>
// CHECK: clml.fully_connected [[y]], %v {transpose = false} : (!clml.tensor<1x5x1x1xf32, optimal>, !clml.tensor<1x1x5x7xf32, optimal, parameter>) -> !clml.tensor<1x7x1x1xf32, optimal>
func.func @dense(%x: tensor<1x6xf32>) -> tensor<1x7xf32> {
  %w = nn.constant dense<1.0> : tensor<5x6xf32>
  %v = nn.constant dense<1.0> : tensor<5x7xf32>
  %b = nn.constant dense<2.0> : tensor<5xf32>
  %y = nn.matmul %x, %w {transpose_b} : (tensor<1x6xf32>, tensor<5x6xf32>) -> tensor<1x5xf32>
  %z = nn.binary add %b, %y : (tensor<5xf32>, tensor<1x5xf32>) -> tensor<1x5xf32>
  %r = nn.matmul %z, %v : (tensor<1x5xf32>, tensor<5x7xf32>) -> tensor<1x7xf32>
  func.return %r : tensor<1x7xf32>
}

// -----

// Products of matrices take and give row-major memory: no copies. m, n and k are right whether or
// not b is transposed.
// CHECK: clml.graph @clml_0(%x: !clml.tensor<3x6x1x1xf32, nchw>) -> !clml.tensor<3x5x1x1xf32, nchw>
// CHECK-NEXT: %w = clml.constant "{{.*}}" : !clml.tensor<1x1x6x5xf32, nchw, parameter>
// CHECK-NEXT: clml.gemm %x, %w {m = 3 : i64, n = 5 : i64, k = 6 : i64}
// CHECK-NEXT: clml.return
// CHECK: clml.graph @clml_1(%y: !clml.tensor<3x5x1x1xf32, nchw>, %v: !clml.tensor<1x1x7x5xf32, nchw>) -> !clml.tensor<3x7x1x1xf32, nchw>
// CHECK-NEXT: clml.gemm %y, %v {m = 3 : i64, n = 7 : i64, k = 5 : i64, transpose_b = true}
// CHECK-NEXT: clml.return
// CHECK: clml.call @clml_1({{.*}}, %v) : (tensor<3x5xf32>, tensor<7x5xf32>) -> tensor<3x7xf32>
func.func @gemm(%x: tensor<3x6xf32>, %v: tensor<7x5xf32>) -> tensor<3x7xf32> {
  %w = nn.constant dense<1.0> : tensor<6x5xf32>
  %y = nn.matmul %x, %w : (tensor<3x6xf32>, tensor<6x5xf32>) -> tensor<3x5xf32>
  %z = nn.matmul %y, %v {transpose_b} : (tensor<3x5xf32>, tensor<7x5xf32>) -> tensor<3x7xf32>
  func.return %z : tensor<3x7xf32>
}

// -----

// A batch of one is none; transposed, a has k rows.
// CHECK: clml.graph @clml_0(%a: !clml.tensor<128x16x1x1xf32, nchw>, %b: !clml.tensor<1x1x32x128xf32, nchw>) -> !clml.tensor<16x32x1x1xf32, nchw>
// CHECK-NEXT: clml.gemm %a, %b {m = 16 : i64, n = 32 : i64, k = 128 : i64, transpose_a = true, transpose_b = true}
// CHECK: clml.call @clml_0(%a, %b) : (tensor<1x128x16xf32>, tensor<1x32x128xf32>) -> tensor<1x16x32xf32>
func.func @batch_of_one(%a: tensor<1x128x16xf32>, %b: tensor<1x32x128xf32>) -> tensor<1x16x32xf32> {
  %y = nn.matmul %a, %b {transpose_a, transpose_b} : (tensor<1x128x16xf32>, tensor<1x32x128xf32>) -> tensor<1x16x32xf32>
  func.return %y : tensor<1x16x32xf32>
}

// -----

// The last windows of ceil_mode reach beyond the input by one row: more padding there. An average
// that counts its padding has zeros padded before.
// CHECK: [[y:%.*]] = clml.pool max {{%.*}} {kernel = array<i64: 3, 2>, strides = array<i64: 2, 2>, pads = array<i64: 1, 0, 1, 0>} : {{.*}} -> !clml.tensor<1x4x5x4xf32, optimal>
// CHECK: [[z:%.*]] = clml.pool average [[y]] {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>}
// CHECK: [[p:%.*]] = clml.pad constant [[z]] {pads = array<i64: 1, 1, 1, 1>}
// CHECK: clml.pool average [[p]] {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 1>} : {{.*}} -> !clml.tensor<1x4x3x3xf32, optimal>
func.func @pools(%x: tensor<1x4x9x8xf32>) -> tensor<1x4x3x3xf32> {
  %y = nn.pool max %x {kernel = array<i64: 3, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 0, 0, 0>, ceil_mode} : (tensor<1x4x9x8xf32>) -> tensor<1x4x5x4xf32>
  %z = nn.pool average %y {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x4x5x4xf32>) -> tensor<1x4x5x4xf32>
  %r = nn.pool average %z {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, ceil_mode, count_include_pad} : (tensor<1x4x5x4xf32>) -> tensor<1x4x3x3xf32>
  func.return %r : tensor<1x4x3x3xf32>
}

// -----

// Global pools have windows of H x W, in that order.
// CHECK: [[y:%.*]] = clml.pool max {{%.*}} {kernel = array<i64: 5, 1>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : {{.*}} -> !clml.tensor<1x4x1x9xf32, optimal>
// CHECK: clml.pool average [[x:%.*]] {kernel = array<i64: 5, 9>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : {{.*}} -> !clml.tensor<1x4x1x1xf32, optimal>
func.func @global(%x: tensor<1x4x5x9xf32>) -> (tensor<1x4x1x9xf32>, tensor<1x4xf32>) {
  %y = nn.reduce max %x {axes = array<i64: 2>, keepdims} : (tensor<1x4x5x9xf32>) -> tensor<1x4x1x9xf32>
  %z = nn.reduce mean %x {axes = array<i64: 2, 3>} : (tensor<1x4x5x9xf32>) -> tensor<1x4xf32>
  func.return %y, %z : tensor<1x4x1x9xf32>, tensor<1x4xf32>
}

// -----

// Functions of elements stay in the row-major memory of the caller. A clip has its own bounds.
// CHECK: version 2
// CHECK-NEXT: [[a:%.*]] = clml.activation sigmoid %x
// CHECK-NEXT: [[b:%.*]] = clml.activation tanh [[a]]
// CHECK-NEXT: [[c:%.*]] = clml.activation relu6 [[b]]
// CHECK-NEXT: [[d:%.*]] = clml.clip [[c]] {minimum = -1.000000e+00 : f64, maximum = 5.000000e-01 : f64}
// CHECK-NEXT: [[e:%.*]] = clml.activation relu [[d]]
// CHECK-NEXT: clml.return [[e]]
func.func @activations(%x: tensor<1x4x5x9xf32>) -> tensor<1x4x5x9xf32> {
  %a = nn.unary sigmoid %x : (tensor<1x4x5x9xf32>) -> tensor<1x4x5x9xf32>
  %b = nn.unary tanh %a : (tensor<1x4x5x9xf32>) -> tensor<1x4x5x9xf32>
  %c = nn.clip %b {low = 0.0 : f32, high = 6.0 : f32} : (tensor<1x4x5x9xf32>) -> tensor<1x4x5x9xf32>
  %d = nn.clip %c {low = -1.0 : f32, high = 0.5 : f32} : (tensor<1x4x5x9xf32>) -> tensor<1x4x5x9xf32>
  %e = nn.unary relu %d : (tensor<1x4x5x9xf32>) -> tensor<1x4x5x9xf32>
  func.return %e : tensor<1x4x5x9xf32>
}

// -----

// Constants are broadcast here, once.
// CHECK: [[c:%.*]] = clml.constant "{{.*}}" : !clml.tensor<1x2x1x3xf32, nchw, parameter>
// CHECK-NEXT: [[a:%.*]] = clml.binary div [[c]], %x
// CHECK-NEXT: [[b:%.*]] = clml.binary min [[a]], %y
// CHECK-NEXT: [[d:%.*]] = clml.binary max %y, [[b]]
// CHECK-NEXT: [[e:%.*]] = clml.binary sub [[d]], [[a]]
// CHECK-NEXT: clml.binary mul [[e]], [[d]]
func.func @binary(%x: tensor<1x2x1x3xf32>, %y: tensor<1x2x1x3xf32>) -> tensor<1x2x1x3xf32> {
  %c = nn.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %a = nn.binary div %c, %x : (tensor<3xf32>, tensor<1x2x1x3xf32>) -> tensor<1x2x1x3xf32>
  %b = nn.binary min %a, %y : (tensor<1x2x1x3xf32>, tensor<1x2x1x3xf32>) -> tensor<1x2x1x3xf32>
  %d = nn.binary max %y, %b : (tensor<1x2x1x3xf32>, tensor<1x2x1x3xf32>) -> tensor<1x2x1x3xf32>
  %e = nn.binary sub %d, %a : (tensor<1x2x1x3xf32>, tensor<1x2x1x3xf32>) -> tensor<1x2x1x3xf32>
  %f = nn.binary mul %e, %d : (tensor<1x2x1x3xf32>, tensor<1x2x1x3xf32>) -> tensor<1x2x1x3xf32>
  func.return %f : tensor<1x2x1x3xf32>
}

// -----

// A vector's softmax is in the optimal layout, that of a plane in NCHW; another axis counts as the
// channels where nothing is before it.
// CHECK: clml.graph @clml_0
// CHECK: [[x:%.*]] = clml.copy %x : {{.*}}nchw> -> {{.*}}optimal>
// CHECK-NEXT: clml.softmax [[x]] : (!clml.tensor<1x6x1x1xf32, optimal>) -> !clml.tensor<1x6x1x1xf32, optimal>
// CHECK: clml.graph @clml_1
// CHECK-NEXT: clml.softmax %y : (!clml.tensor<1x6x2x3xf32, nchw>) -> !clml.tensor<1x6x2x3xf32, nchw>
// CHECK: clml.graph @clml_2
// CHECK: [[z:%.*]] = clml.reshape {{%.*}} : (!clml.tensor<1x1x8x1xf32, optimal>) -> !clml.tensor<1x8x1x1xf32, optimal>
// CHECK-NEXT: [[s:%.*]] = clml.softmax [[z]]
// CHECK-NEXT: clml.reshape [[s]] : (!clml.tensor<1x8x1x1xf32, optimal>) -> !clml.tensor<1x1x8x1xf32, optimal>
func.func @softmax(%x: tensor<1x6xf32>, %y: tensor<1x6x2x3xf32>, %z: tensor<1x1x8xf32>) -> (tensor<1x6xf32>, tensor<1x6x2x3xf32>, tensor<1x1x8xf32>) {
  %a = nn.softmax %x {axis = 1} : (tensor<1x6xf32>) -> tensor<1x6xf32>
  %b = nn.softmax %y {axis = 1} : (tensor<1x6x2x3xf32>) -> tensor<1x6x2x3xf32>
  %c = nn.softmax %z {axis = 2} : (tensor<1x1x8xf32>) -> tensor<1x1x8xf32>
  func.return %a, %b, %c : tensor<1x6xf32>, tensor<1x6x2x3xf32>, tensor<1x1x8xf32>
}

// -----

// The product of silu needs two tensors, which x and its sigmoid are; a resize that repeats each
// element is as many copies of the channels, moved to the plane.
// CHECK: clml.graph @clml_0(%x: {{.*}}) -> {{.*}} version 1
// CHECK-NEXT: [[s:%.*]] = clml.activation sigmoid %x :
// CHECK-NEXT: [[a:%.*]] = clml.binary mul %x, [[s]] : {{.*}} -> !clml.tensor<1x2x3x5xf32, nchw>
// CHECK-NEXT: [[o:%.*]] = clml.copy [[a]]
// CHECK-NEXT: [[c:%.*]] = clml.concat [[o]], [[o]], [[o]], [[o]] : {{.*}} -> !clml.tensor<1x8x3x5xf32, optimal>
// CHECK-NEXT: clml.depth_to_space [[c]] {block = 2 : i64} : {{.*}} -> !clml.tensor<1x2x6x10xf32, optimal>
func.func @several_commands(%x: tensor<1x2x3x5xf32>) -> tensor<1x2x6x10xf32> {
  %a = nn.unary silu %x : (tensor<1x2x3x5xf32>) -> tensor<1x2x3x5xf32>
  %b = nn.resize nearest %a {coordinate_mode = #nn<coordinate_mode half_pixel>, scales = array<f64: 1.0, 1.0, 2.0, 2.0>, sizes = array<i64: 1, 2, 6, 10>} : (tensor<1x2x3x5xf32>) -> tensor<1x2x6x10xf32>
  func.return %b : tensor<1x2x6x10xf32>
}

// -----

// Padding behind something else, by an edge as symmetric padding of one element.
// CHECK: [[a:%.*]] = clml.pad reflect {{%.*}} {pads = array<i64: 1, 3, 2, 4>}
// CHECK: [[b:%.*]] = clml.pad symmetric [[a]] {pads = array<i64: 1, 0, 0, 1>}
// CHECK: [[c:%.*]] = clml.pad constant [[b]] {pads = array<i64: 5, 0, 0, 0>}
// CHECK: [[d:%.*]] = clml.depth_to_space [[c]] {block = 2 : i64}
// CHECK: [[e:%.*]] = clml.resize_bilinear [[d]] {align_corners = true}
// CHECK: [[f:%.*]] = clml.resize_bilinear [[e]] {align_corners = false}
// CHECK: clml.concat [[f]], [[f2:%.*]] :
func.func @movement(%x: tensor<1x4x7x7xf32>) -> tensor<1x2x60x56xf32> {
  %r = nn.unary relu %x : (tensor<1x4x7x7xf32>) -> tensor<1x4x7x7xf32>
  %a = nn.pad reflect %r {low = array<i64: 0, 0, 1, 3>, high = array<i64: 0, 0, 2, 4>} : (tensor<1x4x7x7xf32>) -> tensor<1x4x10x14xf32>
  %b = nn.pad edge %a {low = array<i64: 0, 0, 1, 0>, high = array<i64: 0, 0, 0, 1>} : (tensor<1x4x10x14xf32>) -> tensor<1x4x11x15xf32>
  %c = nn.pad constant %b {low = array<i64: 0, 0, 5, 0>, high = array<i64: 0, 0, 0, 0>} : (tensor<1x4x11x15xf32>) -> tensor<1x4x16x15xf32>
  %d = nn.depth_to_space dcr %c {block = 2} : (tensor<1x4x16x15xf32>) -> tensor<1x1x32x30xf32>
  %e = nn.resize linear %d {coordinate_mode = #nn<coordinate_mode align_corners>, scales = array<f64: 1.0, 1.0, 0.625, 0.9333333333333333>, sizes = array<i64: 1, 1, 20, 28>} : (tensor<1x1x32x30xf32>) -> tensor<1x1x20x28xf32>
  %f = nn.resize linear %e {coordinate_mode = #nn<coordinate_mode asymmetric>, scales = array<f64: 1.0, 1.0, 3.0, 2.0>, sizes = array<i64: 1, 1, 60, 56>} : (tensor<1x1x20x28xf32>) -> tensor<1x1x60x56xf32>
  %g = nn.unary tanh %f : (tensor<1x1x60x56xf32>) -> tensor<1x1x60x56xf32>
  %h = nn.concat %f, %g {axis = 1} : (tensor<1x1x60x56xf32>, tensor<1x1x60x56xf32>) -> tensor<1x2x60x56xf32>
  func.return %h : tensor<1x2x60x56xf32>
}

// -----

// A reshape between commands is one, too, unless it only adds or drops ones at the end.
// CHECK: [[a:%.*]] = clml.activation relu %x
// CHECK-NEXT: [[b:%.*]] = clml.reshape [[a]] : (!clml.tensor<1x4x6x1xf32, nchw>) -> !clml.tensor<1x3x8x1xf32, nchw>
// CHECK-NEXT: clml.activation tanh [[b]]
func.func @reshapes(%x: tensor<1x4x6xf32>) -> tensor<1x3x8x1xf32> {
  %a = nn.unary relu %x : (tensor<1x4x6xf32>) -> tensor<1x4x6xf32>
  %b = nn.reshape %a {shape = array<i64: 1, 4, 6, 1>} : (tensor<1x4x6xf32>) -> tensor<1x4x6x1xf32>
  %c = nn.reshape %b {shape = array<i64: 1, 3, 8, 1>} : (tensor<1x4x6x1xf32>) -> tensor<1x3x8x1xf32>
  %d = nn.unary tanh %c : (tensor<1x3x8x1xf32>) -> tensor<1x3x8x1xf32>
  func.return %d : tensor<1x3x8x1xf32>
}
