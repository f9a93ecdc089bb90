// RUN: clopt %s --split-input-file --verify-diagnostics

// What is written and read of a value in parts, and by kernels that compute in place.

builtin.module {
  // expected-error@+1 {{cl.enqueue_copy reads %t before bytes 64 to 127 of %t are written}}
  cl.program @main(%x: memref<32xf32> {cl.name = "x"}, %y: memref<32xf32> {cl.name = "y"}) inputs 1 {
    %t = cl.alloc : memref<32xf32>
    %head = cl.view %t[0] : memref<32xf32> to memref<16xf32>
    %from = cl.view %x[0] : memref<32xf32> to memref<16xf32>
    cl.enqueue_copy %from, %head : memref<16xf32>
    cl.enqueue_copy %t, %y : memref<32xf32>
    cl.return
  }
}

// -----

builtin.module {
  // expected-error@+1 {{cl.enqueue_copy reads %t before bytes 32 to 63 of %t are written}}
  cl.program @main(%x: memref<32xf32> {cl.name = "x"}, %y: memref<32xf32> {cl.name = "y"}) inputs 1 {
    %t = cl.alloc : memref<32xf32>
    %a = cl.view %t[0] : memref<32xf32> to memref<8xf32>
    %b = cl.view %t[64] : memref<32xf32> to memref<16xf32>
    %c = cl.view %x[0] : memref<32xf32> to memref<8xf32>
    %d = cl.view %x[0] : memref<32xf32> to memref<16xf32>
    cl.enqueue_copy %d, %b : memref<16xf32>
    cl.enqueue_copy %c, %a : memref<8xf32>
    cl.enqueue_copy %t, %y : memref<32xf32>
    cl.return
  }
}

// -----

builtin.module {
  // expected-error@+1 {{cl.enqueue_copy reads %tail before it is written}}
  cl.program @main(%x: memref<32xf32> {cl.name = "x"}, %y: memref<32xf32> {cl.name = "y"}) inputs 1 {
    %t = cl.alloc : memref<32xf32>
    %head = cl.view %t[0] : memref<32xf32> to memref<16xf32>
    %tail = cl.view %t[64] : memref<32xf32> to memref<16xf32>
    %from = cl.view %x[0] : memref<32xf32> to memref<16xf32>
    cl.enqueue_copy %from, %head : memref<16xf32>
    cl.enqueue_copy %tail, %head : memref<16xf32>
    cl.enqueue_copy %x, %y : memref<32xf32>
    cl.return
  }
}

// -----

builtin.module {
  // expected-error@+1 {{cl.enqueue_copy reads %all before bytes 128 to 191 of %arena are written}}
  cl.program @main(%x: memref<32xf32> {cl.name = "x"}, %y: memref<32xf32> {cl.name = "y"}) inputs 1 {
    %arena = cl.arena : memref<256xi8>
    %t = cl.buffer_view %arena[64] : memref<32xf32>
    %tail = cl.view %t[0] : memref<32xf32> to memref<16xf32>
    %from = cl.view %x[0] : memref<32xf32> to memref<16xf32>
    %all = cl.view %t : memref<32xf32> to memref<4x8xf32>
    %u = cl.alloc : memref<4x8xf32>
    cl.enqueue_copy %from, %tail : memref<16xf32>
    cl.enqueue_copy %all, %u : memref<4x8xf32>
    cl.enqueue_copy %x, %y : memref<32xf32>
    cl.return
  }
}

// -----

builtin.module {
  // expected-error@+1 {{the output "y" is written in parts, but bytes 64 to 127 are never written}}
  cl.program @main(%x: memref<32xf32> {cl.name = "x"}, %y: memref<32xf32> {cl.name = "y"}) inputs 1 {
    %head = cl.view %y[0] : memref<32xf32> to memref<16xf32>
    %from = cl.view %x[0] : memref<32xf32> to memref<16xf32>
    cl.enqueue_copy %from, %head : memref<16xf32>
    cl.return
  }
}

// -----

builtin.module {
  // expected-error@+1 {{cl.enqueue_copy writes %tail, which is an input}}
  cl.program @main(%x: memref<32xf32> {cl.name = "x"}, %y: memref<32xf32> {cl.name = "y"}) inputs 1 {
    %head = cl.view %x[0] : memref<32xf32> to memref<16xf32>
    %tail = cl.view %x[64] : memref<32xf32> to memref<16xf32>
    cl.enqueue_copy %head, %tail : memref<16xf32>
    cl.return
  }
}

// -----

builtin.module {
  // expected-error@+1 {{cl.enqueue_copy is given %middle and writes %head, which share bytes 32 to 63 of %y: no copy overlaps itself; give them different bytes}}
  cl.program @main(%x: memref<32xf32> {cl.name = "x"}, %y: memref<32xf32> {cl.name = "y"}) inputs 1 {
    cl.enqueue_copy %x, %y : memref<32xf32>
    %head = cl.view %y[0] : memref<32xf32> to memref<16xf32>
    %middle = cl.view %y[32] : memref<32xf32> to memref<16xf32>
    cl.enqueue_copy %middle, %head : memref<16xf32>
    cl.return
  }
}

// -----

