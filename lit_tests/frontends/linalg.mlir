// RUN: clopt %s -f linalg --split-input-file | filecheck %s

// A convolution of NHWC is one of NCHW, with a transpose at either end.
// CHECK-LABEL: func.func @convolution
// CHECK: [[X:%.*]] = nn.transpose %x {perm = array<i64: 0, 3, 1, 2>}
// CHECK: [[Y:%.*]] = nn.conv [[X]], {{.*}} -> tensor<1x4x2x2xf32>
// CHECK-NEXT: [[R:%.*]] = nn.unary tanh [[Y]]
// CHECK-NEXT: [[OUT:%.*]] = nn.transpose [[R]] {perm = array<i64: 0, 2, 3, 1>}
// CHECK-NEXT: func.return [[OUT]]
func.func @convolution(%x: tensor<1x4x4x2xf32>, %w: tensor<3x3x2x4xf32>) -> tensor<1x2x2x4xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x2x2x4xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x2x2x4xf32>) -> tensor<1x2x2x4xf32>
  %y = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%x, %w : tensor<1x4x4x2xf32>, tensor<3x3x2x4xf32>) outs(%start : tensor<1x2x2x4xf32>) -> tensor<1x2x2x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y : tensor<1x2x2x4xf32>) outs(%empty : tensor<1x2x2x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %t = math.tanh %in : f32
    linalg.yield %t : f32
  } -> tensor<1x2x2x4xf32>
  func.return %r : tensor<1x2x2x4xf32>
}

// -----

// A product by any other name: the maps say that it is one of matrices.
// CHECK-LABEL: func.func @product
// CHECK: nn.matmul %a, {{.*}} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT: func.return
func.func @product(%a: tensor<2x3xf32>, %b: tensor<4x3xf32>) -> tensor<2x4xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x4xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x4xf32>) -> tensor<2x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<2x3xf32>, tensor<4x3xf32>) outs(%start : tensor<2x4xf32>) {
  ^bb0(%x: f32, %w: f32, %sum: f32):
    %p = arith.mulf %x, %w : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x4xf32>
  func.return %y : tensor<2x4xf32>
}

// -----

// A maximum over windows, whose padding is minus infinity.
// CHECK-LABEL: func.func @pool
// CHECK: [[P:%.*]] = nn.pad constant %x {{.*}}value = 0xff800000 : f32
// CHECK-NEXT: nn.pool max [[P]] {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>
// CHECK-NEXT: func.return
func.func @pool(%x: tensor<1x2x5x5xf32>) -> tensor<1x2x3x3xf32> {
  %least = arith.constant 0xFF800000 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %least : f32
  } : tensor<1x2x5x5xf32> to tensor<1x2x7x7xf32>
  %empty = tensor.empty() : tensor<1x2x3x3xf32>
  %start = linalg.fill ins(%least : f32) outs(%empty : tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %window = tensor.empty() : tensor<3x3xf32>
  %y = linalg.pooling_nchw_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%p, %window : tensor<1x2x7x7xf32>, tensor<3x3xf32>) outs(%start : tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  func.return %y : tensor<1x2x3x3xf32>
}

// -----

// Rows of a table: a gather.
// CHECK-LABEL: func.func @rows
// CHECK: nn.gather %table, {{.*}} {axis = 0 : i64} : (tensor<9x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>
// CHECK-NEXT: func.return
func.func @rows(%table: tensor<9x4xf32>, %rows: tensor<2x3xi64>) -> tensor<2x3x4xf32> {
  %zero = arith.constant 0 : i64
  %size = arith.constant 9 : i64
  %empty = tensor.empty() : tensor<2x3x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%rows : tensor<2x3xi64>) outs(%empty : tensor<2x3x4xf32>) {
  ^bb0(%n: i64, %out: f32):
    %k = linalg.index 2 : index
    %row = arith.index_cast %n : i64 to index
    %x = tensor.extract %table[%row, %k] : tensor<9x4xf32>
    linalg.yield %x : f32
  } -> tensor<2x3x4xf32>
  func.return %y : tensor<2x3x4xf32>
}

// -----

// Two elements of a table for each result are one kernel, with the coordinates in tables.
// CHECK-LABEL: func.func @pairs
// CHECK: [[C:%.*]] = nn.constant dense<[1, 3, 5]> : tensor<3xi32>
// CHECK: nn.generic %x, {{.*}}, [[C]] {maps = [unit, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
// CHECK: tensor.extract
// CHECK: tensor.extract
func.func @pairs(%x: tensor<6xf32>) -> tensor<3xf32> {
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %empty = tensor.empty() : tensor<3xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%empty : tensor<3xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %even = arith.muli %i, %two : index
    %odd = arith.addi %even, %one : index
    %a = tensor.extract %x[%even] : tensor<6xf32>
    %b = tensor.extract %x[%odd] : tensor<6xf32>
    %d = arith.subf %a, %b : f32
    linalg.yield %d : f32
  } -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}
