// RUN: clopt %s -p canonicalize --split-input-file | filecheck %s

// CHECK-LABEL: @slices
func.func @slices(%x: tensor<10x1xf32>) -> (tensor<10x1xf32>, tensor<2x1xf32>) {
  %0 = nn.slice %x {starts = array<i64: 0, 0>, steps = array<i64: 1, -1>, sizes = array<i64: 10, 1>} : (tensor<10x1xf32>) -> tensor<10x1xf32>
  %1 = nn.slice %x {starts = array<i64: 9, 0>, steps = array<i64: -2, 1>, sizes = array<i64: 5, 1>} : (tensor<10x1xf32>) -> tensor<5x1xf32>
  %2 = nn.slice %1 {starts = array<i64: 1, 0>, steps = array<i64: 2, 1>, sizes = array<i64: 2, 1>} : (tensor<5x1xf32>) -> tensor<2x1xf32>
  func.return %0, %2 : tensor<10x1xf32>, tensor<2x1xf32>
}
// CHECK-NEXT: [[s:%.*]] = nn.slice %x {starts = array<i64: 7, 0>, steps = array<i64: -4, 1>, sizes = array<i64: 2, 1>}
// CHECK-NEXT: func.return %x, [[s]]

// -----

// CHECK-LABEL: @pads
func.func @pads(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<10xf32>, tensor<8xf32>) {
  %0 = nn.pad constant %x {low = array<i64: 0>, high = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = nn.pad constant %x {low = array<i64: 1>, high = array<i64: 2>} : (tensor<4xf32>) -> tensor<7xf32>
  %2 = nn.pad constant %1 {low = array<i64: 3>, high = array<i64: 0>} : (tensor<7xf32>) -> tensor<10xf32>
  %3 = nn.pad constant %1 {low = array<i64: 1>, high = array<i64: 0>, value = 1.0 : f32} : (tensor<7xf32>) -> tensor<8xf32>
  func.return %0, %2, %3 : tensor<4xf32>, tensor<10xf32>, tensor<8xf32>
}
// CHECK-NEXT: [[p:%.*]] = nn.pad constant %x {low = array<i64: 1>, high = array<i64: 2>}
// CHECK-NEXT: [[q:%.*]] = nn.pad constant %x {low = array<i64: 4>, high = array<i64: 2>}
// CHECK-NEXT: [[r:%.*]] = nn.pad constant [[p]] {low = array<i64: 1>, high = array<i64: 0>, value = 1.000000e+00 : f32}
// CHECK-NEXT: func.return %x, [[q]], [[r]]

// -----

// CHECK-LABEL: @concats
func.func @concats(%x: tensor<2x3xf32>, %e: tensor<2x0xf32>) -> (tensor<2x3xf32>, tensor<2x9xf32>) {
  %0 = nn.concat %x {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = nn.concat %x, %e, %x {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x0xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  %2 = nn.concat %1, %0 {axis = 1 : i64} : (tensor<2x6xf32>, tensor<2x3xf32>) -> tensor<2x9xf32>
  func.return %0, %2 : tensor<2x3xf32>, tensor<2x9xf32>
}
// CHECK-NEXT: [[c:%.*]] = nn.concat %x, %x, %x {axis = 1 : i64}
// CHECK-NEXT: func.return %x, [[c]]

// -----

// CHECK-LABEL: @gathers
func.func @gathers(%x: tensor<2x5xf32>) -> (tensor<2xf32>, tensor<2x2xf32>, tensor<2x3xf32>) {
  %last = nn.constant dense<-1> : tensor<i64>
  %even = nn.constant dense<[3, 1]> : tensor<2xi64>
  %uneven = nn.constant dense<[0, 1, 4]> : tensor<3xi64>
  %0 = nn.gather %x, %last {axis = 1 : i64} : (tensor<2x5xf32>, tensor<i64>) -> tensor<2xf32>
  %1 = nn.gather %x, %even {axis = 1 : i64} : (tensor<2x5xf32>, tensor<2xi64>) -> tensor<2x2xf32>
  %2 = nn.gather %x, %uneven {axis = 1 : i64} : (tensor<2x5xf32>, tensor<3xi64>) -> tensor<2x3xf32>
  func.return %0, %1, %2 : tensor<2xf32>, tensor<2x2xf32>, tensor<2x3xf32>
}
// CHECK: [[s:%.*]] = nn.slice %x {starts = array<i64: 0, 4>, steps = array<i64: 1, 1>, sizes = array<i64: 2, 1>}
// CHECK-NEXT: nn.reshape [[s]] {shape = array<i64: 2>}
// CHECK-NEXT: nn.slice %x {starts = array<i64: 0, 3>, steps = array<i64: 1, -2>, sizes = array<i64: 2, 2>}
// CHECK-NEXT: nn.gather
