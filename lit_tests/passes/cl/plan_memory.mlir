// RUN: clopt %s -p cl-plan-memory,verify --split-input-file --verify-diagnostics | filecheck %s
// RUN: clopt %s -p cl-plan-memory,cl-plan-memory,verify --split-input-file --verify-diagnostics | filecheck %s

// What is not live at once shares bytes; every offset is a multiple of the target's 128 bytes.
// %a is live with %b, %b with %c.
// CHECK-LABEL: cl.program @chain
// CHECK-NEXT:    %arena = cl.arena : memref<416xi8>
// CHECK-NEXT:    %a = cl.buffer_view %arena[0] : memref<40xf32>
// CHECK-NEXT:    cl.enqueue_kernel @k(%x, %a)
// CHECK-NEXT:    %b = cl.buffer_view %arena[256] : memref<40xf32>
// CHECK-NEXT:    cl.enqueue_kernel @k(%a, %b)
// CHECK-NEXT:    %c = cl.buffer_view %arena[0] : memref<40xf32>
// CHECK-NEXT:    cl.enqueue_kernel @k(%b, %c)
// CHECK-NEXT:    cl.enqueue_kernel @k(%c, %y)
// CHECK-NEXT:    cl.return
builtin.module {
  cl.kernel @k(memref<40xf32>, memref<40xf32>) outputs [1] global [40] local [1]
  cl.program @chain(%x: memref<40xf32> {cl.name = "x"}, %y: memref<40xf32> {cl.name = "y"}) inputs 1 {
    %a = cl.alloc : memref<40xf32>
    cl.enqueue_kernel @k(%x, %a) : memref<40xf32>, memref<40xf32>
    %b = cl.alloc : memref<40xf32>
    cl.enqueue_kernel @k(%a, %b) : memref<40xf32>, memref<40xf32>
    %c = cl.alloc : memref<40xf32>
    cl.enqueue_kernel @k(%b, %c) : memref<40xf32>, memref<40xf32>
    cl.enqueue_kernel @k(%c, %y) : memref<40xf32>, memref<40xf32>
    cl.return
  }
}

// -----

