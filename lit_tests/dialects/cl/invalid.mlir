// RUN: clopt %s --split-input-file --verify-diagnostics

builtin.module {
  cl.kernel @id(memref<4xf32>, memref<4xf32>) outputs [1] global [4] local [1]
  // expected-error@+1 {{cl.enqueue_kernel @id reads %t before it is written}}
  cl.program @main(%x: memref<4xf32> {cl.name = "x"}, %y: memref<4xf32> {cl.name = "y"}) inputs 1 {
    %t = cl.alloc : memref<4xf32>
    cl.enqueue_kernel @id(%t, %y) : memref<4xf32>, memref<4xf32>
    cl.return
  }
}

// -----

builtin.module {
  // expected-error@+1 {{cl.enqueue_copy reads %v before it is written}}
  cl.program @main(%x: memref<4xf32> {cl.name = "x"}, %y: memref<4xf32> {cl.name = "y"}) inputs 1 {
    %t = cl.alloc : memref<2x2xf32>
    %v = cl.view %t : memref<2x2xf32> to memref<4xf32>
    cl.enqueue_copy %v, %y : memref<4xf32>
    cl.return
  }
}

// -----

builtin.module {
  cl.kernel @id(memref<4xf32>, memref<4xf32>) outputs [1] global [4] local [1]
  // expected-error@+1 {{cl.enqueue_kernel @id writes %x, which is an input}}
  cl.program @main(%x: memref<4xf32> {cl.name = "x"}, %y: memref<4xf32> {cl.name = "y"}) inputs 1 {
    cl.enqueue_kernel @id(%x, %x) : memref<4xf32>, memref<4xf32>
    cl.return
  }
}

// -----

builtin.module {
  // expected-error@+1 {{cl.enqueue_copy writes %w, which is a constant}}
  cl.program @main(%x: memref<4xf32> {cl.name = "x"}, %y: memref<4xf32> {cl.name = "y"}) inputs 1 {
    %w = cl.constant "w_0" : memref<4xf32>
    cl.enqueue_copy %x, %w : memref<4xf32>
    cl.return
  }
}

// -----

builtin.module {
  // expected-error@+1 {{cl.enqueue_kernel @absent: the module has no such kernel}}
  cl.program @main(%x: memref<4xf32> {cl.name = "x"}, %y: memref<4xf32> {cl.name = "y"}) inputs 1 {
    cl.enqueue_kernel @absent(%x, %y) : memref<4xf32>, memref<4xf32>
    cl.return
  }
}

// -----

builtin.module {
  cl.kernel @id(memref<4xf32>, memref<4xf32>) outputs [1] global [4] local [1]
  // expected-error@+1 {{the arguments (memref<4xf32>) do not match the kernel's parameters (memref<4xf32>, memref<4xf32>)}}
  cl.program @main(%x: memref<4xf32> {cl.name = "x"}, %y: memref<4xf32> {cl.name = "y"}) inputs 1 {
    cl.enqueue_kernel @id(%y) : memref<4xf32>
    cl.return
  }
}

// -----

builtin.module {
  // expected-error@+1 {{the output "y" is never written}}
  cl.program @main(%x: memref<4xf32> {cl.name = "x"}, %y: memref<4xf32> {cl.name = "y"}) inputs 1 {
    cl.return
  }
}

// -----

builtin.module {
  // expected-error@+1 {{2 parameters cannot have 3 inputs}}
  cl.program @main(%x: memref<4xf32> {cl.name = "x"}, %y: memref<4xf32> {cl.name = "y"}) inputs 3 {
    cl.enqueue_copy %x, %y : memref<4xf32>
    cl.return
  }
}

// -----

builtin.module {
  cl.program @main(%x: memref<4xf32> {cl.name = "x"}, %y: memref<4xf32> {cl.name = "y"}) inputs 1 {
    // expected-error@+1 {{a view must have the size of its source, but memref<4xf32> has 16 and memref<4xf16> has 8}}
    %v = cl.view %x : memref<4xf32> to memref<4xf16>
    cl.enqueue_copy %x, %y : memref<4xf32>
    cl.return
  }
}

