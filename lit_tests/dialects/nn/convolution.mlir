// RUN: clopt %s | clopt | filecheck %s
// RUN: clopt %s --print-op-generic | clopt | filecheck %s

%x0, %x1, %x2, %x3, %x4, %x5, %x6 = "test.op"() : () -> (tensor<2x6x9x11xf32>, tensor<4x6x3x3xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>, tensor<1x6x5xf32>, tensor<6x1x5xf32>, tensor<6x2x3x3xf32>)

// CHECK: %0 = nn.conv %x0, %x1 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<2x6x9x11xf32>, tensor<4x6x3x3xf32>) -> tensor<2x4x7x9xf32>
%0 = nn.conv %x0, %x1 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<2x6x9x11xf32>, tensor<4x6x3x3xf32>) -> tensor<2x4x7x9xf32>

// CHECK-NEXT: %1 = nn.conv %x0, %x2, %x3 {strides = array<i64: 2, 1>, dilations = array<i64: 1, 2>, pads = array<i64: 1, 2, 0, 2>, groups = 2 : i64} : (tensor<2x6x9x11xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<2x4x4x11xf32>
%1 = nn.conv %x0, %x2, %x3 {strides = array<i64: 2, 1>, dilations = array<i64: 1, 2>, pads = array<i64: 1, 2, 0, 2>, groups = 2 : i64} : (tensor<2x6x9x11xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<2x4x4x11xf32>

// CHECK-NEXT: %2 = nn.conv %x4, %x5 {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>, groups = 6 : i64} : (tensor<1x6x5xf32>, tensor<6x1x5xf32>) -> tensor<1x6x1xf32>
%2 = nn.conv %x4, %x5 {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>, groups = 6 : i64} : (tensor<1x6x5xf32>, tensor<6x1x5xf32>) -> tensor<1x6x1xf32>

// CHECK-NEXT: %3 = nn.conv_transpose %x0, %x6, %x3 {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, output_padding = array<i64: 1, 0>, groups = 2 : i64} : (tensor<2x6x9x11xf32>, tensor<6x2x3x3xf32>, tensor<4xf32>) -> tensor<2x4x18x21xf32>
%3 = nn.conv_transpose %x0, %x6, %x3 {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, output_padding = array<i64: 1, 0>, groups = 2 : i64} : (tensor<2x6x9x11xf32>, tensor<6x2x3x3xf32>, tensor<4xf32>) -> tensor<2x4x18x21xf32>
