// RUN: clopt %s | clopt - | filecheck %s

// CHECK-LABEL: func.func @elements
// CHECK: [[Y:%.*]] = nn.generic %x, %t {maps = [affine_map<(d0, d1) -> (d0, d1)>, unit, affine_map<(d0, d1) -> (d1, d0)>], extents = array<i64: 2, 3>, elements = [f32]} : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<3x2xf32> {
// CHECK-NEXT: ^bb0([[A:%.*]]: f32, [[T:%.*]]: tensor<4xf32>):
// CHECK-NEXT: [[I:%.*]] = nn.index 1
// CHECK-NEXT: [[E:%.*]] = tensor.extract [[T]][[[I]]] : tensor<4xf32>
// CHECK-NEXT: [[P:%.*]] = arith.mulf [[A]], [[E]] : f32
// CHECK-NEXT: nn.yield [[P]] : f32
// CHECK-NEXT: }
func.func @elements(%x: tensor<2x3xf32>, %t: tensor<4xf32>) -> tensor<3x2xf32> {
  %y = nn.generic %x, %t {maps = [affine_map<(i, j) -> (i, j)>, unit, affine_map<(i, j) -> (j, i)>], extents = array<i64: 2, 3>, elements = [f32]} : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<3x2xf32> {
  ^bb0(%a: f32, %table: tensor<4xf32>):
    %i = nn.index 1
    %e = tensor.extract %table[%i] : tensor<4xf32>
    %p = arith.mulf %a, %e : f32
    nn.yield %p : f32
  }
  func.return %y : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @two_results
// CHECK: {{%.*}}, {{%.*}} = nn.generic %x {{{.*}}init = [0xff800000 : f32, 0 : i32]} : (tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2xi32>) {
func.func @two_results(%x: tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2xi32>) {
  %m, %n = nn.generic %x {maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], extents = array<i64: 2, 3>, elements = [f32, i32], init = [0xff800000 : f32, 0 : i32]} : (tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2xi32>) {
  ^bb0(%a: f32, %best: f32, %where: i32):
    %j = nn.index 1
    %k = arith.index_cast %j : index to i32
    %greater = arith.cmpf ogt, %a, %best : f32
    %next = arith.select %greater, %a, %best : f32
    %at = arith.select %greater, %k, %where : i32
    nn.yield %next, %at : f32, i32
  }
  func.return %m, %n : tensor<2xf32>, tensor<2xi32>
}
