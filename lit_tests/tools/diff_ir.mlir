// RUN: clopt %s -p canonicalize,dce,fuse,nn-to-cl,nn-to-tir --target pocl --diff-ir 2>&1 >/dev/null \
// RUN:   | filecheck %s --match-full-lines --strict-whitespace

//CHECK:// canonicalize
//CHECK-NEXT:--- @f
//CHECK-NEXT:+++ @f
//CHECK-NEXT:@@ -1,5 +1,4 @@
//CHECK-NEXT: func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
//CHECK-NEXT:-  %unused = nn.unary tanh %x : (tensor<4xf32>) -> tensor<4xf32>
//CHECK-NEXT:   %y = nn.unary relu %x : (tensor<4xf32>) -> tensor<4xf32>
//CHECK-NEXT:   func.return %y : tensor<4xf32>
//CHECK-NEXT: }
//CHECK:// dce changes nothing
//CHECK:// nn-to-cl
//CHECK:--- nothing
//CHECK-NEXT:+++ @relu_0
//CHECK-NEXT:@@ -0,0 +1,5 @@
//CHECK:// nn-to-tir
//CHECK-NEXT:--- @relu_0
//CHECK-NEXT:+++ @relu_0
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %unused = nn.unary tanh %x : (tensor<4xf32>) -> tensor<4xf32>
  %y = nn.unary relu %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
func.func @g(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = nn.unary relu %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
