// RUN: clopt %s | clopt | filecheck %s
// RUN: clopt %s --print-op-generic | clopt | filecheck %s

%x0, %x1, %x2, %x3, %x4, %x5, %x6, %x7, %x8, %x9 = "test.op"() : () -> (tensor<3xf32>, tensor<2x6x9x11xf32>, tensor<1x1xf32>, tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x0xf32>, tensor<2x5xf32>, tensor<3x1xf32>, tensor<1x8x2x3xf32>, tensor<1x2x4x6xf32>)

// CHECK: %0 = nn.pad constant %x0 {low = array<i64: 1>, high = array<i64: 0>, value = 0xff800000 : f32} : (tensor<3xf32>) -> tensor<4xf32>
%0 = nn.pad constant %x0 {low = array<i64: 1>, high = array<i64: 0>, value = 0xff800000 : f32} : (tensor<3xf32>) -> tensor<4xf32>

// CHECK-NEXT: %1 = nn.reshape %x1 {shape = array<i64: 2, 6, 99>} : (tensor<2x6x9x11xf32>) -> tensor<2x6x99xf32>
%1 = nn.reshape %x1 {shape = array<i64: 2, 6, 99>} : (tensor<2x6x9x11xf32>) -> tensor<2x6x99xf32>

// CHECK-NEXT: %2 = nn.reshape %x2 {shape = array<i64>} : (tensor<1x1xf32>) -> tensor<f32>
%2 = nn.reshape %x2 {shape = array<i64>} : (tensor<1x1xf32>) -> tensor<f32>

// CHECK-NEXT: %3 = nn.transpose %x1 {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x6x9x11xf32>) -> tensor<2x9x11x6xf32>
%3 = nn.transpose %x1 {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x6x9x11xf32>) -> tensor<2x9x11x6xf32>

// CHECK-NEXT: %4 = nn.concat %x3, %x4, %x5 {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x0xf32>) -> tensor<2x4xf32>
%4 = nn.concat %x3, %x4, %x5 {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x0xf32>) -> tensor<2x4xf32>

// CHECK-NEXT: %5 = nn.slice %x6 {starts = array<i64: 1, 4>, steps = array<i64: 1, -2>, sizes = array<i64: 1, 3>} : (tensor<2x5xf32>) -> tensor<1x3xf32>
%5 = nn.slice %x6 {starts = array<i64: 1, 4>, steps = array<i64: 1, -2>, sizes = array<i64: 1, 3>} : (tensor<2x5xf32>) -> tensor<1x3xf32>

// CHECK-NEXT: %6 = nn.pad constant %x6 {low = array<i64: 1, 0>, high = array<i64: 0, -2>, value = -1.500000e+00 : f32} : (tensor<2x5xf32>) -> tensor<3x3xf32>
%6 = nn.pad constant %x6 {low = array<i64: 1, 0>, high = array<i64: 0, -2>, value = -1.500000e+00 : f32} : (tensor<2x5xf32>) -> tensor<3x3xf32>

// CHECK-NEXT: %7 = nn.pad reflect %x6 {low = array<i64: 0, 2>, high = array<i64: 0, 1>} : (tensor<2x5xf32>) -> tensor<2x8xf32>
%7 = nn.pad reflect %x6 {low = array<i64: 0, 2>, high = array<i64: 0, 1>} : (tensor<2x5xf32>) -> tensor<2x8xf32>

// CHECK-NEXT: %8 = nn.expand %x7 {shape = array<i64: 2, 3, 4>} : (tensor<3x1xf32>) -> tensor<2x3x4xf32>
%8 = nn.expand %x7 {shape = array<i64: 2, 3, 4>} : (tensor<3x1xf32>) -> tensor<2x3x4xf32>

// CHECK-NEXT: %9 = nn.tile %x7 {repeats = array<i64: 2, 0>} : (tensor<3x1xf32>) -> tensor<6x0xf32>
%9 = nn.tile %x7 {repeats = array<i64: 2, 0>} : (tensor<3x1xf32>) -> tensor<6x0xf32>

// CHECK-NEXT: %10 = nn.depth_to_space crd %x8 {block = 2 : i64} : (tensor<1x8x2x3xf32>) -> tensor<1x2x4x6xf32>
%10 = nn.depth_to_space crd %x8 {block = 2 : i64} : (tensor<1x8x2x3xf32>) -> tensor<1x2x4x6xf32>

// CHECK-NEXT: %11 = nn.space_to_depth dcr %x9 {block = 2 : i64} : (tensor<1x2x4x6xf32>) -> tensor<1x8x2x3xf32>
%11 = nn.space_to_depth dcr %x9 {block = 2 : i64} : (tensor<1x2x4x6xf32>) -> tensor<1x8x2x3xf32>
