// RUN: clopt %s | clopt | filecheck %s
// RUN: clopt %s --print-op-generic | clopt | filecheck %s

%x0 = "test.op"() : () -> tensor<2x6x9x11xf32>

// CHECK: %0 = nn.pool max %x0 {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<2x6x9x11xf32>) -> tensor<2x6x4x5xf32>
%0 = nn.pool max %x0 {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<2x6x9x11xf32>) -> tensor<2x6x4x5xf32>

// CHECK-NEXT: %1 = nn.pool average %x0 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, ceil_mode, count_include_pad} : (tensor<2x6x9x11xf32>) -> tensor<2x6x5x6xf32>
%1 = nn.pool average %x0 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, ceil_mode, count_include_pad} : (tensor<2x6x9x11xf32>) -> tensor<2x6x5x6xf32>

// CHECK-NEXT: %2 = nn.pool lp %x0 {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, p = 3 : i64} : (tensor<2x6x9x11xf32>) -> tensor<2x6x9x11xf32>
%2 = nn.pool lp %x0 {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, p = 3 : i64} : (tensor<2x6x9x11xf32>) -> tensor<2x6x9x11xf32>

// CHECK-NEXT: %3 = nn.max_pool_indices %x0 {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, storage_order = 1 : i64} : (tensor<2x6x9x11xf32>) -> tensor<2x6x8x10xi64>
%3 = nn.max_pool_indices %x0 {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, storage_order = 1 : i64} : (tensor<2x6x9x11xf32>) -> tensor<2x6x8x10xi64>
