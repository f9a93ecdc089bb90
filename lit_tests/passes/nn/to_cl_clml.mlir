// RUN: clopt %s -p nn-fuse,nn-to-cl --split-input-file | filecheck %s

// What a graph takes and returns lies in the buffers of the call's operands and results, under the
// shape of the graph; what it keeps to itself is allocated, optimal tensors as bytes.

// CHECK:      clml.graph @clml_0
// CHECK:      cl.program @main(%x: memref<1x8x4x4xf32> {cl.name = "input0"}, %0: memref<1x8xf32> {cl.name = "output0"}) inputs 1 {
// CHECK-NEXT:   %y = cl.view %0 : memref<1x8xf32> to memref<1x8x1x1xf32>
// CHECK-NEXT:   %a = cl.alloc : memref<512xi8>
// CHECK-NEXT:   cl.enqueue_offload @clml_0[0] (%x) -> (%a) : memref<1x8x4x4xf32>, memref<512xi8>
// CHECK-NEXT:   %b = cl.alloc : memref<128xi8>
// CHECK-NEXT:   cl.enqueue_offload @clml_0[1] (%a) -> (%b) : memref<512xi8>, memref<128xi8>
// CHECK-NEXT:   %c = cl.alloc : memref<128xi8>
// CHECK-NEXT:   cl.enqueue_offload @clml_0[2] (%b) -> (%c) : memref<128xi8>, memref<128xi8>
// CHECK-NEXT:   cl.enqueue_offload @clml_0[3] (%c) -> (%y) : memref<128xi8>, memref<1x8x1x1xf32>
// CHECK-NEXT:   cl.return
// CHECK-NEXT: }
// CHECK-NOT:  func.func
builtin.module {
  clml.graph @clml_0(%x: !clml.tensor<1x8x4x4xf32, nchw>) -> !clml.tensor<1x8x1x1xf32, nchw> version 3 arithmetic fp32 {
    %w = clml.constant "w_0123456789abcdef" : !clml.tensor<1x1x8x8xf32, optimal, parameter>
    %bias = clml.constant "w_123456789abcdef0" : !clml.tensor<1x8x1x1xf32, optimal, parameter>
    %a = clml.copy %x : !clml.tensor<1x8x4x4xf32, nchw> -> !clml.tensor<1x8x4x4xf32, optimal>
    %b = clml.pool average %a {kernel = array<i64: 4, 4>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (!clml.tensor<1x8x4x4xf32, optimal>) -> !clml.tensor<1x8x1x1xf32, optimal>
    %c = clml.fully_connected %b, %w, %bias : (!clml.tensor<1x8x1x1xf32, optimal>, !clml.tensor<1x1x8x8xf32, optimal, parameter>, !clml.tensor<1x8x1x1xf32, optimal, parameter>) -> !clml.tensor<1x8x1x1xf32, optimal>
    %y = clml.copy %c : !clml.tensor<1x8x1x1xf32, optimal> -> !clml.tensor<1x8x1x1xf32, nchw>
    clml.return %y : !clml.tensor<1x8x1x1xf32, nchw>
  }
  func.func @main(%x: tensor<1x8x4x4xf32>) -> tensor<1x8xf32> {
    %y = clml.call @clml_0(%x) : (tensor<1x8x4x4xf32>) -> tensor<1x8xf32>
    func.return %y : tensor<1x8xf32>
  }
}

// -----

// Results are written where they are wanted: into the concatenation that they are a part of, as
// those of kernels are. One that nobody reads has memory all the same; one that is returned twice
// is copied. A view, a slice and a constant are operands like others.

// CHECK-LABEL: cl.program @homes(
// CHECK-NEXT: %k = cl.constant "w_0123456789abcdef" : memref<1x2x4x4xf32>
// CHECK-NEXT: %v = cl.view %x : memref<1x32xf32> to memref<1x2x4x4xf32>
// CHECK-NEXT: %a = cl.alloc : memref<1x2x4x4xf32>
// CHECK-NEXT: %unread = cl.alloc : memref<1x2x4x4xf32>
// CHECK-NEXT: cl.enqueue_offload @homes_0[0] (%v, %k) -> (%a) : memref<1x2x4x4xf32>, memref<1x2x4x4xf32>, memref<1x2x4x4xf32>
// CHECK-NEXT: cl.enqueue_offload @homes_0[1] (%a) -> (%unread) : memref<1x2x4x4xf32>, memref<1x2x4x4xf32>
// CHECK-NEXT: %j = cl.alloc : memref<1x4x4x4xf32>
// CHECK-NEXT: %b = cl.view %j[0] : memref<1x4x4x4xf32> to memref<1x2x4x4xf32>
// CHECK-NEXT: cl.enqueue_kernel @softmax_0(%a, %b) : memref<1x2x4x4xf32>, memref<1x2x4x4xf32>
// CHECK-NEXT: %c = cl.view %j[128] : memref<1x4x4x4xf32> to memref<1x2x4x4xf32>
// CHECK-NEXT: %c_1 = cl.view %c : memref<1x2x4x4xf32> to memref<1x32x1x1xf32>
// CHECK-NEXT: %t = cl.alloc : memref<1x2x4x4xf32>
// CHECK-NEXT: cl.enqueue_offload @homes_1[0] (%a) -> (%t) : memref<1x2x4x4xf32>, memref<1x2x4x4xf32>
// CHECK-NEXT: cl.enqueue_offload @homes_1[1] (%t) -> (%c_1) : memref<1x2x4x4xf32>, memref<1x32x1x1xf32>
// CHECK-NEXT: %s = cl.alloc : memref<1x2x4x4xf32>
// CHECK-NEXT: cl.enqueue_kernel @slice_1(%j, %s) : memref<1x4x4x4xf32>, memref<1x2x4x4xf32>
// CHECK-NEXT: %r = cl.view %s : memref<1x2x4x4xf32> to memref<1x32xf32>
// CHECK-NEXT: %r_1 = cl.view %r : memref<1x32xf32> to memref<1x32x1x1xf32>
// CHECK-NEXT: %d = cl.view %0 : memref<32xf32> to memref<1x32x1x1xf32>
// CHECK-NEXT: cl.enqueue_offload @homes_2[0] (%r_1) -> (%d) : memref<1x32x1x1xf32>, memref<1x32x1x1xf32>
// CHECK-NEXT: %m = cl.alloc : memref<1x4x4x4xf32>
// CHECK-NEXT: cl.enqueue_kernel @softmax_2(%j, %m) : memref<1x4x4x4xf32>, memref<1x4x4x4xf32>
// CHECK-NEXT: %n = cl.view %1 : memref<1x32xf32> to memref<1x2x4x4xf32>
// CHECK-NEXT: cl.enqueue_kernel @slice_3(%m, %n) : memref<1x4x4x4xf32>, memref<1x2x4x4xf32>
// CHECK-NEXT: %o = cl.view %n : memref<1x2x4x4xf32> to memref<1x32xf32>
// CHECK-NEXT: cl.enqueue_copy %0, %2 : memref<32xf32>
// CHECK-NEXT: cl.return
builtin.module attributes {cl.target = #cl.target<"phone", {image_base_alignment_bytes = 128 : i64}>} {
  clml.graph @homes_0(%x: !clml.tensor<1x2x4x4xf32, nchw>, %k: !clml.tensor<1x2x4x4xf32, nchw>) -> (!clml.tensor<1x2x4x4xf32, nchw>, !clml.tensor<1x2x4x4xf32, nchw>) version 3 arithmetic fp32 {
    %y = clml.binary add %x, %k : (!clml.tensor<1x2x4x4xf32, nchw>, !clml.tensor<1x2x4x4xf32, nchw>) -> !clml.tensor<1x2x4x4xf32, nchw>
    %unread = clml.activation tanh %y : (!clml.tensor<1x2x4x4xf32, nchw>) -> !clml.tensor<1x2x4x4xf32, nchw>
    clml.return %y, %unread : !clml.tensor<1x2x4x4xf32, nchw>, !clml.tensor<1x2x4x4xf32, nchw>
  }
  clml.graph @homes_1(%x: !clml.tensor<1x2x4x4xf32, nchw>) -> !clml.tensor<1x32x1x1xf32, nchw> version 3 arithmetic fp32 {
    %t = clml.activation sigmoid %x : (!clml.tensor<1x2x4x4xf32, nchw>) -> !clml.tensor<1x2x4x4xf32, nchw>
    %y = clml.reshape %t : (!clml.tensor<1x2x4x4xf32, nchw>) -> !clml.tensor<1x32x1x1xf32, nchw>
    clml.return %y : !clml.tensor<1x32x1x1xf32, nchw>
  }
  clml.graph @homes_2(%x: !clml.tensor<1x32x1x1xf32, nchw>) -> !clml.tensor<1x32x1x1xf32, nchw> version 3 arithmetic fp32 {
    %y = clml.activation relu %x : (!clml.tensor<1x32x1x1xf32, nchw>) -> !clml.tensor<1x32x1x1xf32, nchw>
    clml.return %y : !clml.tensor<1x32x1x1xf32, nchw>
  }
  func.func @homes(%x: tensor<1x32xf32>) -> (tensor<32xf32>, tensor<1x32xf32>, tensor<32xf32>) {
    %k = nn.constant #nn.weight<"w_0123456789abcdef", "k"> : tensor<1x2x4x4xf32>
    %v = nn.reshape %x {shape = array<i64: 1, 2, 4, 4>} : (tensor<1x32xf32>) -> tensor<1x2x4x4xf32>
    %a, %unread = clml.call @homes_0(%v, %k) : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>)
    %b = nn.softmax %a {axis = 1 : i64} : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
    %c = clml.call @homes_1(%a) : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
    %j = nn.concat %b, %c {axis = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x4x4x4xf32>
    %s = nn.slice %j {starts = array<i64: 0, 1, 0, 0>, steps = array<i64: 1, 1, 1, 1>, sizes = array<i64: 1, 2, 4, 4>} : (tensor<1x4x4x4xf32>) -> tensor<1x2x4x4xf32>
    %r = nn.reshape %s {shape = array<i64: 1, 32>} : (tensor<1x2x4x4xf32>) -> tensor<1x32xf32>
    %d = clml.call @homes_2(%r) : (tensor<1x32xf32>) -> tensor<32xf32>
    %m = nn.softmax %j {axis = 1 : i64} : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
    %n = nn.slice %m {starts = array<i64: 0, 2, 0, 0>, steps = array<i64: 1, 1, 1, 1>, sizes = array<i64: 1, 2, 4, 4>} : (tensor<1x4x4x4xf32>) -> tensor<1x2x4x4xf32>
    %o = nn.reshape %n {shape = array<i64: 1, 32>} : (tensor<1x2x4x4xf32>) -> tensor<1x32xf32>
    func.return %d, %o, %d : tensor<32xf32>, tensor<1x32xf32>, tensor<32xf32>
  }
}
