// RUN: clopt %s -p 'nn-choose{facts="clml=prefer clml_version=3"}' --explain --split-input-file --allow-unregistered-dialect -o %t 2>&1 | filecheck %s

// Why operations stay with our kernels: nothing that nn says is dropped.

// CHECK-LABEL: CLML in groups
// CHECK: not by CLML: CLML has convolutions with one group or one filter per channel, not with 2 groups of 4 to 8 channels
func.func @groups(%x: tensor<1x4x8x8xf32>) -> tensor<1x8x6x6xf32> {
  %w = nn.constant dense<1.0> : tensor<8x2x3x3xf32>
  %y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 2} : (tensor<1x4x8x8xf32>, tensor<8x2x3x3xf32>) -> tensor<1x8x6x6xf32>
  func.return %y : tensor<1x8x6x6xf32>
}

// -----

// CHECK-LABEL: CLML in multiplier
// CHECK: not by CLML: CLML has convolutions with one group or one filter per channel, not with 4 groups of 4 to 8 channels
func.func @multiplier(%x: tensor<1x4x8x8xf32>) -> tensor<1x8x6x6xf32> {
  %w = nn.constant dense<1.0> : tensor<8x1x3x3xf32>
  %y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 4} : (tensor<1x4x8x8xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x6x6xf32>
  func.return %y : tensor<1x8x6x6xf32>
}

// -----

// CHECK-LABEL: CLML in dilated_depthwise
// CHECK: not by CLML: CLML computes a dilated depthwise 3x3 convolution only with relu6 fused
func.func @dilated_depthwise(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x4x4xf32> {
  %w = nn.constant dense<1.0> : tensor<4x1x3x3xf32>
  %y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, groups = 4} : (tensor<1x4x8x8xf32>, tensor<4x1x3x3xf32>) -> tensor<1x4x4x4xf32>
  func.return %y : tensor<1x4x4x4xf32>
}

// -----

// CHECK-LABEL: CLML in batch
// CHECK: not by CLML: CLML requires a batch of 1, but 2x4x8x8 has 2
func.func @batch(%x: tensor<2x4x8x8xf32>) -> tensor<2x4x6x6xf32> {
  %w = nn.constant dense<1.0> : tensor<4x4x3x3xf32>
  %y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<2x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<2x4x6x6xf32>
  func.return %y : tensor<2x4x6x6xf32>
}

// -----

// CHECK-LABEL: CLML in computed_weights
// CHECK: not by CLML: weights, biases and statistics must be constants, but one of them is computed
func.func @computed_weights(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x3x3xf32>) -> tensor<1x4x6x6xf32> {
  %y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x6x6xf32>
  func.return %y : tensor<1x4x6x6xf32>
}

// -----

// CHECK-LABEL: CLML in three_dimensions
// CHECK: not by CLML: CLML tensors have at most four dimensions, not 5
func.func @three_dimensions(%x: tensor<1x4x8x8x8xf32>) -> tensor<1x4x6x6x6xf32> {
  %w = nn.constant dense<1.0> : tensor<4x4x3x3x3xf32>
  %y = nn.conv %x, %w {strides = array<i64: 1, 1, 1>, dilations = array<i64: 1, 1, 1>, pads = array<i64: 0, 0, 0, 0, 0, 0>} : (tensor<1x4x8x8x8xf32>, tensor<4x4x3x3x3xf32>) -> tensor<1x4x6x6x6xf32>
  func.return %y : tensor<1x4x6x6x6xf32>
}

// -----

// CHECK-LABEL: CLML in output_padding
// CHECK: not by CLML: CLML has no output_padding, and [1, 0] is more than the padding [0, 0] at the end
func.func @output_padding(%x: tensor<1x4x8x8xf32>) -> tensor<1x5x18x17xf32> {
  %w = nn.constant dense<1.0> : tensor<4x5x3x3xf32>
  %y = nn.conv_transpose %x, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, output_padding = array<i64: 1, 0>} : (tensor<1x4x8x8xf32>, tensor<4x5x3x3xf32>) -> tensor<1x5x18x17xf32>
  func.return %y : tensor<1x5x18x17xf32>
}

// -----

