// RUN: clopt %s --split-input-file --verify-diagnostics

// What may lie where in an arena, and when.

builtin.module {
  // expected-error@+1 {{cl.enqueue_copy writes %b over bytes 64 to 127 of %arena, which %a needs until command 2, cl.enqueue_copy; give them different bytes}}
  cl.program @main(%x: memref<32xf32> {cl.name = "x"}, %y: memref<32xf32> {cl.name = "y"}) inputs 1 {
    %arena = cl.arena : memref<256xi8>
    %a = cl.buffer_view %arena[0] : memref<32xf32>
    %b = cl.buffer_view %arena[64] : memref<32xf32>
    cl.enqueue_copy %x, %a : memref<32xf32>
    cl.enqueue_copy %x, %b : memref<32xf32>
    cl.enqueue_copy %a, %y : memref<32xf32>
    cl.enqueue_copy %b, %y : memref<32xf32>
    cl.return
  }
}

// -----

builtin.module {
  cl.kernel @id(memref<32xf32>, memref<32xf32>) outputs [1] global [32] local [1]
  // expected-error@+1 {{cl.enqueue_kernel @id is given %a and writes %b, which share bytes 0 to 127 of %arena, but the kernel's in_place does not list [0, 1]}}
  cl.program @main(%x: memref<32xf32> {cl.name = "x"}, %y: memref<32xf32> {cl.name = "y"}) inputs 1 {
    %arena = cl.arena : memref<256xi8>
    %a = cl.buffer_view %arena[0] : memref<32xf32>
    %b = cl.buffer_view %arena[0] : memref<32xf32>
    cl.enqueue_copy %x, %a : memref<32xf32>
    cl.enqueue_kernel @id(%a, %b) : memref<32xf32>, memref<32xf32>
    cl.enqueue_copy %b, %y : memref<32xf32>
    cl.return
  }
}

// -----

builtin.module {
  cl.kernel @relu(memref<32xf32>, memref<32xf32>) outputs [1] global [32] local [1] in_place [[0, 1]]
  // expected-error@+1 {{cl.enqueue_kernel @relu is given %a and writes %b, which share bytes 64 to 127 of %arena, but not all of their bytes}}
  cl.program @main(%x: memref<32xf32> {cl.name = "x"}, %y: memref<32xf32> {cl.name = "y"}) inputs 1 {
    %arena = cl.arena : memref<256xi8>
    %a = cl.buffer_view %arena[0] : memref<32xf32>
    %b = cl.buffer_view %arena[64] : memref<32xf32>
    cl.enqueue_copy %x, %a : memref<32xf32>
    cl.enqueue_kernel @relu(%a, %b) : memref<32xf32>, memref<32xf32>
    cl.enqueue_copy %b, %y : memref<32xf32>
    cl.return
  }
}

// -----

builtin.module {
  cl.kernel @relu(memref<32xf32>, memref<32xf32>) outputs [1] global [32] local [1] in_place [[0, 1]]
  cl.kernel @add(memref<32xf32>, memref<32xf32>, memref<32xf32>) outputs [2] global [32] local [1] in_place [[0, 2]]
  // expected-error@+1 {{cl.enqueue_kernel @relu writes %b over bytes 0 to 127 of %arena, which %a needs until command 2, cl.enqueue_kernel @add; give them different bytes}}
  cl.program @main(%x: memref<32xf32> {cl.name = "x"}, %y: memref<32xf32> {cl.name = "y"}) inputs 1 {
    %arena = cl.arena : memref<256xi8>
    %a = cl.buffer_view %arena[0] : memref<32xf32>
    %b = cl.buffer_view %arena[0] : memref<32xf32>
    cl.enqueue_copy %x, %a : memref<32xf32>
    cl.enqueue_kernel @relu(%a, %b) : memref<32xf32>, memref<32xf32>
    cl.enqueue_kernel @add(%a, %b, %y) : memref<32xf32>, memref<32xf32>, memref<32xf32>
    cl.return
  }
}

// -----

builtin.module {
  cl.kernel @add(memref<32xf32>, memref<32xf32>, memref<32xf32>) outputs [2] global [32] local [1] in_place [[0, 2]]
  // expected-error@+1 {{cl.enqueue_kernel @add is given %a and writes %b, which share bytes 0 to 127 of %arena, but the kernel's in_place does not list [1, 2]}}
  cl.program @main(%x: memref<32xf32> {cl.name = "x"}, %y: memref<32xf32> {cl.name = "y"}) inputs 1 {
    %arena = cl.arena : memref<256xi8>
    %a = cl.buffer_view %arena[0] : memref<32xf32>
    %b = cl.buffer_view %arena[0] : memref<32xf32>
    cl.enqueue_copy %x, %a : memref<32xf32>
    cl.enqueue_kernel @add(%a, %a, %b) : memref<32xf32>, memref<32xf32>, memref<32xf32>
    cl.enqueue_copy %b, %y : memref<32xf32>
    cl.return
  }
}

// -----

