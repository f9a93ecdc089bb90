// RUN: clopt %s --split-input-file --verify-diagnostics

// What an arena and its views are, each by itself.

builtin.module {
  cl.program @main(%x: memref<4xf32> {cl.name = "x"}, %y: memref<4xf32> {cl.name = "y"}) inputs 1 {
    // expected-error@+1 {{an arena must be a row of bytes, memref<…xi8>, not memref<4x4xi8>}}
    %arena = cl.arena : memref<4x4xi8>
    cl.enqueue_copy %x, %y : memref<4xf32>
    cl.return
  }
}

// -----

builtin.module {
  cl.program @main(%x: memref<4xf32> {cl.name = "x"}, %y: memref<4xf32> {cl.name = "y"}) inputs 1 {
    // expected-error@+1 {{an arena must not be empty; remove an arena without views}}
    %arena = cl.arena : memref<0xi8>
    cl.enqueue_copy %x, %y : memref<4xf32>
    cl.return
  }
}

// -----

builtin.module {
  cl.program @main(%x: memref<4xf32> {cl.name = "x"}, %y: memref<4xf32> {cl.name = "y"}) inputs 1 {
    // expected-error@+1 {{an arena must be defined before its views}}
    %t = cl.buffer_view %arena[0] : memref<4xf32>
    %arena = cl.arena : memref<16xi8>
    cl.enqueue_copy %x, %y : memref<4xf32>
    cl.return
  }
}

// -----

builtin.module {
  cl.program @main(%x: memref<4xf32> {cl.name = "x"}, %y: memref<4xf32> {cl.name = "y"}) inputs 1 {
    // expected-error@+1 {{a buffer or image of memref<4xf32> must be a view of a cl.arena}}
    %t = cl.buffer_view %y[0] : memref<4xf32>
    cl.enqueue_copy %x, %y : memref<4xf32>
    cl.return
  }
}

// -----

builtin.module {
  cl.program @main(%x: memref<4xf32> {cl.name = "x"}, %y: memref<4xf32> {cl.name = "y"}) inputs 1 {
    %arena = cl.arena : memref<16xi8>
    // expected-error@+1 {{memref<4x0xf32> is empty, so it cannot be a view of an arena}}
    %t = cl.buffer_view %arena[0] : memref<4x0xf32>
    cl.enqueue_copy %x, %y : memref<4xf32>
    cl.return
  }
}

// -----

builtin.module {
  cl.program @main(%x: memref<4xf32> {cl.name = "x"}, %y: memref<4xf32> {cl.name = "y"}) inputs 1 {
    %arena = cl.arena : memref<143xi8>
    // expected-error@+1 {{the 16 bytes of memref<4xf32> from byte 128 on exceed an arena of 143 bytes}}
    %t = cl.buffer_view %arena[128] : memref<4xf32>
    cl.enqueue_copy %x, %y : memref<4xf32>
    cl.return
  }
}

// -----

builtin.module {
  cl.program @main(%x: memref<4xf32> {cl.name = "x"}, %y: memref<4xf32> {cl.name = "y"}) inputs 1 {
    %arena = cl.arena : memref<143xi8>
    // expected-error@+1 {{the 16 bytes of memref<4xf32> from byte -1 on exceed an arena of 143 bytes}}
    %t = cl.buffer_view %arena[-1] : memref<4xf32>
    cl.enqueue_copy %x, %y : memref<4xf32>
    cl.return
  }
}

// -----

builtin.module {
  cl.program @main(%x: memref<4xf32> {cl.name = "x"}, %y: memref<4xf32> {cl.name = "y"}) inputs 1 {
    %arena = cl.arena : memref<16xi8>
    // expected-error@+1 {{memref<1x4xf32, #tir.scope<texture, []>> is a texture: use cl.image_view}}
    %t = cl.buffer_view %arena[0] : memref<1x4xf32, #tir.scope<texture, []>>
    cl.enqueue_copy %x, %y : memref<4xf32>
    cl.return
  }
}

// -----

