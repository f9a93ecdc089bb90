// RUN: clopt %s | clopt | filecheck %s
// RUN: clopt %s --print-op-generic | clopt | filecheck %s

%x0, %x1, %x2, %x3, %x4, %x5, %x6, %x7 = "test.op"() : () -> (tensor<2x6x9x11xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<9x11xf32>, tensor<11xf32>, tensor<11xf32>)

// CHECK: %0 = nn.batch_norm %x0, %x1, %x2, %x3, %x4 {epsilon = 1.000000e-05 : f64} : (tensor<2x6x9x11xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<2x6x9x11xf32>
%0 = nn.batch_norm %x0, %x1, %x2, %x3, %x4 {epsilon = 1.000000e-05 : f64} : (tensor<2x6x9x11xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<2x6x9x11xf32>

// CHECK-NEXT: %1 = nn.layer_norm %x0, %x5 {axis = 2 : i64, epsilon = 1.000000e-05 : f64} : (tensor<2x6x9x11xf32>, tensor<9x11xf32>) -> tensor<2x6x9x11xf32>
%1 = nn.layer_norm %x0, %x5 {axis = 2 : i64, epsilon = 1.000000e-05 : f64} : (tensor<2x6x9x11xf32>, tensor<9x11xf32>) -> tensor<2x6x9x11xf32>

// CHECK-NEXT: %2 = nn.layer_norm %x0, %x6, %x7 {axis = 3 : i64, epsilon = 1.000000e-05 : f64} : (tensor<2x6x9x11xf32>, tensor<11xf32>, tensor<11xf32>) -> tensor<2x6x9x11xf32>
%2 = nn.layer_norm %x0, %x6, %x7 {axis = 3 : i64, epsilon = 1.000000e-05 : f64} : (tensor<2x6x9x11xf32>, tensor<11xf32>, tensor<11xf32>) -> tensor<2x6x9x11xf32>

// CHECK-NEXT: %3 = nn.rms_norm %x0, %x6 {axis = 3 : i64, epsilon = 1.000000e-06 : f64} : (tensor<2x6x9x11xf32>, tensor<11xf32>) -> tensor<2x6x9x11xf32>
%3 = nn.rms_norm %x0, %x6 {axis = 3 : i64, epsilon = 1.000000e-06 : f64} : (tensor<2x6x9x11xf32>, tensor<11xf32>) -> tensor<2x6x9x11xf32>

// CHECK-NEXT: %4 = nn.group_norm %x0, %x1, %x2 {num_groups = 3 : i64, epsilon = 1.000000e-05 : f64} : (tensor<2x6x9x11xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<2x6x9x11xf32>
%4 = nn.group_norm %x0, %x1, %x2 {num_groups = 3 : i64, epsilon = 1.000000e-05 : f64} : (tensor<2x6x9x11xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<2x6x9x11xf32>

// CHECK-NEXT: %5 = nn.softmax %x0 {axis = 1 : i64, log} : (tensor<2x6x9x11xf32>) -> tensor<2x6x9x11xf32>
%5 = nn.softmax %x0 {axis = 1 : i64, log} : (tensor<2x6x9x11xf32>) -> tensor<2x6x9x11xf32>