builtin.module {
  cl.kernel @two(memref<32xf32>, memref<32xf32>, memref<32xf32>) outputs [1, 2] global [32] local [1]
  // expected-error@+1 {{cl.enqueue_kernel @two is given %b and writes %a, which share bytes 0 to 127 of %arena, but the kernel's in_place does not list [2, 1]}}
  cl.program @main(%x: memref<32xf32> {cl.name = "x"}, %y: memref<32xf32> {cl.name = "y"}) inputs 1 {
    %arena = cl.arena : memref<256xi8>
    %a = cl.buffer_view %arena[0] : memref<32xf32>
    %b = cl.buffer_view %arena[0] : memref<32xf32>
    cl.enqueue_kernel @two(%x, %a, %b) : memref<32xf32>, memref<32xf32>, memref<32xf32>
    cl.enqueue_copy %b, %y : memref<32xf32>
    cl.return
  }
}

// -----

builtin.module {
  // expected-error@+1 {{cl.enqueue_copy is given %a and writes %b, which share bytes 0 to 127 of %arena: no copy overlaps itself}}
  cl.program @main(%x: memref<32xf32> {cl.name = "x"}, %y: memref<32xf32> {cl.name = "y"}) inputs 1 {
    %arena = cl.arena : memref<256xi8>
    %a = cl.buffer_view %arena[0] : memref<32xf32>
    %b = cl.buffer_view %arena[0] : memref<32xf32>
    cl.enqueue_copy %x, %a : memref<32xf32>
    cl.enqueue_copy %a, %b : memref<32xf32>
    cl.enqueue_copy %b, %y : memref<32xf32>
    cl.return
  }
}

// -----

