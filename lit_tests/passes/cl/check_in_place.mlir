// RUN: clopt %s --target pocl -p 'nn-update-in-place{output=y input=x},opencl' | filecheck %s
// RUN: not clopt %s --target pocl -p 'nn-update-in-place{output=y input=late},opencl' 2>&1 | filecheck %s --check-prefix=LATE
// RUN: clopt %s --target pocl -p opencl,cl-check-in-place | filecheck %s --check-prefix=APART

// The kernel reads each element before it writes it, so its pointers may be equal.
// CHECK: tir.func @relu_0{{.*}}in_place = [array<i64: 0, 1>]
// CHECK: cl.program @main(%x: memref<8xf32> {cl.name = "x"}, %late: memref<8xf32> {cl.name = "late"}, {{.*}} {cl.name = "y", cl.in_place = "x"}
// APART-NOT: in_place

// LATE: reads the input "late" after the output "y" has overwritten it; leave "y" out of in_place.
func.func @main(%x: tensor<8xf32> {nn.name = "x"}, %late: tensor<8xf32> {nn.name = "late"}) -> (tensor<8xf32> {nn.name = "y"}, tensor<f32> {nn.name = "z"}) {
  %y = nn.unary relu %x : (tensor<8xf32>) -> tensor<8xf32>
  %sum = nn.reduce sum %late {axes = array<i64: 0>, keep_dims = false} : (tensor<8xf32>) -> tensor<f32>
  func.return %y, %sum : tensor<8xf32>, tensor<f32>
}
