// RUN: clopt %s -p nn-to-cl --split-input-file --verify-diagnostics | filecheck %s

// The same code with other layouts is another kernel, with the same ones it is shared. A relayout
// that changes nothing disappears, a constant is packed once, and a reshape that moves no byte of a
// packed buffer is a view.
!packed = tensor<1x6x2x2xf32, #nn.layout<[1 by 4]>>
!rows = tensor<1x6x4xf32, #nn.layout<[1 by 4]>>
!row = tensor<1x6x1xf32, #nn.layout<[1 by 4]>>
// CHECK-LABEL: nn.kernel @add_1
// CHECK-SAME:  {constants = array<i64: 1>, comment = "nn.binary, nn.binary, in 2 launches"}
// CHECK-LABEL: nn.kernel @add_3
// CHECK-LABEL: cl.program @shared
// CHECK:       [[p:%.*]] = cl.alloc : memref<1x2x2x2x4xf32>
// CHECK-NEXT:  cl.enqueue_kernel @relayout_0(%x, [[p]])
// CHECK-NEXT:  [[r:%.*]] = cl.view [[p]] : memref<1x2x2x2x4xf32> to memref<1x2x4x4xf32>
// CHECK-NEXT:  [[w:%.*]] = cl.constant "w_{{.*}}" : memref<1x2x1x4xf32>
// CHECK-NEXT:  [[s:%.*]] = cl.alloc : memref<1x2x4x4xf32>
// CHECK-NEXT:  cl.enqueue_kernel @add_1([[r]], [[w]], [[s]])
// CHECK-NEXT:  [[t:%.*]] = cl.alloc : memref<1x2x4x4xf32>
// CHECK-NEXT:  cl.enqueue_kernel @add_1([[s]], [[w]], [[t]])
// CHECK-NEXT:  [[u:%.*]] = cl.alloc : memref<1x6x4xf32>
// CHECK-NEXT:  cl.enqueue_kernel @relayout_2([[t]], [[u]])
// CHECK-NEXT:  cl.enqueue_kernel @add_3([[u]], [[w]],
func.func @shared(%x: tensor<1x6x2x2xf32>) -> tensor<1x6x4xf32> {
  %w = nn.constant dense<[[[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]]]> : tensor<1x6x1xf32>
  %p = nn.relayout %x : tensor<1x6x2x2xf32> -> !packed
  %same = nn.relayout %p : !packed -> !packed
  %r = nn.fused %same : (!packed) -> !rows {
  ^bb0(%a: tensor<1x6x2x2xf32>):
    %q = nn.reshape %a {shape = array<i64: 1, 6, 4>} : (tensor<1x6x2x2xf32>) -> tensor<1x6x4xf32>
    nn.yield %q : tensor<1x6x4xf32>
  }
  %v = nn.relayout %w : tensor<1x6x1xf32> -> !row
  %s = nn.fused %r, %v : (!rows, !row) -> !rows {
  ^bb0(%a: tensor<1x6x4xf32>, %b: tensor<1x6x1xf32>):
    %q = nn.binary add %a, %b : (tensor<1x6x4xf32>, tensor<1x6x1xf32>) -> tensor<1x6x4xf32>
    nn.yield %q : tensor<1x6x4xf32>
  }
  %again = nn.relayout %w : tensor<1x6x1xf32> -> !row
  %t = nn.fused %s, %again : (!rows, !row) -> !rows {
  ^bb0(%a: tensor<1x6x4xf32>, %b: tensor<1x6x1xf32>):
    %q = nn.binary add %a, %b : (tensor<1x6x4xf32>, tensor<1x6x1xf32>) -> tensor<1x6x4xf32>
    nn.yield %q : tensor<1x6x4xf32>
  }
  %u = nn.relayout %t : !rows -> tensor<1x6x4xf32>
  %y = nn.fused %u, %again : (tensor<1x6x4xf32>, !row) -> tensor<1x6x4xf32> {
  ^bb0(%a: tensor<1x6x4xf32>, %b: tensor<1x6x1xf32>):
    %q = nn.binary add %a, %b : (tensor<1x6x4xf32>, tensor<1x6x1xf32>) -> tensor<1x6x4xf32>
    nn.yield %q : tensor<1x6x4xf32>
  }
  func.return %y : tensor<1x6x4xf32>
}

// -----

func.func @packed_result(%x: tensor<1x4xf32>) -> tensor<1x4xf32, #nn.layout<[1 by 4]>> {
  %p = nn.relayout %x : tensor<1x4xf32> -> tensor<1x4xf32, #nn.layout<[1 by 4]>>
  // expected-error@unknown {{func.return: func.return needs plain tensors, but got tensor<1x4xf32, #nn.layout<[1 by 4]>>; convert it to the plain layout with nn.relayout}}
  func.return %p : tensor<1x4xf32, #nn.layout<[1 by 4]>>
}

// -----

func.func @packed_reshape(%x: tensor<1x4xf32>) -> tensor<4xf32> {
  %p = nn.relayout %x : tensor<1x4xf32> -> tensor<1x4xf32, #nn.layout<[1 by 4]>>
  // expected-error@unknown {{flat: nn.reshape needs plain tensors, but got tensor<1x4xf32, #nn.layout<[1 by 4]>>; convert it to the plain layout with nn.relayout}}
  %r = nn.reshape %p {shape = array<i64: 4>} : (tensor<1x4xf32, #nn.layout<[1 by 4]>>) -> tensor<4xf32> loc("flat")
  func.return %r : tensor<4xf32>
}