// CHECK-LABEL: CLML in transposed_groups
// CHECK: not by CLML: CLML has no transposed convolution with 4 groups
func.func @transposed_groups(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x10x10xf32> {
  %w = nn.constant dense<1.0> : tensor<4x1x3x3xf32>
  %y = nn.conv_transpose %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, output_padding = array<i64: 0, 0>, groups = 4} : (tensor<1x4x8x8xf32>, tensor<4x1x3x3xf32>) -> tensor<1x4x10x10xf32>
  func.return %y : tensor<1x4x10x10xf32>
}

// -----

// CHECK-LABEL: CLML in lp_pool
// CHECK: not by CLML: CLML supports max and average pooling, not lp
func.func @lp_pool(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x6x6xf32> {
  %y = nn.pool lp %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x6x6xf32>
  func.return %y : tensor<1x4x6x6xf32>
}

// -----

// CHECK-LABEL: CLML in dilated_pool
// CHECK: not by CLML: CLML's windows have no dilation, but the dilations are [1, 2]
func.func @dilated_pool(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x6x4xf32> {
  %y = nn.pool max %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 2>, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x6x4xf32>
  func.return %y : tensor<1x4x6x4xf32>
}

// -----

// An average that counts its padding is two commands.
// CHECK-LABEL: CLML in padding_of_an_input
// CHECK: not by CLML: CLML pads results of operations in the same graph, not inputs of the graph
func.func @padding_of_an_input(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %y = nn.pool average %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, count_include_pad} : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  func.return %y : tensor<1x4x8x8xf32>
}

// -----

// CHECK-LABEL: CLML in reduced_channels
// CHECK: not by CLML: CLML reduces H and W (axes 2 and 3), not the axes [1, 2, 3]
func.func @reduced_channels(%x: tensor<1x4x8x8xf32>) -> tensor<1xf32> {
  %y = nn.reduce mean %x {axes = array<i64: 1, 2, 3>} : (tensor<1x4x8x8xf32>) -> tensor<1xf32>
  func.return %y : tensor<1xf32>
}

// -----

// CHECK-LABEL: CLML in sum
// CHECK: not by CLML: CLML reduces to maxima and means (global pools), not sum
func.func @sum(%x: tensor<1x4x8x8xf32>) -> tensor<1x4xf32> {
  %y = nn.reduce sum %x {axes = array<i64: 2, 3>} : (tensor<1x4x8x8xf32>) -> tensor<1x4xf32>
  func.return %y : tensor<1x4xf32>
}

// -----

// CHECK-LABEL: CLML in hard_swish
// CHECK: not by CLML: CLML has the functions relu, sigmoid, silu, tanh, not hard_swish
func.func @hard_swish(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %y = nn.unary hard_swish %x : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  func.return %y : tensor<1x4x8x8xf32>
}

// -----

// CHECK-LABEL: CLML in half_a_clip
// CHECK: not by CLML: CLML's clip has two bounds, but this one lacks a bound
func.func @half_a_clip(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %y = nn.clip %x {high = 6.0 : f32} : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  func.return %y : tensor<1x4x8x8xf32>
}

// -----

// CHECK-LABEL: CLML in prelu
// CHECK: not by CLML: CLML has the functions add, sub, mul, div, min, max, not prelu
func.func @prelu(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %w = nn.constant dense<1.0> : tensor<4x1x1xf32>
  %y = nn.binary prelu %x, %w : (tensor<1x4x8x8xf32>, tensor<4x1x1xf32>) -> tensor<1x4x8x8xf32>
  func.return %y : tensor<1x4x8x8xf32>
}

// -----

// CHECK-LABEL: CLML in broadcast
// CHECK: not by CLML: CLML does not broadcast, but an operand has shape [1, 4, 1, 1] and the result [1, 4, 8, 8]
func.func @broadcast(%x: tensor<1x4x8x8xf32>, %s: tensor<1x4x1x1xf32>) -> tensor<1x4x8x8xf32> {
  %y = nn.binary mul %x, %s : (tensor<1x4x8x8xf32>, tensor<1x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  func.return %y : tensor<1x4x8x8xf32>
}

// -----

// CHECK-LABEL: CLML in one_tensor_twice
// CHECK: not by CLML: CLML requires two different tensors, but both operands are the same
func.func @one_tensor_twice(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %y = nn.binary add %x, %x : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  func.return %y : tensor<1x4x8x8xf32>
}

// -----

// CHECK-LABEL: CLML in integers
// CHECK: not by CLML: CLML supports f32 and f16, not i64
func.func @integers(%x: tensor<1x4xi64>) -> tensor<1x4xi64> {
  %y = nn.binary add %x, %x : (tensor<1x4xi64>, tensor<1x4xi64>) -> tensor<1x4xi64>
  func.return %y : tensor<1x4xi64>
}

// -----

// CHECK-LABEL: CLML in doubles
// CHECK: not by CLML: CLML supports f32 and f16, not f64
func.func @doubles(%x: tensor<1x4xf64>) -> tensor<1x4xf64> {
  %y = nn.unary relu %x : (tensor<1x4xf64>) -> tensor<1x4xf64>
  func.return %y : tensor<1x4xf64>
}

// -----

// CHECK-LABEL: CLML in long_rows
// CHECK: not by CLML: the sizes of a CLML tensor must be 1 to 32768, not 1x4x1x32769
func.func @long_rows(%x: tensor<1x4x1x32769xf32>) -> tensor<1x4x1x32769xf32> {
  %y = nn.unary relu %x : (tensor<1x4x1x32769xf32>) -> tensor<1x4x1x32769xf32>
  func.return %y : tensor<1x4x1x32769xf32>
}

// -----

// CHECK-LABEL: CLML in five_dimensions
// CHECK: not by CLML: CLML tensors have at most four dimensions, not 5
func.func @five_dimensions(%x: tensor<1x1x4x8x8xf32>) -> tensor<1x1x4x8x8xf32> {
  %y = nn.unary relu %x : (tensor<1x1x4x8x8xf32>) -> tensor<1x1x4x8x8xf32>
  func.return %y : tensor<1x1x4x8x8xf32>
}

// -----

// CHECK-LABEL: CLML in scalar
// CHECK: not by CLML: CLML tensors have at least one dimension, not 0
func.func @scalar(%x: tensor<f32>) -> tensor<f32> {
  %y = nn.unary relu %x : (tensor<f32>) -> tensor<f32>
  func.return %y : tensor<f32>
}

// -----

// CHECK-LABEL: CLML in log_softmax
// CHECK: not by CLML: CLML has no logarithm of softmax
func.func @log_softmax(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %y = nn.softmax %x {axis = 1, log} : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  func.return %y : tensor<1x4x8x8xf32>
}

// -----

// CHECK-LABEL: CLML in last_axis
// CHECK: not by CLML: CLML's softmax is over the channels (axis 1 behind a batch of 1), not over axis 3 of [1, 4, 8, 8]
func.func @last_axis(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %y = nn.softmax %x {axis = 3} : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  func.return %y : tensor<1x4x8x8xf32>
}

// -----

// CHECK-LABEL: CLML in concat_rows
// CHECK: not by CLML: CLML concatenates channels (axis 1), not axis 2
func.func @concat_rows(%x: tensor<1x4x8x8xf32>, %z: tensor<1x4x8x8xf32>) -> tensor<1x4x16x8xf32> {
  %y = nn.concat %x, %z {axis = 2} : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x16x8xf32>
  func.return %y : tensor<1x4x16x8xf32>
}

// -----

// CHECK-LABEL: CLML in pad_of_an_input
// CHECK: not by CLML: CLML pads results of operations in the same graph, not inputs of the graph
func.func @pad_of_an_input(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x10x10xf32> {
  %y = nn.pad constant %x {low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, 1, 1>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x10x10xf32>
  func.return %y : tensor<1x4x10x10xf32>
}

// -----

// CHECK-LABEL: CLML in pad_with_a_number
// CHECK: not by CLML: CLML pads with 0, not with 2
func.func @pad_with_a_number(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x10x10xf32> {
  %r = nn.unary relu %x : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %y = nn.pad constant %r {low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, 1, 1>, value = 2.0 : f32} : (tensor<1x4x8x8xf32>) -> tensor<1x4x10x10xf32>
  func.return %y : tensor<1x4x10x10xf32>
}

// -----

// CHECK-LABEL: CLML in pad_channels
// CHECK: not by CLML: CLML pads H and W (axes 2 and 3), not other axes
func.func @pad_channels(%x: tensor<1x4x8x8xf32>) -> tensor<1x5x8x8xf32> {
  %r = nn.unary relu %x : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %y = nn.pad constant %r {low = array<i64: 0, 1, 0, 0>, high = array<i64: 0, 0, 0, 0>} : (tensor<1x4x8x8xf32>) -> tensor<1x5x8x8xf32>
  func.return %y : tensor<1x5x8x8xf32>
}

// -----

// CHECK-LABEL: CLML in crop
// CHECK: not by CLML: CLML does not crop, but the pads are [-1, 0, 0, 0]
func.func @crop(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x7x8xf32> {
  %r = nn.unary relu %x : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %y = nn.pad constant %r {low = array<i64: 0, 0, -1, 0>, high = array<i64: 0, 0, 0, 0>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x7x8xf32>
  func.return %y : tensor<1x4x7x8xf32>
}

// -----

// CHECK-LABEL: CLML in edge_of_two
// CHECK: not by CLML: CLML repeats an edge by one element, not by 2
func.func @edge_of_two(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x10x8xf32> {
  %r = nn.unary relu %x : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %y = nn.pad edge %r {low = array<i64: 0, 0, 2, 0>, high = array<i64: 0, 0, 0, 0>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x10x8xf32>
  func.return %y : tensor<1x4x10x8xf32>
}

// -----

// CHECK-LABEL: CLML in wrap
// CHECK: not by CLML: CLML pads by the modes constant, reflect and (one element) edge, not wrap
func.func @wrap(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x9x8xf32> {
  %r = nn.unary relu %x : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %y = nn.pad wrap %r {low = array<i64: 0, 0, 1, 0>, high = array<i64: 0, 0, 0, 0>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x9x8xf32>
  func.return %y : tensor<1x4x9x8xf32>
}

// -----

// CHECK-LABEL: CLML in crd
// CHECK: not by CLML: CLML's depth_to_space has the mode dcr, not crd
func.func @crd(%x: tensor<1x4x8x8xf32>) -> tensor<1x1x16x16xf32> {
  %y = nn.depth_to_space crd %x {block = 2} : (tensor<1x4x8x8xf32>) -> tensor<1x1x16x16xf32>
  func.return %y : tensor<1x1x16x16xf32>
}

// -----

// CHECK-LABEL: CLML in nearest
// CHECK: not by CLML: CLML resizes bilinearly, or by mode nearest if each element becomes a square of copies
func.func @nearest(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x16x24xf32> {
  %y = nn.resize nearest %x {coordinate_mode = #nn<coordinate_mode asymmetric>, scales = array<f64: 1.0, 1.0, 2.0, 3.0>, sizes = array<i64: 1, 4, 16, 24>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x16x24xf32>
  func.return %y : tensor<1x4x16x24xf32>
}

// -----

// CHECK-LABEL: CLML in cubic
// CHECK: not by CLML: CLML resizes bilinearly, not by mode cubic
func.func @cubic(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x16x16xf32> {
  %y = nn.resize cubic %x {coordinate_mode = #nn<coordinate_mode asymmetric>, scales = array<f64: 1.0, 1.0, 2.0, 2.0>, sizes = array<i64: 1, 4, 16, 16>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x16x16xf32>
  func.return %y : tensor<1x4x16x16xf32>
}

// -----

// CHECK-LABEL: CLML in half_pixel
// CHECK: not by CLML: CLML resizes with the coordinates align_corners or asymmetric, not half_pixel
func.func @half_pixel(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x16x16xf32> {
  %y = nn.resize linear %x {coordinate_mode = #nn<coordinate_mode half_pixel>, scales = array<f64: 1.0, 1.0, 2.0, 2.0>, sizes = array<i64: 1, 4, 16, 16>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x16x16xf32>
  func.return %y : tensor<1x4x16x16xf32>
}

// -----

// CHECK-LABEL: CLML in exclude_outside
// CHECK: not by CLML: CLML's resize has no exclude_outside
func.func @exclude_outside(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x16x16xf32> {
  %y = nn.resize linear %x {coordinate_mode = #nn<coordinate_mode asymmetric>, scales = array<f64: 1.0, 1.0, 2.0, 2.0>, sizes = array<i64: 1, 4, 16, 16>, exclude_outside} : (tensor<1x4x8x8xf32>) -> tensor<1x4x16x16xf32>
  func.return %y : tensor<1x4x16x16xf32>
}

// -----

// CHECK-LABEL: CLML in rounded_scale
// CHECK: not by CLML: CLML resizes by the quotient of the sizes, 16/8, not by 2.1
func.func @rounded_scale(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x16x16xf32> {
  %y = nn.resize linear %x {coordinate_mode = #nn<coordinate_mode asymmetric>, scales = array<f64: 1.0, 1.0, 2.1, 2.0>, sizes = array<i64: 1, 4, 16, 16>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x16x16xf32>
  func.return %y : tensor<1x4x16x16xf32>
}

// -----

// CHECK-LABEL: CLML in resized_channels
// CHECK: not by CLML: CLML resizes H and W, not [1, 4, 8, 8] to [1, 8, 8, 8]
func.func @resized_channels(%x: tensor<1x4x8x8xf32>) -> tensor<1x8x8x8xf32> {
  %y = nn.resize linear %x {coordinate_mode = #nn<coordinate_mode asymmetric>, scales = array<f64: 1.0, 2.0, 1.0, 1.0>, sizes = array<i64: 1, 8, 8, 8>} : (tensor<1x4x8x8xf32>) -> tensor<1x8x8x8xf32>
  func.return %y : tensor<1x8x8x8xf32>
}

// -----

// CHECK-LABEL: CLML in one_corner
// CHECK: not by CLML: align_corners requires at least two rows and columns, but the result is 1x4x1x16
func.func @one_corner(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x1x16xf32> {
  %y = nn.resize linear %x {coordinate_mode = #nn<coordinate_mode align_corners>, scales = array<f64: 1.0, 1.0, 0.125, 2.0>, sizes = array<i64: 1, 4, 1, 16>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x1x16xf32>
  func.return %y : tensor<1x4x1x16xf32>
}

// -----

// CHECK-LABEL: CLML in batched
// CHECK: not by CLML: CLML multiplies two matrices, not batches of 4
func.func @batched(%x: tensor<4x2x3xf32>, %z: tensor<4x3x5xf32>) -> tensor<4x2x5xf32> {
  %y = nn.matmul %x, %z : (tensor<4x2x3xf32>, tensor<4x3x5xf32>) -> tensor<4x2x5xf32>
  func.return %y : tensor<4x2x5xf32>
}

// -----

// CHECK-LABEL: CLML in squared
// CHECK: not by CLML: CLML requires two different tensors, but both operands are the same
func.func @squared(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %y = nn.matmul %x, %x : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  func.return %y : tensor<3x3xf32>
}

// -----

// CHECK-LABEL: CLML in transpose
// CHECK: not by CLML: CLML has no operation for nn.transpose
func.func @transpose(%x: tensor<1x4x8x8xf32>) -> tensor<1x8x8x4xf32> {
  %y = nn.transpose %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x4x8x8xf32>) -> tensor<1x8x8x4xf32>
  func.return %y : tensor<1x8x8x4xf32>
}

// -----

// A reshape that changes the batch, between commands.
// CHECK-LABEL: CLML in batch_reshape
// CHECK: not by CLML: CLML requires a batch of 1, but 2x4x8x4 has 2
func.func @batch_reshape(%x: tensor<1x4x8x8xf32>) -> tensor<2x4x8x4xf32> {
  %r = nn.unary relu %x : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %y = nn.reshape %r {shape = array<i64: 2, 4, 8, 4>} : (tensor<1x4x8x8xf32>) -> tensor<2x4x8x4xf32>
  func.return %y : tensor<2x4x8x4xf32>
}

// -----

// An operation that nobody here knows goes by its own name.
// CHECK-LABEL: CLML in unknown: 1 of 2 operations in 1 graph, with 0 copies
// CHECK: other.op: other.op {{ +}}kernels {{ +}}rule {{ +}}not by CLML: CLML has no operation for other.op
func.func @unknown(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %r = nn.unary relu %x : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %y = "other.op"(%r) : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  func.return %y : tensor<1x4x8x8xf32>
}