builtin.module {
  cl.kernel @blur(memref<2x8x4xf32, #tir.scope<texture, [1]>>, memref<2x8x4xf32, #tir.scope<texture, [1]>>) outputs [1] global [8, 2] local [1, 1]
  // expected-error@+1 {{cl.enqueue_kernel @blur is given %a and writes %b, which share bytes 0 to 383 of %arena: a kernel cannot read an image that it writes; write the result to another image}}
  cl.program @main(%x: memref<2x8x4xf32> {cl.name = "x"}, %y: memref<2x8x4xf32> {cl.name = "y"}) inputs 1 {
    %arena = cl.arena : memref<384xi8>
    %a = cl.image_view %arena[0] pitch 192 : memref<2x8x4xf32, #tir.scope<texture, [1]>>
    %b = cl.image_view %arena[0] pitch 192 : memref<2x8x4xf32, #tir.scope<texture, [1]>>
    cl.enqueue_copy %x, %a : memref<2x8x4xf32> to memref<2x8x4xf32, #tir.scope<texture, [1]>>
    cl.enqueue_kernel @blur(%a, %b) : memref<2x8x4xf32, #tir.scope<texture, [1]>>, memref<2x8x4xf32, #tir.scope<texture, [1]>>
    cl.enqueue_copy %b, %y : memref<2x8x4xf32, #tir.scope<texture, [1]>> to memref<2x8x4xf32>
    cl.return
  }
}

// -----

builtin.module {
  // expected-error@+1 {{cl.enqueue_copy writes %b over bytes 320 to 383 of %arena, which %a needs until command 2, cl.enqueue_copy}}
  cl.program @main(%x: memref<2x8x4xf32> {cl.name = "x"}, %y: memref<2x8x4xf32> {cl.name = "y"}) inputs 1 {
    %arena = cl.arena : memref<1024xi8>
    %a = cl.image_view %arena[0] pitch 192 : memref<2x8x4xf32, #tir.scope<texture, [1]>>
    %b = cl.buffer_view %arena[320] : memref<2x8x4xf32>
    cl.enqueue_copy %x, %a : memref<2x8x4xf32> to memref<2x8x4xf32, #tir.scope<texture, [1]>>
    cl.enqueue_copy %x, %b : memref<2x8x4xf32>
    cl.enqueue_copy %a, %y : memref<2x8x4xf32, #tir.scope<texture, [1]>> to memref<2x8x4xf32>
    cl.enqueue_copy %b, %y : memref<2x8x4xf32>
    cl.return
  }
}

// -----

builtin.module attributes {cl.target = #cl.target<"phone", {images = true, max_image_width = 64 : i64, max_image_height = 64 : i64, max_image_layers = 1 : i64, max_image_buffer_texels = 64 : i64, image1d_buffer = true, image_from_buffer = true, image_pitch_alignment_bytes = 64 : i64, max_alloc_bytes = 1024 : i64}>} {
  cl.kernel @relu(memref<32xf32>, memref<32xf32>) outputs [1] global [32] local [1] in_place [[0, 1]]
  // expected-error@+1 {{cl.enqueue_kernel @relu uses %a from byte 64 of %arena on, but phone requires views to start at multiples of 128 bytes}}
  cl.program @main(%x: memref<32xf32> {cl.name = "x"}, %y: memref<32xf32> {cl.name = "y"}) inputs 1 {
    %arena = cl.arena : memref<256xi8>
    %a = cl.buffer_view %arena[64] : memref<32xf32>
    cl.enqueue_copy %x, %a : memref<32xf32>
    cl.enqueue_kernel @relu(%a, %y) : memref<32xf32>, memref<32xf32>
    cl.return
  }
}

// -----

builtin.module attributes {cl.target = #cl.target<"phone", {images = true, max_image_width = 64 : i64, max_image_height = 64 : i64, max_image_layers = 1 : i64, max_image_buffer_texels = 64 : i64, image1d_buffer = true, image_from_buffer = true, image_pitch_alignment_bytes = 64 : i64, max_alloc_bytes = 1024 : i64}>} {
  // expected-error@+1 {{cl.image_view uses %a from byte 64 of %arena on, but phone requires views to start at multiples of 128 bytes}}
  cl.program @main(%x: memref<2x8x4xf32> {cl.name = "x"}, %y: memref<2x8x4xf32> {cl.name = "y"}) inputs 1 {
    %arena = cl.arena : memref<1024xi8>
    %a = cl.image_view %arena[64] pitch 192 : memref<2x8x4xf32, #tir.scope<texture, [1]>>
    cl.enqueue_copy %x, %y : memref<2x8x4xf32>
    cl.return
  }
}

// -----

builtin.module attributes {cl.target = #cl.target<"phone", {images = true, max_image_width = 64 : i64, max_image_height = 64 : i64, max_image_layers = 1 : i64, max_image_buffer_texels = 64 : i64, image1d_buffer = true, image_from_buffer = true, image_pitch_alignment_bytes = 64 : i64, max_alloc_bytes = 1024 : i64}>} {
  // expected-error@+1 {{the pitch of %a, 144 bytes, must be a multiple of the 64 bytes that phone requires}}
  cl.program @main(%x: memref<2x8x4xf32> {cl.name = "x"}, %y: memref<2x8x4xf32> {cl.name = "y"}) inputs 1 {
    %arena = cl.arena : memref<1024xi8>
    %a = cl.image_view %arena[0] pitch 144 : memref<2x8x4xf32, #tir.scope<texture, [1]>>
    cl.enqueue_copy %x, %y : memref<2x8x4xf32>
    cl.return
  }
}

// -----

builtin.module attributes {cl.target = #cl.target<"phone", {images = true, max_image_width = 64 : i64, max_image_height = 64 : i64, max_image_layers = 1 : i64, max_image_buffer_texels = 64 : i64, image1d_buffer = true, image_from_buffer = false, image_pitch_alignment_bytes = 64 : i64, max_alloc_bytes = 1024 : i64}>} {
  // expected-error@+1 {{%a is an image2d over %arena, but phone does not support such views; keep its cl.alloc}}
  cl.program @main(%x: memref<2x8x4xf32> {cl.name = "x"}, %y: memref<2x8x4xf32> {cl.name = "y"}) inputs 1 {
    %arena = cl.arena : memref<1024xi8>
    %a = cl.image_view %arena[0] pitch 192 : memref<2x8x4xf32, #tir.scope<texture, [1]>>
    cl.enqueue_copy %x, %y : memref<2x8x4xf32>
    cl.return
  }
}

// -----

builtin.module attributes {cl.target = #cl.target<"phone", {images = true, max_image_width = 64 : i64, max_image_height = 64 : i64, max_image_layers = 1 : i64, max_image_buffer_texels = 64 : i64, image1d_buffer = false, image_from_buffer = true, image_pitch_alignment_bytes = 64 : i64, max_alloc_bytes = 1024 : i64}>} {
  // expected-error@+1 {{%a is an image1d_buffer over %arena, but phone does not support such views; keep its cl.alloc}}
  cl.program @main(%x: memref<2x8x4xf32> {cl.name = "x"}, %y: memref<2x8x4xf32> {cl.name = "y"}) inputs 1 {
    %arena = cl.arena : memref<1024xi8>
    %a = cl.image_view %arena[0] : memref<2x8x4xf32, #tir.scope<texture, []>>
    cl.enqueue_copy %x, %y : memref<2x8x4xf32>
    cl.return
  }
}

// -----

builtin.module attributes {cl.target = #cl.target<"phone", {images = true, max_image_width = 64 : i64, max_image_height = 64 : i64, max_image_layers = 1 : i64, max_image_buffer_texels = 64 : i64, image1d_buffer = true, image_from_buffer = true, image_pitch_alignment_bytes = 64 : i64, max_alloc_bytes = 1024 : i64}>} {
  // expected-error@+1 {{%arena has 1025 bytes, but phone limits a buffer to 1024; divide the arena into several}}
  cl.program @main(%x: memref<32xf32> {cl.name = "x"}, %y: memref<32xf32> {cl.name = "y"}) inputs 1 {
    %arena = cl.arena : memref<1025xi8>
    cl.enqueue_copy %x, %y : memref<32xf32>
    cl.return
  }
}