builtin.module {
  cl.program @main(%x: memref<4xf32> {cl.name = "x"}, %y: memref<4xf32> {cl.name = "y"}) inputs 1 {
    %arena = cl.arena : memref<16xi8>
    // expected-error@+1 {{memref<1x4xf32> is not a texture: use cl.buffer_view}}
    %t = cl.image_view %arena[0] : memref<1x4xf32>
    cl.enqueue_copy %x, %y : memref<4xf32>
    cl.return
  }
}

// -----

builtin.module {
  cl.program @main(%x: memref<4xf32> {cl.name = "x"}, %y: memref<4xf32> {cl.name = "y"}) inputs 1 {
    %arena = cl.arena : memref<16xi8>
    // expected-error@+1 {{an image1d_buffer has one row, so it must not have a pitch}}
    %t = cl.image_view %arena[0] pitch 16 : memref<1x4xf32, #tir.scope<texture, []>>
    cl.enqueue_copy %x, %y : memref<4xf32>
    cl.return
  }
}

// -----

builtin.module {
  cl.program @main(%x: memref<4xf32> {cl.name = "x"}, %y: memref<4xf32> {cl.name = "y"}) inputs 1 {
    %arena = cl.arena : memref<256xi8>
    // expected-error@+1 {{an image2d in an arena must have a pitch: write pitch BYTES}}
    %t = cl.image_view %arena[0] : memref<2x8x4xf32, #tir.scope<texture, [1]>>
    cl.enqueue_copy %x, %y : memref<4xf32>
    cl.return
  }
}

// -----

builtin.module {
  cl.program @main(%x: memref<4xf32> {cl.name = "x"}, %y: memref<4xf32> {cl.name = "y"}) inputs 1 {
    %arena = cl.arena : memref<256xi8>
    // expected-error@+1 {{a pitch of 64 bytes cannot hold rows of 128 bytes in whole texels of 16}}
    %t = cl.image_view %arena[0] pitch 64 : memref<2x8x4xf32, #tir.scope<texture, [1]>>
    cl.enqueue_copy %x, %y : memref<4xf32>
    cl.return
  }
}

// -----

builtin.module {
  cl.program @main(%x: memref<4xf32> {cl.name = "x"}, %y: memref<4xf32> {cl.name = "y"}) inputs 1 {
    %arena = cl.arena : memref<512xi8>
    // expected-error@+1 {{a pitch of 136 bytes cannot hold rows of 128 bytes in whole texels of 16}}
    %t = cl.image_view %arena[0] pitch 136 : memref<2x8x4xf32, #tir.scope<texture, [1]>>
    cl.enqueue_copy %x, %y : memref<4xf32>
    cl.return
  }
}

// -----

builtin.module {
  cl.program @main(%x: memref<4xf32> {cl.name = "x"}, %y: memref<4xf32> {cl.name = "y"}) inputs 1 {
    %arena = cl.arena : memref<256xi8>
    // expected-error@+1 {{the 384 bytes of memref<2x8x4xf32, #tir.scope<texture, [1]>> from byte 0 on exceed an arena of 256 bytes}}
    %t = cl.image_view %arena[0] pitch 192 : memref<2x8x4xf32, #tir.scope<texture, [1]>>
    cl.enqueue_copy %x, %y : memref<4xf32>
    cl.return
  }
}

// -----

builtin.module {
  cl.program @main(%x: memref<4xf32> {cl.name = "x"}, %y: memref<4xf32> {cl.name = "y"}) inputs 1 {
    %arena = cl.arena : memref<256xi8>
    // expected-error@+1 {{an image2d_array cannot be a view of a buffer: keep its cl.alloc}}
    %t = cl.image_view %arena[0] pitch 128 : memref<2x8x1x4xf32, #tir.scope<texture, [1, 2]>>
    cl.enqueue_copy %x, %y : memref<4xf32>
    cl.return
  }
}

// -----

builtin.module {
  // expected-error@+1 {{cl.enqueue_copy uses the arena %arena itself; make a cl.buffer_view}}
  cl.program @main(%x: memref<16xi8> {cl.name = "x"}, %y: memref<16xi8> {cl.name = "y"}) inputs 1 {
    %arena = cl.arena : memref<16xi8>
    cl.enqueue_copy %x, %arena : memref<16xi8>
    cl.enqueue_copy %arena, %y : memref<16xi8>
    cl.return
  }
}

// -----

