// RUN: clopt %s -p nn-to-cl --split-input-file | filecheck %s

// One carried value lives in the stacked result: an iteration reads the row that the last one wrote.
// CHECK:      cl.program @stacked(%h0: memref<4xf32> {cl.name = "input0"}, %x: memref<9x4xf32> {cl.name = "input1"}, %0: memref<4xf32> {cl.name = "output0"}, %1: memref<9x4xf32> {cl.name = "output1"}) inputs 2 {
// CHECK-NEXT:   %x_1 = cl.row %x[128] by 0 : memref<9x4xf32> to memref<4xf32>
// CHECK-NEXT:   %2 = cl.row %1[0] by 0 : memref<9x4xf32> to memref<4xf32>
// CHECK-NEXT:   cl.enqueue_kernel @add_0(%h0, %x_1, %2) : memref<4xf32>, memref<4xf32>, memref<4xf32>
// CHECK-NEXT:   %3 = cl.row %1[0] by 16 : memref<9x4xf32> to memref<4xf32>
// CHECK-NEXT:   %x_2 = cl.row %x[112] by -16 : memref<9x4xf32> to memref<4xf32>
// CHECK-NEXT:   %4 = cl.row %1[16] by 16 : memref<9x4xf32> to memref<4xf32>
// CHECK-NEXT:   cl.repeat 8 {
// CHECK-NEXT:     cl.enqueue_kernel @add_0(%3, %x_2, %4) : memref<4xf32>, memref<4xf32>, memref<4xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   %5 = cl.row %1[128] by 0 : memref<9x4xf32> to memref<4xf32>
// CHECK-NEXT:   cl.enqueue_copy %5, %0 : memref<4xf32>
// CHECK-NEXT:   cl.return
// CHECK-NEXT: }
func.func @stacked(%h0: tensor<4xf32>, %x: tensor<9x4xf32>) -> (tensor<4xf32>, tensor<9x4xf32>) {
  %h, %y = nn.loop @add %h0, %x {trips = 9 : i64, carried = 1 : i64, rows = 1 : i64, reversed = array<i64: 0>} : (tensor<4xf32>, tensor<9x4xf32>) -> (tensor<4xf32>, tensor<9x4xf32>)
  func.return %h, %y : tensor<4xf32>, tensor<9x4xf32>
}
func.func private @add(%h: tensor<4xf32>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = nn.fused %h, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%b: tensor<4xf32>, %c: tensor<4xf32>):
    %d = nn.binary add %b, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    nn.yield %d : tensor<4xf32>
  }
  func.return %a, %a : tensor<4xf32>, tensor<4xf32>
}

// -----

// Others have two buffers, which two iterations write in turn: the last one writes the result.
// CHECK:      cl.program @turns(%a: memref<4xf32> {cl.name = "input0"}, %w: memref<4xf32> {cl.name = "input1"}, %0: memref<4xf32> {cl.name = "output0"}) inputs 2 {
// CHECK-NEXT:   %r = cl.alloc : memref<4xf32>
// CHECK-NEXT:   %c = cl.constant "w_c6e86f139343c781" : memref<4xf32>
// CHECK-NEXT:   cl.enqueue_kernel @mul_0(%a, %w, %c, %r) : memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>
// CHECK-NEXT:   cl.enqueue_kernel @mul_0(%r, %w, %c, %0) : memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>
// CHECK-NEXT:   cl.repeat 3 {
// CHECK-NEXT:     cl.enqueue_kernel @mul_0(%0, %w, %c, %r) : memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>
// CHECK-NEXT:     cl.enqueue_kernel @mul_0(%r, %w, %c, %0) : memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   cl.return
// CHECK-NEXT: }
func.func @turns(%a: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %r = nn.loop @step %a, %w {trips = 8 : i64, carried = 1 : i64, rows = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
func.func private @step(%h: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %c = nn.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %a = nn.fused %h, %x, %c : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%b: tensor<4xf32>, %d: tensor<4xf32>, %e: tensor<4xf32>):
    %f = nn.binary mul %b, %d : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %g = nn.binary add %f, %e : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    nn.yield %g : tensor<4xf32>
  }
  func.return %a : tensor<4xf32>
}

// -----

// A value that no kernel of the body computes is copied: rows that are stacked unchanged, and
// carried values that change places.
// CHECK:      cl.program @copies(%a: memref<2xf32> {cl.name = "input0"}, %b: memref<2xf32> {cl.name = "input1"}, %x: memref<3x2xf32> {cl.name = "input2"}, %0: memref<2xf32> {cl.name = "output0"}, %1: memref<2xf32> {cl.name = "output1"}, %2: memref<3x2xf32> {cl.name = "output2"}) inputs 3 {
// CHECK-NEXT:   %x_1 = cl.row %x[0] by 0 : memref<3x2xf32> to memref<2xf32>
// CHECK-NEXT:   %3 = cl.row %2[0] by 0 : memref<3x2xf32> to memref<2xf32>
// CHECK-NEXT:   cl.enqueue_copy %b, %0 : memref<2xf32>
// CHECK-NEXT:   cl.enqueue_copy %a, %1 : memref<2xf32>
// CHECK-NEXT:   cl.enqueue_copy %x_1, %3 : memref<2xf32>
// CHECK-NEXT:   %x_2 = cl.row %x[8] by 16 : memref<3x2xf32> to memref<2xf32>
// CHECK-NEXT:   %4 = cl.row %2[8] by 16 : memref<3x2xf32> to memref<2xf32>
// CHECK-NEXT:   %p = cl.alloc : memref<2xf32>
// CHECK-NEXT:   %q = cl.alloc : memref<2xf32>
// CHECK-NEXT:   %x_3 = cl.row %x[16] by 16 : memref<3x2xf32> to memref<2xf32>
// CHECK-NEXT:   %5 = cl.row %2[16] by 16 : memref<3x2xf32> to memref<2xf32>
// CHECK-NEXT:   cl.repeat 1 {
// CHECK-NEXT:     cl.enqueue_copy %1, %p : memref<2xf32>
// CHECK-NEXT:     cl.enqueue_copy %0, %q : memref<2xf32>
// CHECK-NEXT:     cl.enqueue_copy %x_2, %4 : memref<2xf32>
// CHECK-NEXT:     cl.enqueue_copy %q, %0 : memref<2xf32>
// CHECK-NEXT:     cl.enqueue_copy %p, %1 : memref<2xf32>
// CHECK-NEXT:     cl.enqueue_copy %x_3, %5 : memref<2xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   cl.return
// CHECK-NEXT: }
func.func @copies(%a: tensor<2xf32>, %b: tensor<2xf32>, %x: tensor<3x2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<3x2xf32>) {
  %p, %q, %s = nn.loop @swap %a, %b, %x {trips = 3 : i64, carried = 2 : i64, rows = 1 : i64} : (tensor<2xf32>, tensor<2xf32>, tensor<3x2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<3x2xf32>)
  func.return %p, %q, %s : tensor<2xf32>, tensor<2xf32>, tensor<3x2xf32>
}
func.func private @swap(%a: tensor<2xf32>, %b: tensor<2xf32>, %x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) attributes {nn.network} {
  func.return %b, %a, %x : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
