// RUN: clopt %s | clopt | filecheck %s
// RUN: clopt %s --print-op-generic | clopt | filecheck %s

%x0, %x1 = "test.op"() : () -> (tensor<2x6x9x11xf32>, tensor<5x3xf32>)

// CHECK: %0 = nn.reduce mean %x0 {axes = array<i64: 2, 3>, keepdims} : (tensor<2x6x9x11xf32>) -> tensor<2x6x1x1xf32>
%0 = nn.reduce mean %x0 {axes = array<i64: 2, 3>, keepdims} : (tensor<2x6x9x11xf32>) -> tensor<2x6x1x1xf32>

// CHECK-NEXT: %1 = nn.reduce log_sum_exp %x0 {axes = array<i64: 0, 1, 2, 3>} : (tensor<2x6x9x11xf32>) -> tensor<f32>
%1 = nn.reduce log_sum_exp %x0 {axes = array<i64: 0, 1, 2, 3>} : (tensor<2x6x9x11xf32>) -> tensor<f32>

// CHECK-NEXT: %2 = nn.arg_reduce max %x0 {axis = 3 : i64, select_last} : (tensor<2x6x9x11xf32>) -> tensor<2x6x9xi64>
%2 = nn.arg_reduce max %x0 {axis = 3 : i64, select_last} : (tensor<2x6x9x11xf32>) -> tensor<2x6x9xi64>

// CHECK-NEXT: %3 = nn.cumsum %x0 {axis = 2 : i64, exclusive, reverse} : (tensor<2x6x9x11xf32>) -> tensor<2x6x9x11xf32>
%3 = nn.cumsum %x0 {axis = 2 : i64, exclusive, reverse} : (tensor<2x6x9x11xf32>) -> tensor<2x6x9x11xf32>

// CHECK-NEXT: %4, %5 = nn.top_k %x1 {axis = 0 : i64, k = 2 : i64, largest} : (tensor<5x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>)
%4, %5 = nn.top_k %x1 {axis = 0 : i64, k = 2 : i64, largest} : (tensor<5x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>)