// -----

builtin.module {
  cl.program @main(%x: memref<4xf32> {cl.name = "x"}, %y: memref<4xf32> {cl.name = "y"}) inputs 1 {
    // expected-error@+1 {{a buffer must have a static shape, not memref<?xf32>}}
    %t = cl.alloc : memref<?xf32>
    cl.enqueue_copy %x, %y : memref<4xf32>
    cl.return
  }
}

// -----

builtin.module {
  // expected-error@+1 {{a program must end with cl.return}}
  cl.program @main(%x: memref<4xf32> {cl.name = "x"}, %y: memref<4xf32> {cl.name = "y"}) inputs 1 {
    cl.enqueue_copy %x, %y : memref<4xf32>
    "test.termop"() : () -> ()
  }
}

// -----

builtin.module {
  // expected-error@+1 {{arith.constant is not an operation of a queue program}}
  cl.program @main(%x: memref<4xf32> {cl.name = "x"}, %y: memref<4xf32> {cl.name = "y"}) inputs 1 {
    cl.enqueue_copy %x, %y : memref<4xf32>
    %c = arith.constant 1 : i32
    cl.return
  }
}

// -----

builtin.module {
  // expected-error@+1 {{the local size [3] must divide the global size [8]}}
  cl.kernel @k(memref<4xf32>) outputs [0] global [8] local [3]
}

// -----

builtin.module {
  // expected-error@+1 {{a launch must have one to three dimensions}}
  cl.kernel @k(memref<4xf32>) outputs [0] global [8, 8] local [8]
}

// -----

builtin.module {
  // expected-error@+1 {{output 1 is not one of 1 parameters}}
  cl.kernel @k(memref<4xf32>) outputs [1] global [8] local [8]
}

// -----