builtin.module {
  cl.kernel @id(memref<32xf32>, memref<32xf32>) outputs [1] global [32] local [1]
  // expected-error@+1 {{cl.enqueue_kernel @id is given %t and writes %t, which share bytes 0 to 127 of %t, but the kernel's in_place does not list [0, 1]; give them different bytes}}
  cl.program @main(%x: memref<32xf32> {cl.name = "x"}, %y: memref<32xf32> {cl.name = "y"}) inputs 1 {
    %t = cl.alloc : memref<32xf32>
    cl.enqueue_copy %x, %t : memref<32xf32>
    cl.enqueue_kernel @id(%t, %t) : memref<32xf32>, memref<32xf32>
    cl.enqueue_copy %t, %y : memref<32xf32>
    cl.return
  }
}

// -----

builtin.module {
  cl.kernel @add(memref<32xf32>, memref<32xf32>, memref<32xf32>) outputs [2] global [32] local [1] in_place [[0, 2]]
  // expected-error@+1 {{cl.enqueue_kernel @add is given %t and writes %t, which share bytes 0 to 127 of %t, but the kernel's in_place does not list [1, 2]}}
  cl.program @main(%x: memref<32xf32> {cl.name = "x"}, %y: memref<32xf32> {cl.name = "y"}) inputs 1 {
    %t = cl.alloc : memref<32xf32>
    cl.enqueue_copy %x, %t : memref<32xf32>
    cl.enqueue_kernel @add(%t, %t, %t) : memref<32xf32>, memref<32xf32>, memref<32xf32>
    cl.enqueue_copy %t, %y : memref<32xf32>
    cl.return
  }
}

// -----

builtin.module {
  cl.kernel @two(memref<32xf32>, memref<32xf32>, memref<32xf32>) outputs [1, 2] global [32] local [1]
  // expected-error@+1 {{cl.enqueue_kernel @two is given %t and writes %t, which share bytes 0 to 127 of %t, but the kernel's in_place does not list [2, 1]}}
  cl.program @main(%x: memref<32xf32> {cl.name = "x"}, %y: memref<32xf32> {cl.name = "y"}) inputs 1 {
    %t = cl.alloc : memref<32xf32>
    cl.enqueue_kernel @two(%x, %t, %t) : memref<32xf32>, memref<32xf32>, memref<32xf32>
    cl.enqueue_copy %t, %y : memref<32xf32>
    cl.return
  }
}

// -----

builtin.module {
  cl.kernel @half(memref<16xf32>, memref<16xf32>) outputs [1] global [16] local [1] in_place [[0, 1]]
  // expected-error@+1 {{cl.enqueue_kernel @half is given %middle and writes %head, which share bytes 32 to 63 of %t, but not all of their bytes, so it cannot compute in place; give them the same bytes, or different ones}}
  cl.program @main(%x: memref<32xf32> {cl.name = "x"}, %y: memref<32xf32> {cl.name = "y"}) inputs 1 {
    %t = cl.alloc : memref<32xf32>
    %head = cl.view %t[0] : memref<32xf32> to memref<16xf32>
    %middle = cl.view %t[32] : memref<32xf32> to memref<16xf32>
    cl.enqueue_copy %x, %t : memref<32xf32>
    cl.enqueue_kernel @half(%middle, %head) : memref<16xf32>, memref<16xf32>
    cl.enqueue_copy %t, %y : memref<32xf32>
    cl.return
  }
}

// -----

builtin.module attributes {cl.target = #cl.target<"phone", {images = true, max_image_width = 64 : i64, max_image_height = 64 : i64, max_image_layers = 1 : i64, max_image_buffer_texels = 64 : i64, image1d_buffer = true, image_from_buffer = true, image_pitch_alignment_bytes = 64 : i64, max_alloc_bytes = 1024 : i64}>} {
  cl.kernel @half(memref<16xf32>, memref<16xf32>) outputs [1] global [16] local [1] in_place [[0, 1]]
  // expected-error@+1 {{cl.enqueue_kernel @half uses %tail from byte 64 of %x on, but phone requires views to start at multiples of 128 bytes}}
  cl.program @main(%x: memref<32xf32> {cl.name = "x"}, %y: memref<32xf32> {cl.name = "y"}) inputs 1 {
    %tail = cl.view %x[64] : memref<32xf32> to memref<16xf32>
    %head = cl.view %y[0] : memref<32xf32> to memref<16xf32>
    cl.enqueue_kernel @half(%tail, %head) : memref<16xf32>, memref<16xf32>
    cl.enqueue_copy %x, %y : memref<32xf32>
    cl.return
  }
}

// -----

builtin.module attributes {cl.target = #cl.target<"phone", {images = true, max_image_width = 64 : i64, max_image_height = 64 : i64, max_image_layers = 1 : i64, max_image_buffer_texels = 64 : i64, image1d_buffer = true, image_from_buffer = true, image_pitch_alignment_bytes = 64 : i64, max_alloc_bytes = 1024 : i64}>} {
  // expected-error@+1 {{cl.view uses %v from byte 64 of %t on, but phone requires views to start at multiples of 128 bytes}}
  cl.program @main(%x: memref<32xf32> {cl.name = "x"}, %y: memref<32xf32> {cl.name = "y"}) inputs 1 {
    %t = cl.alloc : memref<32xf32>
    %v = cl.view %t[64] : memref<32xf32> to memref<4x4xf32, #tir.scope<texture, []>>
    cl.enqueue_copy %x, %y : memref<32xf32>
    cl.return
  }
}