// Parts of values.

builtin.module {
  cl.program @main(%x: memref<4xf32> {cl.name = "x"}, %y: memref<4xf32> {cl.name = "y"}) inputs 1 {
    // expected-error@+1 {{the 8 bytes of memref<2xf32> from byte 12 on exceed the 16 bytes of memref<4xf32>}}
    %v = cl.view %x[12] : memref<4xf32> to memref<2xf32>
    cl.enqueue_copy %x, %y : memref<4xf32>
    cl.return
  }
}

// -----

builtin.module {
  cl.program @main(%x: memref<4xf32> {cl.name = "x"}, %y: memref<4xf32> {cl.name = "y"}) inputs 1 {
    // expected-error@+1 {{the 0 bytes of memref<0xf32> from byte 4 on exceed the 16 bytes of memref<4xf32>}}
    %v = cl.view %x[4] : memref<4xf32> to memref<0xf32>
    cl.enqueue_copy %x, %y : memref<4xf32>
    cl.return
  }
}

// -----

builtin.module {
  cl.program @main(%x: memref<8xf32> {cl.name = "x"}, %y: memref<8xf32> {cl.name = "y"}) inputs 1 {
    // expected-error@+1 {{a view must have the size of its source, but memref<8xf32> has 32 and memref<4xf32> has 16}}
    %v = cl.view %x : memref<8xf32> to memref<4xf32>
    cl.enqueue_copy %x, %y : memref<8xf32>
    cl.return
  }
}

// -----

builtin.module {
  cl.program @main(%x: memref<2x8x4xf32> {cl.name = "x"}, %y: memref<2x8x4xf32> {cl.name = "y"}) inputs 1 {
    %t = cl.alloc : memref<2x8x4xf32, #tir.scope<texture, [1]>>
    // expected-error@+1 {{memref<2x8x4xf32, #tir.scope<texture, [1]>> is not backed by a buffer}}
    %v = cl.view %t[128] : memref<2x8x4xf32, #tir.scope<texture, [1]>> to memref<8x4xf32>
    cl.enqueue_copy %x, %y : memref<2x8x4xf32>
    cl.return
  }
}

// -----

builtin.module {
  // expected-error@+1 {{cl.view uses %t before it is defined}}
  cl.program @main(%x: memref<4xf32> {cl.name = "x"}, %y: memref<4xf32> {cl.name = "y"}) inputs 1 {
    %v = cl.view %t : memref<2x2xf32> to memref<4xf32>
    %t = cl.alloc : memref<2x2xf32>
    cl.enqueue_copy %x, %y : memref<4xf32>
    cl.return
  }
}

// -----

// Kernels that compute in place.

builtin.module {
  // expected-error@+1 {{in_place must list pairs of an input and an output}}
  cl.kernel @add(memref<4xf32>, memref<4xf32>, memref<4xf32>) outputs [2] global [4] local [1] in_place [[0, 1, 2]]
}

// -----

builtin.module {
  // expected-error@+1 {{in_place [0, 1] must be an input and an output of 3 parameters}}
  cl.kernel @add(memref<4xf32>, memref<4xf32>, memref<4xf32>) outputs [2] global [4] local [1] in_place [[0, 1]]
}

// -----

builtin.module {
  // expected-error@+1 {{in_place [3, 2] must be an input and an output of 3 parameters}}
  cl.kernel @add(memref<4xf32>, memref<4xf32>, memref<4xf32>) outputs [2] global [4] local [1] in_place [[3, 2]]
}

// -----

builtin.module {
  // expected-error@+1 {{in_place [0, 1]: parameter 1 is an image, which a kernel cannot both read and write}}
  cl.kernel @relu(memref<1x4xf32>, memref<1x4xf32, #tir.scope<texture, []>>) outputs [1] global [4] local [1] in_place [[0, 1]]
}

// -----

builtin.module {
  // expected-error@+1 {{in_place must list pairs, array<i64: input, output>, not 0 : i64}}
  "cl.kernel"() <{sym_name = "relu", arg_types = [memref<4xf32>, memref<4xf32>], outputs = array<i64: 1>, global_size = array<i64: 4>, local_size = array<i64: 1>, in_place = [0]}> : () -> ()
}
