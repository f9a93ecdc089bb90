// RUN: clopt %s | clopt | filecheck %s
// RUN: clopt %s --print-op-generic | clopt | filecheck %s

// Facts that the target of that name has anyway are left out.
// CHECK: builtin.module attributes {cl.target = #cl.target<"pocl", {vector_width = 4 : i64}>} {
builtin.module attributes {cl.target = #cl.target<"pocl", {vector_width = 4 : i64, fp64 = true, device_type = "cpu"}>} {

  // CHECK-NEXT: cl.kernel @add(memref<4xf32>, memref<4xf32>, memref<4xf32>) outputs [2] global [4] local [1]
  cl.kernel @add(memref<4xf32>, memref<4xf32>, memref<4xf32>) outputs [2] global [4] local [1]
  // CHECK-NEXT: cl.kernel @grid(memref<8x8xi8>) outputs [0] global [8, 8] local [4, 2] {note = "two dimensions"}
  cl.kernel @grid(memref<8x8xi8>) outputs [0] global [8, 8] local [4, 2] {note = "two dimensions"}
  // CHECK-NEXT: cl.kernel @vta_0_0(memref<64xi8>, memref<64xi8>) outputs [1] global [1] local [1] function "board" scalars [{{\[}}0, 4, 12], [2, 8, 0]] program "p_0123456789abcdef" {note = "a binary"}
  cl.kernel @vta_0_0(memref<64xi8>, memref<64xi8>) outputs [1] global [1] local [1] function "board" scalars [[0, 4, 12], [2, 8, 0]] program "p_0123456789abcdef" {note = "a binary"}

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

// An image that the user binds, with the shape of the tensor that it holds.
// CHECK:      cl.program @main(%camera: memref<1x1x5x7x4xf32, #tir.scope<texture, [3]>> {cl.name = "camera", cl.shape = array<i64: 1, 3, 5, 7>}, %mask: memref<4xf32> {cl.name = "mask"}) inputs 1 {
// CHECK-NEXT:   cl.enqueue_kernel @classify(%camera, %mask)
builtin.module {
  cl.kernel @classify(memref<1x1x5x7x4xf32, #tir.scope<texture, [3]>>, memref<4xf32>) outputs [1] global [4] local [1]
  cl.program @main(%camera: memref<1x1x5x7x4xf32, #tir.scope<texture, [3]>> {cl.name = "camera", cl.shape = array<i64: 1, 3, 5, 7>}, %mask: memref<4xf32> {cl.name = "mask"}) inputs 1 {
    cl.enqueue_kernel @classify(%camera, %mask) : memref<1x1x5x7x4xf32, #tir.scope<texture, [3]>>, memref<4xf32>
    cl.return
  }
}

// Images: views of buffers, copies from and to buffers, kernels whose loops have bounds as arguments.
// CHECK:      cl.kernel @blur(memref<2x8x4xf32, #tir.scope<texture, [1]>>, memref<2x8x4xf32, #tir.scope<texture, [1]>>) outputs [1] global [8, 2] local [1, 1] bounds [3, 5]
// CHECK:      %t = cl.alloc : memref<2x8x4xf32, #tir.scope<texture, [1]>>
// CHECK-NEXT: %u = cl.alloc : memref<2x8x4xf32, #tir.scope<texture, [1]>>
// CHECK-NEXT: cl.enqueue_copy %x, %t : memref<2x8x4xf32> to memref<2x8x4xf32, #tir.scope<texture, [1]>>
// CHECK-NEXT: cl.enqueue_kernel @blur(%t, %u)
// CHECK-NEXT: cl.enqueue_copy %u, %t : memref<2x8x4xf32, #tir.scope<texture, [1]>>
// CHECK-NEXT: %v = cl.alloc : memref<64xf32>
// CHECK-NEXT: %w = cl.view %v : memref<64xf32> to memref<2x8x4xf32, #tir.scope<texture, []>>
// CHECK-NEXT: cl.enqueue_copy %t, %w : memref<2x8x4xf32, #tir.scope<texture, [1]>> to memref<2x8x4xf32, #tir.scope<texture, []>>
// CHECK-NEXT: cl.enqueue_copy %w, %y : memref<2x8x4xf32, #tir.scope<texture, []>> to memref<2x8x4xf32>
builtin.module attributes {cl.target = #cl.target<"phone", {images = true, max_image_width = 8 : i64, max_image_height = 2 : i64, max_image_buffer_texels = 16 : i64, max_read_images = 1 : i64, max_write_images = 1 : i64}>} {
  cl.kernel @blur(memref<2x8x4xf32, #tir.scope<texture, [1]>>, memref<2x8x4xf32, #tir.scope<texture, [1]>>) outputs [1] global [8, 2] local [1, 1] bounds [3, 5]
  cl.program @main(%x: memref<2x8x4xf32> {cl.name = "x"}, %y: memref<2x8x4xf32> {cl.name = "y"}) inputs 1 {
    %t = cl.alloc : memref<2x8x4xf32, #tir.scope<texture, [1]>>
    %u = cl.alloc : memref<2x8x4xf32, #tir.scope<texture, [1]>>
    cl.enqueue_copy %x, %t : memref<2x8x4xf32> to memref<2x8x4xf32, #tir.scope<texture, [1]>>
    cl.enqueue_kernel @blur(%t, %u) : memref<2x8x4xf32, #tir.scope<texture, [1]>>, memref<2x8x4xf32, #tir.scope<texture, [1]>>
    cl.enqueue_copy %u, %t : memref<2x8x4xf32, #tir.scope<texture, [1]>>
    %v = cl.alloc : memref<64xf32>
    %w = cl.view %v : memref<64xf32> to memref<2x8x4xf32, #tir.scope<texture, []>>
    cl.enqueue_copy %t, %w : memref<2x8x4xf32, #tir.scope<texture, [1]>> to memref<2x8x4xf32, #tir.scope<texture, []>>
    cl.enqueue_copy %w, %y : memref<2x8x4xf32, #tir.scope<texture, []>> to memref<2x8x4xf32>
    cl.return
  }
}

// Planned memory: views of an arena; parts of values; kernels that compute in place.
// CHECK:      cl.kernel @relu(memref<2x8x4xf32>, memref<2x8x4xf32>) outputs [1] global [64] local [1] in_place [[0, 1]]
// CHECK-NEXT: cl.kernel @add(memref<64xf32>, memref<64xf32>, memref<64xf32>) outputs [2] global [64] local [1] bounds [4] in_place [[0, 2], [1, 2]] {note = "sum"}
// CHECK:      %arena = cl.arena : memref<1024xi8>
// CHECK-NEXT: %t = cl.buffer_view %arena[0] : memref<2x8x4xf32>
// CHECK-NEXT: %u = cl.buffer_view %arena[0] {note = "over t"} : memref<2x8x4xf32>
// CHECK-NEXT: %i = cl.image_view %arena[256] pitch 192 : memref<2x8x4xf32, #tir.scope<texture, [1]>>
// CHECK-NEXT: %j = cl.image_view %arena[768] : memref<2x8x4xf32, #tir.scope<texture, []>>
// CHECK-NEXT: %head = cl.view %u[0] : memref<2x8x4xf32> to memref<8x4xf32>
// CHECK-NEXT: %tail = cl.view %u[128] : memref<2x8x4xf32> to memref<8x4xf32>
builtin.module attributes {cl.target = #cl.target<"phone", {images = true, max_image_width = 8 : i64, max_image_height = 2 : i64, max_image_buffer_texels = 16 : i64, image1d_buffer = true, image_from_buffer = true, image_pitch_alignment_bytes = 64 : i64, max_alloc_bytes = 4096 : i64}>} {
  cl.kernel @relu(memref<2x8x4xf32>, memref<2x8x4xf32>) outputs [1] global [64] local [1] in_place [[0, 1]]
  cl.kernel @add(memref<64xf32>, memref<64xf32>, memref<64xf32>) outputs [2] global [64] local [1] bounds [4] in_place [[1, 2], [0, 2]] {note = "sum"}
  cl.program @main(%x: memref<2x8x4xf32> {cl.name = "x"}, %y: memref<8x4xf32> {cl.name = "y"}) inputs 1 {
    %arena = cl.arena : memref<1024xi8>
    %t = cl.buffer_view %arena[0] : memref<2x8x4xf32>
    %u = cl.buffer_view %arena[0] {note = "over t"} : memref<2x8x4xf32>
    %i = cl.image_view %arena[256] pitch 192 : memref<2x8x4xf32, #tir.scope<texture, [1]>>
    %j = cl.image_view %arena[768] : memref<2x8x4xf32, #tir.scope<texture, []>>
    %head = cl.view %u[0] : memref<2x8x4xf32> to memref<8x4xf32>
    %tail = cl.view %u[128] : memref<2x8x4xf32> to memref<8x4xf32>
    cl.enqueue_copy %x, %t : memref<2x8x4xf32>
    cl.enqueue_kernel @relu(%t, %u) : memref<2x8x4xf32>, memref<2x8x4xf32>
    cl.enqueue_copy %u, %i : memref<2x8x4xf32> to memref<2x8x4xf32, #tir.scope<texture, [1]>>
    cl.enqueue_copy %u, %j : memref<2x8x4xf32> to memref<2x8x4xf32, #tir.scope<texture, []>>
    cl.enqueue_copy %tail, %head : memref<8x4xf32>
    cl.enqueue_copy %head, %y : memref<8x4xf32>
    cl.return
  }
}

// NDRanges for smaller values of a symbol.
// CHECK:      builtin.module attributes {cl.range = #cl.range<"batch", 1 to 8, ["x", "y"], ["mask"]>} {
// CHECK:      cl.enqueue_kernel @tiles(%x, %y) sizes affine_map<()[s0] -> ((s0 * 4), ((((s0 * 3) + 1) ceildiv 5) * 2), 3)> : memref<8xf32>, memref<8xf32>
builtin.module attributes {cl.range = #cl.range<"batch", 1 to 8, ["x", "y"], ["mask"]>} {
  cl.kernel @tiles(memref<8xf32>, memref<8xf32>) outputs [1] global [32, 10, 3] local [4, 2, 3]
  cl.program @main(%x: memref<8xf32> {cl.name = "x"}, %y: memref<8xf32> {cl.name = "y"}) inputs 1 {
    cl.enqueue_kernel @tiles(%x, %y) sizes affine_map<()[s0] -> (s0 * 4, ((s0 * 3 + 1) ceildiv 5) * 2, 3)> : memref<8xf32>, memref<8xf32>
    cl.return
  }
}
