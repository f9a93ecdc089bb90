// RUN: clopt %s -p 'nn-update-in-place{output=new_keys input=keys room=0,0,8,0}' | filecheck %s
// RUN: clopt %s -p 'nn-update-in-place{output=state input=old}' | filecheck %s --check-prefix=SAME
// RUN: not clopt %s -p 'nn-update-in-place{output=new_keys input=keys room=0,0,3,0}' 2>&1 | filecheck %s --check-prefix=FULL
// RUN: not clopt %s -p 'nn-update-in-place{output=new_keys input=keys}' 2>&1 | filecheck %s --check-prefix=OPEN
// RUN: not clopt %s -p 'nn-update-in-place{output=state input=keys}' 2>&1 | filecheck %s --check-prefix=OTHER
// RUN: not clopt %s -p 'nn-update-in-place{output=keys input=old}' 2>&1 | filecheck %s --check-prefix=UNKNOWN

// FULL: The output "new_keys" has 5 elements along axis 2, but the cache "keys" has room for 3; leave that dimension open, and state a larger range in dims.
// OPEN: The output "new_keys" has 5 elements along axis 2, but the cache "keys" has no stated largest size;
// OTHER: The output "state" is tensor<4xf32>, which neither has the type of "keys" nor appends to it; leave it out of in_place.
// UNKNOWN: in_place says that the output "keys" overwrites the input "old", but the network has the inputs "keys", "new", "last", "old" and the outputs "new_keys", "mean", "state".

// The cache takes and returns all of its memory; everything else sees the elements in use.
// CHECK: func.func @main(%keys: tensor<1x2x8x4xf32> {nn.name = "keys"}, %new: tensor<1x2x1x4xf32> {nn.name = "new"}, %last: tensor<1x2x1x4xf32> {nn.name = "last"}, %old: tensor<4xf32> {nn.name = "old"}) -> (tensor<1x2x8x4xf32> {nn.name = "new_keys", nn.in_place = "keys", nn.shape = array<i64: 1, 2, 5, 4>}, tensor<1x2x3x4xf32> {nn.name = "mean"}, tensor<4xf32> {nn.name = "state"}) {
// CHECK-NEXT: [[past:%.*]] = nn.slice %keys {{.*}}sizes = array<i64: 1, 2, 3, 4>
// CHECK-NEXT: [[both:%.*]] = nn.concat %new, %last {axis = 2 : i64}
// CHECK-NEXT: [[start:%.*]] = nn.constant dense<3> : tensor<i32>
// CHECK-NEXT: [[whole:%.*]] = nn.insert_slice %keys, [[both]], [[start]] {axis = 2 : i64}
// CHECK-NEXT: [[seen:%.*]] = nn.slice [[whole]] {{.*}}sizes = array<i64: 1, 2, 5, 4>
// CHECK-NEXT: [[mean:%.*]] = nn.unary relu [[past]]
// CHECK-NEXT: nn.unary relu %old
// CHECK-NEXT: nn.unary relu [[seen]]
// CHECK-NEXT: func.return [[whole]], [[mean]]

// SAME: -> (tensor<1x2x5x4xf32> {nn.name = "new_keys"}, tensor<1x2x3x4xf32> {nn.name = "mean"}, tensor<4xf32> {nn.name = "state", nn.in_place = "old"}) {
// SAME-NEXT: nn.concat %keys, %new, %last
func.func @main(%keys: tensor<1x2x3x4xf32> {nn.name = "keys"}, %new: tensor<1x2x1x4xf32> {nn.name = "new"}, %last: tensor<1x2x1x4xf32> {nn.name = "last"}, %old: tensor<4xf32> {nn.name = "old"}) -> (tensor<1x2x5x4xf32> {nn.name = "new_keys"}, tensor<1x2x3x4xf32> {nn.name = "mean"}, tensor<4xf32> {nn.name = "state"}) {
  %all = nn.concat %keys, %new, %last {axis = 2 : i64} : (tensor<1x2x3x4xf32>, tensor<1x2x1x4xf32>, tensor<1x2x1x4xf32>) -> tensor<1x2x5x4xf32>
  %mean = nn.unary relu %keys : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %state = nn.unary relu %old : (tensor<4xf32>) -> tensor<4xf32>
  %used = nn.unary relu %all : (tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32>
  func.return %all, %mean, %state : tensor<1x2x5x4xf32>, tensor<1x2x3x4xf32>, tensor<4xf32>
}
