// RUN: clopt %s | clopt | filecheck %s
// RUN: clopt %s --print-op-generic | clopt | filecheck %s

// CHECK: builtin.module attributes {cl.target = #cl.target<"pocl", {vector_width = 4 : i64, fp64 = true, device_type = "cpu"}>} {
builtin.module attributes {cl.target = #cl.target<"pocl", {vector_width = 4 : i64, fp64 = true, device_type = "cpu"}>} {

  // CHECK-NEXT: cl.kernel @add(memref<4xf32>, memref<4xf32>, memref<4xf32>) outputs [2] global [4] local [1]
  cl.kernel @add(memref<4xf32>, memref<4xf32>, memref<4xf32>) outputs [2] global [4] local [1]
  // CHECK-NEXT: cl.kernel @grid(memref<8x8xi8>) outputs [0] global [8, 8] local [4, 2] {note = "two dimensions"}
  cl.kernel @grid(memref<8x8xi8>) outputs [0] global [8, 8] local [4, 2] {note = "two dimensions"}

  // CHECK-NEXT: cl.program @main(%image: memref<4xf32> {cl.name = "image"}, %sum: memref<4xf32> {cl.name = "sum"}, %mask: memref<8x8xi8> {cl.name = "mask", cl.element_type = ui8}) inputs 1 {
  cl.program @main(%image: memref<4xf32> {cl.name = "image"}, %sum: memref<4xf32> {cl.name = "sum"}, %mask: memref<8x8xi8> {cl.name = "mask", cl.element_type = ui8}) inputs 1 {
    // CHECK-NEXT: %w = cl.constant "w_0123456789abcdef" : memref<4xf32>
    %w = cl.constant "w_0123456789abcdef" : memref<4xf32>
    // CHECK-NEXT: %t = cl.alloc : memref<2x2xf32>
    %t = cl.alloc : memref<2x2xf32>
    // CHECK-NEXT: %v = cl.view %t : memref<2x2xf32> to memref<4xf32>
    %v = cl.view %t : memref<2x2xf32> to memref<4xf32>
    // CHECK-NEXT: cl.enqueue_kernel @add(%image, %w, %v) : memref<4xf32>, memref<4xf32>, memref<4xf32>
    cl.enqueue_kernel @add(%image, %w, %v) : memref<4xf32>, memref<4xf32>, memref<4xf32>
    // CHECK-NEXT: cl.enqueue_kernel @grid(%mask) : memref<8x8xi8>
    cl.enqueue_kernel @grid(%mask) : memref<8x8xi8>
    // CHECK-NEXT: cl.enqueue_copy %v, %sum : memref<4xf32>
    cl.enqueue_copy %v, %sum : memref<4xf32>
    // CHECK-NEXT: cl.return
    cl.return
  }
}