// Buffers and images share one arena. The rows of %image have 5 texels of 16 bytes, which a pitch
// of 64 bytes makes 128; %line is an image1d_buffer, all of it one row. There is no array of images
// over a buffer.
// CHECK-LABEL: cl.program @textures
// CHECK-NEXT:    %arena = cl.arena : memref<416xi8>
// CHECK-NEXT:    %image = cl.image_view %arena[0] pitch 128 : memref<2x5x4xf32, #tir.scope<texture, [1]>>
// CHECK-NEXT:    cl.enqueue_copy %x, %image
// CHECK-NEXT:    %plain = cl.buffer_view %arena[256] : memref<2x5x4xf32>
// CHECK-NEXT:    cl.enqueue_copy %image, %plain
// CHECK-NEXT:    %line = cl.image_view %arena[0] : memref<2x5x4xf32, #tir.scope<texture, []>>
// CHECK-NEXT:    cl.enqueue_copy %plain, %line
// CHECK-NEXT:    %array = cl.alloc : memref<2x1x5x4xf32, #tir.scope<texture, [1, 2]>>
// CHECK-NEXT:    cl.enqueue_kernel @stack(%line, %array)
// CHECK-NEXT:    cl.enqueue_kernel @flatten(%array, %y)
// CHECK-NEXT:    cl.return
builtin.module attributes {cl.target = #cl.target<"device", {images = true, max_image_width = 64 : i64, max_image_height = 64 : i64, max_image_layers = 64 : i64, max_image_buffer_texels = 64 : i64, image1d_buffer = true, image_from_buffer = true, image_pitch_alignment_bytes = 64 : i64}>} {
  cl.kernel @stack(memref<2x5x4xf32, #tir.scope<texture, []>>, memref<2x1x5x4xf32, #tir.scope<texture, [1, 2]>>) outputs [1] global [10] local [1]
  cl.kernel @flatten(memref<2x1x5x4xf32, #tir.scope<texture, [1, 2]>>, memref<2x5x4xf32>) outputs [1] global [10] local [1]
  cl.program @textures(%x: memref<2x5x4xf32> {cl.name = "x"}, %y: memref<2x5x4xf32> {cl.name = "y"}) inputs 1 {
    %image = cl.alloc : memref<2x5x4xf32, #tir.scope<texture, [1]>>
    cl.enqueue_copy %x, %image : memref<2x5x4xf32> to memref<2x5x4xf32, #tir.scope<texture, [1]>>
    %plain = cl.alloc : memref<2x5x4xf32>
    cl.enqueue_copy %image, %plain : memref<2x5x4xf32, #tir.scope<texture, [1]>> to memref<2x5x4xf32>
    %line = cl.alloc : memref<2x5x4xf32, #tir.scope<texture, []>>
    cl.enqueue_copy %plain, %line : memref<2x5x4xf32> to memref<2x5x4xf32, #tir.scope<texture, []>>
    %array = cl.alloc : memref<2x1x5x4xf32, #tir.scope<texture, [1, 2]>>
    cl.enqueue_kernel @stack(%line, %array) : memref<2x5x4xf32, #tir.scope<texture, []>>, memref<2x1x5x4xf32, #tir.scope<texture, [1, 2]>>
    cl.enqueue_kernel @flatten(%array, %y) : memref<2x1x5x4xf32, #tir.scope<texture, [1, 2]>>, memref<2x5x4xf32>
    cl.return
  }
}

// -----

// Without images over buffers, they stay objects of their own; so does what is empty.
// CHECK-LABEL: cl.program @objects
// CHECK-NEXT:    %image = cl.alloc : memref<2x5x4xf32, #tir.scope<texture, [1]>>
// CHECK-NEXT:    %line = cl.alloc : memref<2x5x4xf32, #tir.scope<texture, []>>
// CHECK-NEXT:    %empty = cl.alloc : memref<0x5xf32>
// CHECK-NEXT:    cl.enqueue_copy
// CHECK-NOT:     cl.arena
builtin.module attributes {cl.target = #cl.target<"device", {images = true, max_image_width = 64 : i64, max_image_height = 64 : i64, max_image_buffer_texels = 64 : i64}>} {
  cl.kernel @k(memref<0x5xf32>, memref<2x5x4xf32, #tir.scope<texture, []>>, memref<2x5x4xf32>) outputs [2] global [10] local [1]
  cl.program @objects(%x: memref<2x5x4xf32> {cl.name = "x"}, %y: memref<2x5x4xf32> {cl.name = "y"}) inputs 1 {
    %image = cl.alloc : memref<2x5x4xf32, #tir.scope<texture, [1]>>
    %line = cl.alloc : memref<2x5x4xf32, #tir.scope<texture, []>>
    %empty = cl.alloc : memref<0x5xf32>
    cl.enqueue_copy %x, %image : memref<2x5x4xf32> to memref<2x5x4xf32, #tir.scope<texture, [1]>>
    cl.enqueue_copy %x, %line : memref<2x5x4xf32> to memref<2x5x4xf32, #tir.scope<texture, []>>
    cl.enqueue_kernel @k(%empty, %line, %y) : memref<0x5xf32>, memref<2x5x4xf32, #tir.scope<texture, []>>, memref<2x5x4xf32>
    cl.return
  }
}

// -----

// In place, through reshapes too, and one after the other: %a, %b and %c are the same bytes.
// CHECK-LABEL: cl.program @in_place
// CHECK-NEXT:    %arena = cl.arena : memref<256xi8>
// CHECK-NEXT:    %a = cl.buffer_view %arena[0] : memref<64xf32>
// CHECK-NEXT:    cl.enqueue_kernel @relu(%x, %a)
// CHECK-NEXT:    %b = cl.buffer_view %arena[0] : memref<8x8xf32>
// CHECK-NEXT:    %v = cl.view %b : memref<8x8xf32> to memref<64xf32>
// CHECK-NEXT:    cl.enqueue_kernel @relu(%a, %v)
// CHECK-NEXT:    %c = cl.buffer_view %arena[0] : memref<64xf32>
// CHECK-NEXT:    cl.enqueue_kernel @add(%x, %v, %c)
// CHECK-NEXT:    cl.enqueue_kernel @relu(%c, %y)
// CHECK-NEXT:    cl.return
builtin.module {
  cl.kernel @relu(memref<64xf32>, memref<64xf32>) outputs [1] global [64] local [1] in_place [[0, 1]]
  cl.kernel @add(memref<64xf32>, memref<64xf32>, memref<64xf32>) outputs [2] global [64] local [1] in_place [[0, 2], [1, 2]]
  cl.program @in_place(%x: memref<64xf32> {cl.name = "x"}, %y: memref<64xf32> {cl.name = "y"}) inputs 1 {
    %a = cl.alloc : memref<64xf32>
    cl.enqueue_kernel @relu(%x, %a) : memref<64xf32>, memref<64xf32>
    %b = cl.alloc : memref<8x8xf32>
    %v = cl.view %b : memref<8x8xf32> to memref<64xf32>
    cl.enqueue_kernel @relu(%a, %v) : memref<64xf32>, memref<64xf32>
    %c = cl.alloc : memref<64xf32>
    cl.enqueue_kernel @add(%x, %v, %c) : memref<64xf32>, memref<64xf32>, memref<64xf32>
    cl.enqueue_kernel @relu(%c, %y) : memref<64xf32>, memref<64xf32>
    cl.return
  }
}

// -----

// Not in place: %b, for %a is read later; %c, for its other operand is the same memory; %d, for
// only part of what it would overwrite is given to the kernel.
// CHECK-LABEL: cl.program @apart
// CHECK-NEXT:    %arena = cl.arena : memref<896xi8>
// CHECK-DAG:     %a = cl.buffer_view %arena[0] : memref<64xf32>
// CHECK-DAG:     %b = cl.buffer_view %arena[256] : memref<64xf32>
// CHECK-DAG:     %c = cl.buffer_view %arena[512] : memref<64xf32>
// CHECK-DAG:     %d = cl.buffer_view %arena[768] : memref<32xf32>
builtin.module {
  cl.kernel @relu(memref<64xf32>, memref<64xf32>) outputs [1] global [64] local [1] in_place [[0, 1]]
  cl.kernel @half(memref<32xf32>, memref<32xf32>) outputs [1] global [32] local [1] in_place [[0, 1]]
  cl.kernel @add(memref<64xf32>, memref<64xf32>, memref<64xf32>) outputs [2] global [64] local [1] in_place [[0, 2], [1, 2]]
  cl.kernel @join(memref<64xf32>, memref<64xf32>, memref<32xf32>, memref<64xf32>) outputs [3] global [64] local [1]
  cl.program @apart(%x: memref<64xf32> {cl.name = "x"}, %y: memref<64xf32> {cl.name = "y"}) inputs 1 {
    %a = cl.alloc : memref<64xf32>
    cl.enqueue_kernel @relu(%x, %a) : memref<64xf32>, memref<64xf32>
    %b = cl.alloc : memref<64xf32>
    cl.enqueue_kernel @relu(%a, %b) : memref<64xf32>, memref<64xf32>
    %c = cl.alloc : memref<64xf32>
    cl.enqueue_kernel @add(%b, %b, %c) : memref<64xf32>, memref<64xf32>, memref<64xf32>
    %part = cl.view %c[128] : memref<64xf32> to memref<32xf32>
    %d = cl.alloc : memref<32xf32>
    cl.enqueue_kernel @half(%part, %d) : memref<32xf32>, memref<32xf32>
    cl.enqueue_kernel @join(%a, %b, %d, %y) : memref<64xf32>, memref<64xf32>, memref<32xf32>, memref<64xf32>
    cl.return
  }
}

// -----

// A concatenation is one buffer, written in parts: it lives from the first to the last of them.
// CHECK-LABEL: cl.program @concat
// CHECK-NEXT:    %arena = cl.arena : memref<512xi8>
// CHECK-NEXT:    %joined = cl.buffer_view %arena[0] : memref<2x32xf32>
// CHECK-NEXT:    %low = cl.view %joined[0] : memref<2x32xf32> to memref<32xf32>
// CHECK-NEXT:    %high = cl.view %joined[128] : memref<2x32xf32> to memref<32xf32>
// CHECK-NEXT:    cl.enqueue_kernel @k(%x, %low)
// CHECK-NEXT:    %t = cl.buffer_view %arena[256] : memref<32xf32>
// CHECK-NEXT:    cl.enqueue_kernel @k(%low, %t)
// CHECK-NEXT:    cl.enqueue_kernel @k(%t, %high)
// CHECK-NEXT:    %u = cl.buffer_view %arena[256] : memref<2x32xf32>
// CHECK-NEXT:    cl.enqueue_copy %joined, %u
builtin.module {
  cl.kernel @k(memref<32xf32>, memref<32xf32>) outputs [1] global [32] local [1]
  cl.program @concat(%x: memref<32xf32> {cl.name = "x"}, %y: memref<2x32xf32> {cl.name = "y"}) inputs 1 {
    %joined = cl.alloc : memref<2x32xf32>
    %low = cl.view %joined[0] : memref<2x32xf32> to memref<32xf32>
    %high = cl.view %joined[128] : memref<2x32xf32> to memref<32xf32>
    cl.enqueue_kernel @k(%x, %low) : memref<32xf32>, memref<32xf32>
    %t = cl.alloc : memref<32xf32>
    cl.enqueue_kernel @k(%low, %t) : memref<32xf32>, memref<32xf32>
    cl.enqueue_kernel @k(%t, %high) : memref<32xf32>, memref<32xf32>
    %u = cl.alloc : memref<2x32xf32>
    cl.enqueue_copy %joined, %u : memref<2x32xf32>
    cl.enqueue_copy %u, %y : memref<2x32xf32>
    cl.return
  }
}

// -----

// No buffer of this target has more than 256 bytes, so there are two arenas.
// CHECK-LABEL: cl.program @arenas
// CHECK-NEXT:    [[one:%.*]] = cl.arena : memref<256xi8>
// CHECK-NEXT:    [[two:%.*]] = cl.arena : memref<160xi8>
// CHECK-NEXT:    %a = cl.buffer_view [[one]][0] : memref<64xf32>
// CHECK-NEXT:    cl.enqueue_kernel @grow(%x, %a)
// CHECK-NEXT:    %b = cl.buffer_view [[two]][0] : memref<40xf32>
// CHECK-NEXT:    cl.enqueue_kernel @shrink(%a, %b)
// CHECK-NEXT:    cl.enqueue_copy %b, %y
builtin.module attributes {cl.target = #cl.target<"device", {max_alloc_bytes = 256 : i64}>} {
  cl.kernel @grow(memref<40xf32>, memref<64xf32>) outputs [1] global [64] local [1]
  cl.kernel @shrink(memref<64xf32>, memref<40xf32>) outputs [1] global [40] local [1]
  cl.program @arenas(%x: memref<40xf32> {cl.name = "x"}, %y: memref<40xf32> {cl.name = "y"}) inputs 1 {
    %a = cl.alloc : memref<64xf32>
    cl.enqueue_kernel @grow(%x, %a) : memref<40xf32>, memref<64xf32>
    %b = cl.alloc : memref<40xf32>
    cl.enqueue_kernel @shrink(%a, %b) : memref<64xf32>, memref<40xf32>
    cl.enqueue_copy %b, %y : memref<40xf32>
    cl.return
  }
}