builtin.module {
  // expected-error@+1 {{vector_width must be a whole number, not 'four'}}
  "test.op"() {t = #cl.target<"mine", {vector_width = "four"}>} : () -> ()
}

// -----

builtin.module {
  // expected-error@+1 {{register_tile must be at least 1, not 0}}
  "test.op"() {t = #cl.target<"mine", {register_tile = 0 : i64}>} : () -> ()
}

// -----

builtin.module attributes {cl.target = #cl.target<"phone", {images = false}>} {
  // expected-error@+1 {{%t is an image, but phone does not support images; compile with texture=off}}
  cl.program @main(%x: memref<2x8x4xf32> {cl.name = "x"}, %y: memref<2x8x4xf32> {cl.name = "y"}) inputs 1 {
    %t = cl.alloc : memref<2x8x4xf32, #tir.scope<texture, [1]>>
    cl.enqueue_copy %x, %y : memref<2x8x4xf32>
    cl.return
  }
}

// -----

builtin.module attributes {cl.target = #cl.target<"phone", {images = true, max_image_width = 8 : i64, max_image_height = 1 : i64, max_image_layers = 1 : i64, max_image_buffer_texels = 15 : i64}>} {
  // expected-error@+1 {{%t is an image2d of 8 x 2 texels, but phone has at most 8 x 1; give the value another layout, or keep it in a buffer}}
  cl.program @main(%x: memref<2x8x4xf32> {cl.name = "x"}, %y: memref<2x8x4xf32> {cl.name = "y"}) inputs 1 {
    %t = cl.alloc : memref<2x8x4xf32, #tir.scope<texture, [1]>>
    cl.enqueue_copy %x, %y : memref<2x8x4xf32>
    cl.return
  }
}

// -----

builtin.module attributes {cl.target = #cl.target<"phone", {images = true, max_image_width = 8 : i64, max_image_height = 8 : i64, max_image_layers = 1 : i64, max_image_buffer_texels = 15 : i64}>} {
  // expected-error@+1 {{%t is an image2d_array of 1 x 8 x 2 texels, but phone has at most 8 x 8 x 1}}
  cl.program @main(%x: memref<2x8x4xf32> {cl.name = "x"}, %y: memref<2x8x4xf32> {cl.name = "y"}) inputs 1 {
    %t = cl.alloc : memref<2x8x1x4xf32, #tir.scope<texture, [1, 2]>>
    cl.enqueue_copy %x, %y : memref<2x8x4xf32>
    cl.return
  }
}

// -----

builtin.module attributes {cl.target = #cl.target<"phone", {images = true, max_image_width = 8 : i64, max_image_height = 2 : i64, max_image_layers = 1 : i64, max_image_buffer_texels = 15 : i64}>} {
  // expected-error@+1 {{%t is an image1d_buffer of 16 texels, but phone has at most 15}}
  cl.program @main(%x: memref<2x8x4xf32> {cl.name = "x"}, %y: memref<2x8x4xf32> {cl.name = "y"}) inputs 1 {
    %t = cl.alloc : memref<2x8x4xf32, #tir.scope<texture, []>>
    cl.enqueue_copy %x, %y : memref<2x8x4xf32>
    cl.return
  }
}

// -----

builtin.module {
  cl.program @main(%x: memref<2x8x4xf32> {cl.name = "x"}, %y: memref<2x8x4xf32> {cl.name = "y"}) inputs 1 {
    // expected-error@+1 {{no image format has elements of type f64}}
    %t = cl.alloc : memref<2x8x4xf64, #tir.scope<texture, [1]>>
    cl.enqueue_copy %x, %y : memref<2x8x4xf32>
    cl.return
  }
}

// -----

builtin.module {
  // expected-error@+1 {{the parameter %x must be a 2-D image of the N x C x H x W elements of cl.shape, four channels in a texel}}
  cl.program @main(%x: memref<1x1x5x7x4xf32, #tir.scope<texture, [3]>> {cl.name = "x", cl.shape = array<i64: 1, 5, 5, 7>}) inputs 1 {
    cl.return
  }
}

// -----

builtin.module {
  // expected-error@+1 {{the parameter %x must be a 2-D image of the N x C x H x W elements of cl.shape, four channels in a texel}}
  cl.program @main(%x: memref<1x3x5x7xf32> {cl.name = "x", cl.shape = array<i64: 1, 3, 5, 7>}) inputs 1 {
    cl.return
  }
}

// -----

builtin.module {
  // expected-error@+1 {{cl.enqueue_copy takes %x, an image whose channels the user chooses; launch a kernel, which converts them}}
  cl.program @main(%x: memref<1x1x5x7x4xf32, #tir.scope<texture, [3]>> {cl.name = "x", cl.shape = array<i64: 1, 3, 5, 7>}, %y: memref<1x1x5x7x4xf32> {cl.name = "y"}) inputs 1 {
    cl.enqueue_copy %x, %y : memref<1x1x5x7x4xf32, #tir.scope<texture, [3]>> to memref<1x1x5x7x4xf32>
    cl.return
  }
}

// -----

builtin.module {
  cl.program @main(%x: memref<2x8x4xf32> {cl.name = "x"}, %y: memref<2x8x4xf32> {cl.name = "y"}) inputs 1 {
    // expected-error@+1 {{the last axis of a texture must have 4 elements}}
    %t = cl.alloc : memref<2x8x3xf32, #tir.scope<texture, [1]>>
    cl.enqueue_copy %x, %y : memref<2x8x4xf32>
    cl.return
  }
}

// -----

builtin.module {
  // expected-error@+1 {{the parameter %x must be a 2-D image of the N x C x H x W elements of cl.shape, four channels in a texel}}
  cl.program @main(%x: memref<2x8x4xf32, #tir.scope<texture, [1]>> {cl.name = "x"}, %y: memref<2x8x4xf32> {cl.name = "y"}) inputs 1 {
    cl.enqueue_copy %x, %y : memref<2x8x4xf32, #tir.scope<texture, [1]>> to memref<2x8x4xf32>
    cl.return
  }
}

// -----

builtin.module {
  cl.program @main(%x: memref<2x8x4xf32> {cl.name = "x"}, %y: memref<2x8x4xf32> {cl.name = "y"}) inputs 1 {
    %b = cl.alloc : memref<2x8x4xf32>
    // expected-error@+1 {{is not backed by a buffer, so it cannot share its bytes with another value; copy it, or give it a scope without separators}}
    %t = cl.view %b : memref<2x8x4xf32> to memref<2x8x4xf32, #tir.scope<texture, [1]>>
    cl.enqueue_copy %x, %y : memref<2x8x4xf32>
    cl.return
  }
}

// -----

builtin.module {
  cl.program @main(%x: memref<2x4x2x4xf32> {cl.name = "x"}, %y: memref<2x4x2x4xf32> {cl.name = "y"}) inputs 1 {
    %t = cl.alloc : memref<2x4x2x4xf32, #tir.scope<texture, [1]>>
    %u = cl.alloc : memref<2x4x2x4xf32, #tir.scope<texture, [2]>>
    cl.enqueue_copy %x, %t : memref<2x4x2x4xf32> to memref<2x4x2x4xf32, #tir.scope<texture, [1]>>
    cl.enqueue_copy %x, %y : memref<2x4x2x4xf32>
    // expected-error@+1 {{OpenCL cannot copy an image of memref<2x4x2x4xf32, #tir.scope<texture, [1]>> to one of memref<2x4x2x4xf32, #tir.scope<texture, [2]>>}}
    cl.enqueue_copy %t, %u : memref<2x4x2x4xf32, #tir.scope<texture, [1]>> to memref<2x4x2x4xf32, #tir.scope<texture, [2]>>
    cl.return
  }
}

// -----

builtin.module {
  cl.program @main(%x: memref<2x8x4xf32> {cl.name = "x"}, %y: memref<2x8x4xf32> {cl.name = "y"}) inputs 1 {
    %t = cl.alloc : memref<16x4xf32>
    cl.enqueue_copy %x, %y : memref<2x8x4xf32>
    // expected-error@+1 {{a copy cannot convert memref<2x8x4xf32> to memref<16x4xf32>: launch a kernel}}
    cl.enqueue_copy %x, %t : memref<2x8x4xf32> to memref<16x4xf32>
    cl.return
  }
}

// -----

builtin.module {
  cl.kernel @id(memref<2x8x4xf32, #tir.scope<texture, [1]>>, memref<2x8x4xf32, #tir.scope<texture, [1]>>) outputs [1] global [4] local [1]
  // expected-error@+1 {{cl.enqueue_kernel @id is given %t and writes %t, which share bytes 0 to 255 of %t: a kernel cannot read an image that it writes; write the result to another image}}
  cl.program @main(%x: memref<2x8x4xf32> {cl.name = "x"}, %y: memref<2x8x4xf32> {cl.name = "y"}) inputs 1 {
    %t = cl.alloc : memref<2x8x4xf32, #tir.scope<texture, [1]>>
    cl.enqueue_copy %x, %t : memref<2x8x4xf32> to memref<2x8x4xf32, #tir.scope<texture, [1]>>
    cl.enqueue_kernel @id(%t, %t) : memref<2x8x4xf32, #tir.scope<texture, [1]>>, memref<2x8x4xf32, #tir.scope<texture, [1]>>
    cl.return
  }
}

// -----

builtin.module {
  cl.kernel @id(memref<2x8x4xf32, #tir.scope<texture, []>>, memref<2x8x4xf32>) outputs [1] global [4] local [1]
  // expected-error@+1 {{cl.enqueue_kernel @id is given %v and writes %b, which share bytes 0 to 255 of %b: a kernel cannot read an image that it writes}}
  cl.program @main(%x: memref<2x8x4xf32> {cl.name = "x"}, %y: memref<2x8x4xf32> {cl.name = "y"}) inputs 1 {
    %b = cl.alloc : memref<2x8x4xf32>
    %v = cl.view %b : memref<2x8x4xf32> to memref<2x8x4xf32, #tir.scope<texture, []>>
    cl.enqueue_copy %x, %b : memref<2x8x4xf32>
    cl.enqueue_kernel @id(%v, %b) : memref<2x8x4xf32, #tir.scope<texture, []>>, memref<2x8x4xf32>
    cl.return
  }
}

// -----

builtin.module attributes {cl.target = #cl.target<"phone", {images = true, max_image_width = 8 : i64, max_image_height = 2 : i64, max_image_layers = 1 : i64, max_image_buffer_texels = 15 : i64, max_read_images = 1 : i64}>} {
  cl.kernel @two(memref<2x8x4xf32, #tir.scope<texture, [1]>>, memref<2x8x4xf32, #tir.scope<texture, [1]>>, memref<2x8x4xf32>) outputs [2] global [4] local [1]
  // expected-error@+1 {{cl.enqueue_kernel @two reads 2 images, but phone allows at most 1 per kernel; fuse fewer operations, or keep some of the values in buffers}}
  cl.program @main(%x: memref<2x8x4xf32> {cl.name = "x"}, %y: memref<2x8x4xf32> {cl.name = "y"}) inputs 1 {
    %t = cl.alloc : memref<2x8x4xf32, #tir.scope<texture, [1]>>
    %u = cl.alloc : memref<2x8x4xf32, #tir.scope<texture, [1]>>
    cl.enqueue_copy %x, %t : memref<2x8x4xf32> to memref<2x8x4xf32, #tir.scope<texture, [1]>>
    cl.enqueue_copy %x, %u : memref<2x8x4xf32> to memref<2x8x4xf32, #tir.scope<texture, [1]>>
    cl.enqueue_kernel @two(%t, %u, %y) : memref<2x8x4xf32, #tir.scope<texture, [1]>>, memref<2x8x4xf32, #tir.scope<texture, [1]>>, memref<2x8x4xf32>
    cl.return
  }
}


// -----

builtin.module {
  // expected-error@+1 {{%v is an image over the parameter %x, whose buffer the user may change with every inference; copy it}}
  cl.program @main(%x: memref<2x8x4xf32> {cl.name = "x"}, %y: memref<2x8x4xf32> {cl.name = "y"}) inputs 1 {
    %v = cl.view %x : memref<2x8x4xf32> to memref<2x8x4xf32, #tir.scope<texture, []>>
    cl.enqueue_copy %x, %y : memref<2x8x4xf32>
    cl.return
  }
}

// -----

builtin.module attributes {cl.target = #cl.target<"phone", {max_work_group_size = 32 : i64}>} {
  cl.kernel @wide(memref<64xf32>, memref<64xf32>) outputs [1] global [64] local [64]
  // expected-error@+1 {{cl.enqueue_kernel @wide has work-groups of 64, but phone allows 32}}
  cl.program @main(%x: memref<64xf32> {cl.name = "x"}, %y: memref<64xf32> {cl.name = "y"}) inputs 1 {
    cl.enqueue_kernel @wide(%x, %y) : memref<64xf32>, memref<64xf32>
    cl.return
  }
}

// -----

// A constant is checked like every other argument, also where the kernel asks for another layout.
builtin.module {
  tir.func @scale(%w: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = array<i64: 1>, constants = array<i64: 0>, layouts = {"0" = affine_map<(d0) -> (d0 floordiv 2, d0 mod 2)>}} {
  }
  // expected-error@+1 {{cl.enqueue_kernel @scale: the arguments (memref<8xf32>, memref<4xf32>) do not match the kernel's parameters (memref<4xf32>, memref<4xf32>)}}
  cl.program @main(%y: memref<4xf32> {cl.name = "y"}) inputs 0 {
    %w = cl.constant "w_0" : memref<8xf32>
    cl.enqueue_kernel @scale(%w, %y) : memref<8xf32>, memref<4xf32>
    cl.return
  }
}

// -----

builtin.module {
  tir.func @scale(%w: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = array<i64: 1>, constants = array<i64: 0>} {
  }
  // expected-error@+1 {{cl.enqueue_kernel @scale binds %x to parameter 0, which the kernel lists in its constants; bind a cl.constant}}
  cl.program @main(%x: memref<4xf32> {cl.name = "x"}, %y: memref<4xf32> {cl.name = "y"}) inputs 1 {
    cl.enqueue_kernel @scale(%x, %y) : memref<4xf32>, memref<4xf32>
    cl.return
  }
}

// -----

builtin.module {
  // expected-error@+1 {{scalars [3] must be ascending positions of 3 parameters}}
  cl.kernel @k(memref<4xf32>, memref<4xf32>) outputs [0] global [8] local [8] scalars [[3, 4, 1]]
}

// -----

builtin.module {
  // expected-error@+1 {{a kernel must not have both bounds and scalars}}
  cl.kernel @k(memref<4xf32>) outputs [0] global [8] local [8] bounds [2] scalars [[0, 4, 1]]
}

// -----

builtin.module {
  // expected-error@+1 {{a scalar must have 4 or 8 bytes}}
  cl.kernel @k(memref<4xf32>) outputs [0] global [8] local [8] scalars [[0, 2, 1]]
}

// -----

// A turn is verified like a launch: what it reads was written in an earlier turn or before.
builtin.module {
  tir.func @id(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = array<i64: 1>, global_size = array<i64: 4>, local_size = array<i64: 1>} {
    tir.for global_x %i = 0 to 4 {
      %a = memref.load %x[%i] : memref<4xf32>
      memref.store %a, %y[%i] : memref<4xf32>
    }
  }
  tir.func @both(%turns: memref<2x16xi32>, %x: memref<4xf32>, %t: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = array<i64: 0, 2, 3>, global_size = array<i64: 2>, local_size = array<i64: 1>} {
    tir.turn @id(%t, %y) : memref<4xf32>, memref<4xf32>
    tir.turn @id(%x, %t) : memref<4xf32>, memref<4xf32>
  }
  // expected-error@+1 {{cl.enqueue_kernel @both reads %t before it is written}}
  cl.program @early(%x: memref<4xf32>, %y: memref<4xf32>) inputs 1 {
    %turns = cl.alloc : memref<2x16xi32>
    %t = cl.alloc : memref<4xf32>
    cl.enqueue_kernel @both(%turns, %x, %t, %y) : memref<2x16xi32>, memref<4xf32>, memref<4xf32>, memref<4xf32>
    cl.return
  }
}

// -----

builtin.module {
  tir.func @id(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = array<i64: 1>, global_size = array<i64: 4>, local_size = array<i64: 1>} {
    tir.for global_x %i = 0 to 4 {
      %a = memref.load %x[%i] : memref<4xf32>
      memref.store %a, %y[%i] : memref<4xf32>
    }
  }
  tir.func @wrong(%turns: memref<2x16xi32>, %x: memref<4xf32>, %y: memref<2x2xf32>) attributes {outputs = array<i64: 0, 2>, global_size = array<i64: 2>, local_size = array<i64: 1>} {
    tir.turn @id(%x, %y) : memref<4xf32>, memref<2x2xf32>
  }
  // expected-error@+1 {{the arguments of the turn of @id (memref<4xf32>, memref<2x2xf32>) do not match}}
  cl.program @types(%x: memref<4xf32>, %y: memref<2x2xf32>) inputs 1 {
    %turns = cl.alloc : memref<2x16xi32>
    cl.enqueue_kernel @wrong(%turns, %x, %y) : memref<2x16xi32>, memref<4xf32>, memref<2x2xf32>
    cl.return
  }
}

// -----

builtin.module {
  tir.func @lost(%turns: memref<2x16xi32>, %x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = array<i64: 0, 2>, global_size = array<i64: 2>, local_size = array<i64: 1>} {
    tir.turn @absent(%x, %y) : memref<4xf32>, memref<4xf32>
  }
  // expected-error@+1 {{@lost has a turn of @absent, which the module lacks}}
  cl.program @unknown(%x: memref<4xf32>, %y: memref<4xf32>) inputs 1 {
    %turns = cl.alloc : memref<2x16xi32>
    cl.enqueue_kernel @lost(%turns, %x, %y) : memref<2x16xi32>, memref<4xf32>, memref<4xf32>
    cl.return
  }
}
