// RUN: clopt %s | clopt | filecheck %s
// RUN: clopt %s --print-op-generic | clopt | filecheck %s

%x0, %x1, %x2, %x3, %x4, %x5, %x6, %x7, %x8 = "test.op"() : () -> (tensor<5x6xf32>, tensor<2x3xi64>, tensor<3x9xi64>, tensor<2x5x6xf32>, tensor<2x1xi64>, tensor<2x9xi64>, tensor<2x9xf32>, tensor<4x1xi64>, tensor<4x6xf32>)

// CHECK: %0 = nn.gather %x0, %x1 {axis = 0 : i64} : (tensor<5x6xf32>, tensor<2x3xi64>) -> tensor<2x3x6xf32>
%0 = nn.gather %x0, %x1 {axis = 0 : i64} : (tensor<5x6xf32>, tensor<2x3xi64>) -> tensor<2x3x6xf32>

// CHECK-NEXT: %1 = nn.gather_elements %x0, %x2 {axis = 1 : i64} : (tensor<5x6xf32>, tensor<3x9xi64>) -> tensor<3x9xf32>
%1 = nn.gather_elements %x0, %x2 {axis = 1 : i64} : (tensor<5x6xf32>, tensor<3x9xi64>) -> tensor<3x9xf32>

// CHECK-NEXT: %2 = nn.gather_nd %x3, %x4 {batch_dims = 1 : i64} : (tensor<2x5x6xf32>, tensor<2x1xi64>) -> tensor<2x6xf32>
%2 = nn.gather_nd %x3, %x4 {batch_dims = 1 : i64} : (tensor<2x5x6xf32>, tensor<2x1xi64>) -> tensor<2x6xf32>

// CHECK-NEXT: %3 = nn.scatter_elements add %x0, %x5, %x6 {axis = 1 : i64} : (tensor<5x6xf32>, tensor<2x9xi64>, tensor<2x9xf32>) -> tensor<5x6xf32>
%3 = nn.scatter_elements add %x0, %x5, %x6 {axis = 1 : i64} : (tensor<5x6xf32>, tensor<2x9xi64>, tensor<2x9xf32>) -> tensor<5x6xf32>

// CHECK-NEXT: %4 = nn.scatter_nd none %x0, %x7, %x8 : (tensor<5x6xf32>, tensor<4x1xi64>, tensor<4x6xf32>) -> tensor<5x6xf32>
%4 = nn.scatter_nd none %x0, %x7, %x8 : (tensor<5x6xf32>, tensor<4x1xi64>, tensor<4x6xf32>) -> tensor<5x6xf32>
