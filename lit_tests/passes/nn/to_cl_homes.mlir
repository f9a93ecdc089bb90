// RUN: clopt %s --target 'generic-gpu sub_buffers=true' -p nn-fuse,nn-to-cl --split-input-file | filecheck %s

// Both are written into the concatenation at once, through a reshape, too; nothing else is left of
// it. It is made where the first of its parts is needed.
// CHECK-LABEL: cl.program @join(
// CHECK-NEXT: %c = cl.alloc : memref<1x6x8x8xf32>
// CHECK-NEXT: %a = cl.view %c[0] : memref<1x6x8x8xf32> to memref<1x2x8x8xf32>
// CHECK-NEXT: cl.enqueue_kernel @softmax_0(%x, %a)
// CHECK-NEXT: %b = cl.view %c[512] : memref<1x6x8x8xf32> to memref<1x1x32x8xf32>
// CHECK-NEXT: cl.enqueue_kernel @softmax_1(%y, %b)
// CHECK-NEXT: cl.view %b : memref<1x1x32x8xf32> to memref<1x4x8x8xf32>
// CHECK-NEXT: cl.enqueue_kernel @softmax_2(%c, %0)
// CHECK-NEXT: cl.return
func.func @join(%x: tensor<1x2x8x8xf32>, %y: tensor<1x1x32x8xf32>) -> tensor<1x6x8x8xf32> {
  %a = nn.softmax %x {axis = 3 : i64} : (tensor<1x2x8x8xf32>) -> tensor<1x2x8x8xf32>
  %b = nn.softmax %y {axis = 3 : i64} : (tensor<1x1x32x8xf32>) -> tensor<1x1x32x8xf32>
  %r = nn.reshape %b {shape = array<i64: 1, 4, 8, 8>} : (tensor<1x1x32x8xf32>) -> tensor<1x4x8x8xf32>
  %c = nn.concat %a, %r {axis = 1 : i64} : (tensor<1x2x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x6x8x8xf32>
  %z = nn.softmax %c {axis = 3 : i64} : (tensor<1x6x8x8xf32>) -> tensor<1x6x8x8xf32>
  func.return %z : tensor<1x6x8x8xf32>
}

// -----

// A result of the program has its parts in the caller's buffer. What the program does not compute
// itself, and what is there for the second time, is copied.
// CHECK-LABEL: cl.program @copies(
// CHECK-NEXT: %a = cl.view %0[0] : memref<1x8x8x8xf32> to memref<1x4x8x8xf32>
// CHECK-NEXT: cl.enqueue_kernel @softmax_0(%x, %a)
// CHECK-NEXT: [[part:%.*]] = cl.view %0[1024] : memref<1x8x8x8xf32> to memref<1x4x8x8xf32>
// CHECK-NEXT: cl.enqueue_copy %a, [[part]] : memref<1x4x8x8xf32>
// CHECK-NEXT: cl.return
func.func @copies(%x: tensor<1x4x8x8xf32>) -> tensor<1x8x8x8xf32> {
  %a = nn.softmax %x {axis = 3 : i64} : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %c = nn.concat %a, %a {axis = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x8x8x8xf32>
  func.return %c : tensor<1x8x8x8xf32>
}

// -----

// A dense block: each concatenation begins as the one before, so that all are parts of the last.
// CHECK-LABEL: cl.program @dense(
// CHECK-NEXT: %e = cl.alloc : memref<1x6x8x8xf32>
// CHECK-NEXT: %a = cl.view %e[0] : memref<1x6x8x8xf32> to memref<1x2x8x8xf32>
// CHECK-NEXT: cl.enqueue_kernel @softmax_0(%x, %a)
// CHECK-NEXT: %b = cl.view %e[512] : memref<1x6x8x8xf32> to memref<1x2x8x8xf32>
// CHECK-NEXT: cl.enqueue_kernel @softmax_0(%a, %b)
// CHECK-NEXT: %c = cl.view %e[0] : memref<1x6x8x8xf32> to memref<1x4x8x8xf32>
// CHECK:      %d = cl.view %e[1024] : memref<1x6x8x8xf32> to memref<1x2x8x8xf32>
// CHECK-NEXT: cl.enqueue_kernel @conv_1(%c, %w, %d)
// CHECK-NEXT: cl.enqueue_kernel @softmax_2(%e, %0)
// CHECK-NEXT: cl.return
func.func @dense(%x: tensor<1x2x8x8xf32>) -> tensor<1x6x8x8xf32> {
  %a = nn.softmax %x {axis = 3 : i64} : (tensor<1x2x8x8xf32>) -> tensor<1x2x8x8xf32>
  %b = nn.softmax %a {axis = 3 : i64} : (tensor<1x2x8x8xf32>) -> tensor<1x2x8x8xf32>
  %c = nn.concat %a, %b {axis = 1 : i64} : (tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>) -> tensor<1x4x8x8xf32>
  %w = nn.constant dense<0.5> : tensor<2x4x1x1xf32>
  %d = nn.conv %c, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x4x8x8xf32>, tensor<2x4x1x1xf32>) -> tensor<1x2x8x8xf32>
  %e = nn.concat %a, %b, %d {axis = 1 : i64} : (tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>) -> tensor<1x6x8x8xf32>
  %z = nn.softmax %e {axis = 3 : i64} : (tensor<1x6x8x8xf32>) -> tensor<1x6x8x8xf32>
  func.return %z : tensor<1x6x8x8xf32>
}

// -----

// Halves of a value are parts of it, and their concatenation with something else begins with it.
// CHECK-LABEL: cl.program @halves(
// CHECK-NEXT: %e = cl.alloc : memref<1x6x8x8xf32>
// CHECK-NEXT: %a = cl.view %e[0] : memref<1x6x8x8xf32> to memref<1x4x8x8xf32>
// CHECK-NEXT: cl.enqueue_kernel @softmax_0(%x, %a)
// CHECK-NEXT: %b = cl.view %a[0] : memref<1x4x8x8xf32> to memref<1x2x8x8xf32>
// CHECK-NEXT: %c = cl.view %a[512] : memref<1x4x8x8xf32> to memref<1x2x8x8xf32>
// CHECK-NEXT: %d = cl.view %e[1024] : memref<1x6x8x8xf32> to memref<1x2x8x8xf32>
// CHECK-NEXT: cl.enqueue_kernel @softmax_1(%c, %d)
// CHECK-NEXT: cl.enqueue_kernel @softmax_2(%b, %{{.*}})
// CHECK-NEXT: cl.enqueue_kernel @softmax_3(%e, %{{.*}})
// CHECK-NEXT: cl.return
func.func @halves(%x: tensor<1x4x8x8xf32>) -> (tensor<1x2x8x8xf32>, tensor<1x6x8x8xf32>) {
  %a = nn.softmax %x {axis = 3 : i64} : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %b = nn.slice %a {starts = array<i64: 0, 0, 0, 0>, sizes = array<i64: 1, 2, 8, 8>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x4x8x8xf32>) -> tensor<1x2x8x8xf32>
  %c = nn.slice %a {starts = array<i64: 0, 2, 0, 0>, sizes = array<i64: 1, 2, 8, 8>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x4x8x8xf32>) -> tensor<1x2x8x8xf32>
  %d = nn.softmax %c {axis = 3 : i64} : (tensor<1x2x8x8xf32>) -> tensor<1x2x8x8xf32>
  %y = nn.softmax %b {axis = 2 : i64} : (tensor<1x2x8x8xf32>) -> tensor<1x2x8x8xf32>
  %e = nn.concat %b, %c, %d {axis = 1 : i64} : (tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>) -> tensor<1x6x8x8xf32>
  %z = nn.softmax %e {axis = 3 : i64} : (tensor<1x6x8x8xf32>) -> tensor<1x6x8x8xf32>
  func.return %y, %z : tensor<1x2x8x8xf32>, tensor<1x6x8x8xf32>
}

// -----

// Kernels remain where rows of the operands take turns, where more than half were to be copied, and
// for parts that start where no view may.
// CHECK-LABEL: cl.program @turns(
// CHECK:      cl.enqueue_kernel @concat
// CHECK-LABEL: cl.program @inputs(
// CHECK:      cl.enqueue_kernel @concat
// CHECK-LABEL: cl.program @unaligned(
// CHECK-NEXT: %a = cl.alloc : memref<1x1x8xf32>
// CHECK-NEXT: cl.enqueue_kernel @softmax_{{[0-9]+}}(%x, %a)
// CHECK-NEXT: %b = cl.view %0[0] : memref<1x11x8xf32> to memref<1x10x8xf32>
// CHECK-NEXT: cl.enqueue_kernel @softmax_{{[0-9]+}}(%y, %b)
// CHECK-NEXT: [[part:%.*]] = cl.view %0[320] : memref<1x11x8xf32> to memref<1x1x8xf32>
// CHECK-NEXT: cl.enqueue_copy %a, [[part]]
// CHECK-NEXT: %s = cl.alloc : memref<1x3x8xf32>
// CHECK-NEXT: cl.enqueue_kernel @slice
func.func @turns(%x: tensor<1x2x8x8xf32>) -> tensor<1x2x16x8xf32> {
  %a = nn.softmax %x {axis = 3 : i64} : (tensor<1x2x8x8xf32>) -> tensor<1x2x8x8xf32>
  %b = nn.softmax %a {axis = 3 : i64} : (tensor<1x2x8x8xf32>) -> tensor<1x2x8x8xf32>
  %c = nn.concat %a, %b {axis = 2 : i64} : (tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>) -> tensor<1x2x16x8xf32>
  func.return %c : tensor<1x2x16x8xf32>
}
func.func @inputs(%x: tensor<1x2x8x8xf32>, %y: tensor<1x1x8x8xf32>) -> tensor<1x3x8x8xf32> {
  %b = nn.softmax %y {axis = 3 : i64} : (tensor<1x1x8x8xf32>) -> tensor<1x1x8x8xf32>
  %c = nn.concat %x, %b {axis = 1 : i64} : (tensor<1x2x8x8xf32>, tensor<1x1x8x8xf32>) -> tensor<1x3x8x8xf32>
  func.return %c : tensor<1x3x8x8xf32>
}
func.func @unaligned(%x: tensor<1x1x8xf32>, %y: tensor<1x10x8xf32>) -> (tensor<1x11x8xf32>, tensor<1x3x8xf32>, tensor<1x3x8xf32>) {
  %a = nn.softmax %x {axis = 2 : i64} : (tensor<1x1x8xf32>) -> tensor<1x1x8xf32>
  %b = nn.softmax %y {axis = 2 : i64} : (tensor<1x10x8xf32>) -> tensor<1x10x8xf32>
  %c = nn.concat %b, %a {axis = 1 : i64} : (tensor<1x10x8xf32>, tensor<1x1x8xf32>) -> tensor<1x11x8xf32>
  %s = nn.slice %b {starts = array<i64: 0, 3, 0>, sizes = array<i64: 1, 3, 8>, steps = array<i64: 1, 1, 1>} : (tensor<1x10x8xf32>) -> tensor<1x3x8xf32>
  %t = nn.softmax %s {axis = 2 : i64} : (tensor<1x3x8xf32>) -> tensor<1x3x8xf32>
  %u = nn.softmax %s {axis = 1 : i64} : (tensor<1x3x8xf32>) -> tensor<1x3x8xf32>
  func.return %c, %t, %u : tensor<1x11x8xf32>, tensor<1x3x8xf32>, tensor<1x3x8xf32>
}

// -----

// A small part would keep a large value alive to the end, beside two others: it is copied out.
// CHECK-LABEL: cl.program @outlives(
// CHECK-NEXT: %a = cl.alloc : memref<1x16x8x8xf32>
// CHECK-NEXT: cl.enqueue_kernel @softmax_0(%x, %a)
// CHECK-NEXT: %s = cl.alloc : memref<1x1x8x8xf32>
// CHECK-NEXT: cl.enqueue_kernel @slice_1(%a, %s)
func.func @outlives(%x: tensor<1x16x8x8xf32>) -> (tensor<1x16x8x8xf32>, tensor<1x1x8x8xf32>, tensor<1x1x8x8xf32>) {
  %a = nn.softmax %x {axis = 3 : i64} : (tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  %s = nn.slice %a {starts = array<i64: 0, 0, 0, 0>, sizes = array<i64: 1, 1, 8, 8>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x16x8x8xf32>) -> tensor<1x1x8x8xf32>
  %b = nn.softmax %a {axis = 2 : i64} : (tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  %c = nn.softmax %b {axis = 3 : i64} : (tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  %d = nn.softmax %c {axis = 2 : i64} : (tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  %t = nn.softmax %s {axis = 3 : i64} : (tensor<1x1x8x8xf32>) -> tensor<1x1x8x8xf32>
  %u = nn.softmax %s {axis = 2 : i64} : (tensor<1x1x8x8xf32>) -> tensor<1x1x8x8xf32>
  func.return %d, %t, %u : tensor<1x16x8x8xf32>, tensor<1x1x8x8xf32>, tensor<1x1x8x8xf32>
}
