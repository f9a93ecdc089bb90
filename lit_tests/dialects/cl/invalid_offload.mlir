// RUN: clopt %s --split-input-file --verify-diagnostics

// What commands of CLML graphs are given, and in which order.

builtin.module {
  clml.graph @g(%x: !clml.tensor<1x4x4x4xf32, nchw>) -> !clml.tensor<1x4x4x4xf32, nchw> version 3 arithmetic fp32 {
    %a = clml.copy %x : !clml.tensor<1x4x4x4xf32, nchw> -> !clml.tensor<1x4x4x4xf32, optimal>
    %b = clml.activation tanh %a : (!clml.tensor<1x4x4x4xf32, optimal>) -> !clml.tensor<1x4x4x4xf32, optimal>
    %y = clml.copy %b : !clml.tensor<1x4x4x4xf32, optimal> -> !clml.tensor<1x4x4x4xf32, nchw>
    clml.return %y : !clml.tensor<1x4x4x4xf32, nchw>
  }
  // expected-error@+1 {{cl.enqueue_offload @h[0]: the module has no such graph}}
  cl.program @main(%x: memref<1x4x4x4xf32> {cl.name = "x"}, %y: memref<1x4x4x4xf32> {cl.name = "y"}) inputs 1 {
    %a = cl.alloc : memref<256xi8>
    cl.enqueue_offload @h[0] (%x) -> (%a) : memref<1x4x4x4xf32>, memref<256xi8>
    cl.return
  }
}

// -----

builtin.module {
  clml.graph @g(%x: !clml.tensor<1x4x4x4xf32, nchw>) -> !clml.tensor<1x4x4x4xf32, nchw> version 3 arithmetic fp32 {
    %a = clml.copy %x : !clml.tensor<1x4x4x4xf32, nchw> -> !clml.tensor<1x4x4x4xf32, optimal>
    %b = clml.activation tanh %a : (!clml.tensor<1x4x4x4xf32, optimal>) -> !clml.tensor<1x4x4x4xf32, optimal>
    %y = clml.copy %b : !clml.tensor<1x4x4x4xf32, optimal> -> !clml.tensor<1x4x4x4xf32, nchw>
    clml.return %y : !clml.tensor<1x4x4x4xf32, nchw>
  }
  // expected-error@+1 {{cl.enqueue_offload @g[3]: the graph has 3 commands, from 0}}
  cl.program @main(%x: memref<1x4x4x4xf32> {cl.name = "x"}, %y: memref<1x4x4x4xf32> {cl.name = "y"}) inputs 1 {
    %a = cl.alloc : memref<256xi8>
    cl.enqueue_offload @g[3] (%x) -> (%a) : memref<1x4x4x4xf32>, memref<256xi8>
    cl.return
  }
}

// -----

builtin.module {
  clml.graph @g(%x: !clml.tensor<1x4x4x4xf32, nchw>) -> !clml.tensor<1x4x4x4xf32, nchw> version 3 arithmetic fp32 {
    %a = clml.copy %x : !clml.tensor<1x4x4x4xf32, nchw> -> !clml.tensor<1x4x4x4xf32, optimal>
    %b = clml.activation tanh %a : (!clml.tensor<1x4x4x4xf32, optimal>) -> !clml.tensor<1x4x4x4xf32, optimal>
    %y = clml.copy %b : !clml.tensor<1x4x4x4xf32, optimal> -> !clml.tensor<1x4x4x4xf32, nchw>
    clml.return %y : !clml.tensor<1x4x4x4xf32, nchw>
  }
  // expected-error@+1 {{cl.enqueue_offload @g[0] is given 2 memories to read and 1 to write, but clml.copy has 1 non-constant tensors to read and 1 to write}}
  cl.program @main(%x: memref<1x4x4x4xf32> {cl.name = "x"}, %y: memref<1x4x4x4xf32> {cl.name = "y"}) inputs 1 {
    %a = cl.alloc : memref<256xi8>
    cl.enqueue_offload @g[0] (%x, %x) -> (%a) : memref<1x4x4x4xf32>, memref<1x4x4x4xf32>, memref<256xi8>
    cl.return
  }
}

// -----

builtin.module {
  clml.graph @g(%x: !clml.tensor<1x4x4x4xf32, nchw>) -> !clml.tensor<1x4x4x4xf32, nchw> version 3 arithmetic fp32 {
    %a = clml.copy %x : !clml.tensor<1x4x4x4xf32, nchw> -> !clml.tensor<1x4x4x4xf32, optimal>
    %b = clml.activation tanh %a : (!clml.tensor<1x4x4x4xf32, optimal>) -> !clml.tensor<1x4x4x4xf32, optimal>
    %y = clml.copy %b : !clml.tensor<1x4x4x4xf32, optimal> -> !clml.tensor<1x4x4x4xf32, nchw>
    clml.return %y : !clml.tensor<1x4x4x4xf32, nchw>
  }
  // expected-error@+1 {{cl.enqueue_offload @g[0] is given 1 memories to read and 0 to write, but clml.copy has}}
  cl.program @main(%x: memref<1x4x4x4xf32> {cl.name = "x"}, %y: memref<1x4x4x4xf32> {cl.name = "y"}) inputs 1 {
    cl.enqueue_offload @g[0] (%x) -> () : memref<1x4x4x4xf32>
    cl.return
  }
}

// -----

builtin.module {
  clml.graph @g(%x: !clml.tensor<1x4x4x4xf32, nchw>) -> !clml.tensor<1x4x4x4xf32, nchw> version 3 arithmetic fp32 {
    %a = clml.copy %x : !clml.tensor<1x4x4x4xf32, nchw> -> !clml.tensor<1x4x4x4xf32, optimal>
    %b = clml.activation tanh %a : (!clml.tensor<1x4x4x4xf32, optimal>) -> !clml.tensor<1x4x4x4xf32, optimal>
    %y = clml.copy %b : !clml.tensor<1x4x4x4xf32, optimal> -> !clml.tensor<1x4x4x4xf32, nchw>
    clml.return %y : !clml.tensor<1x4x4x4xf32, nchw>
  }
  // expected-error@+1 {{cl.enqueue_offload @g[0] is given %a, memref<255xi8>, as the memory of !clml.tensor<1x4x4x4xf32, optimal>; that is memref<256xi8>, or the same bytes in another shape}}
  cl.program @main(%x: memref<1x4x4x4xf32> {cl.name = "x"}, %y: memref<1x4x4x4xf32> {cl.name = "y"}) inputs 1 {
    %a = cl.alloc : memref<255xi8>
    cl.enqueue_offload @g[0] (%x) -> (%a) : memref<1x4x4x4xf32>, memref<255xi8>
    cl.return
  }
}

// -----

builtin.module {
  clml.graph @g(%x: !clml.tensor<1x4x4x4xf32, nchw>) -> !clml.tensor<1x4x4x4xf32, nchw> version 3 arithmetic fp32 {
    %a = clml.copy %x : !clml.tensor<1x4x4x4xf32, nchw> -> !clml.tensor<1x4x4x4xf32, optimal>
    %b = clml.activation tanh %a : (!clml.tensor<1x4x4x4xf32, optimal>) -> !clml.tensor<1x4x4x4xf32, optimal>
    %y = clml.copy %b : !clml.tensor<1x4x4x4xf32, optimal> -> !clml.tensor<1x4x4x4xf32, nchw>
    clml.return %y : !clml.tensor<1x4x4x4xf32, nchw>
  }
  // expected-error@+1 {{cl.enqueue_offload @g[0] is given %a, memref<64xf32>, as the memory of !clml.tensor<1x4x4x4xf32, optimal>; that is memref<256xi8>}}
  cl.program @main(%x: memref<1x4x4x4xf32> {cl.name = "x"}, %y: memref<1x4x4x4xf32> {cl.name = "y"}) inputs 1 {
    %a = cl.alloc : memref<64xf32>
    cl.enqueue_offload @g[0] (%x) -> (%a) : memref<1x4x4x4xf32>, memref<64xf32>
    cl.return
  }
}

// -----

builtin.module {
  clml.graph @g(%x: !clml.tensor<1x4x4x4xf32, nchw>) -> !clml.tensor<1x4x4x4xf32, nchw> version 3 arithmetic fp32 {
    %a = clml.copy %x : !clml.tensor<1x4x4x4xf32, nchw> -> !clml.tensor<1x4x4x4xf32, optimal>
    %b = clml.activation tanh %a : (!clml.tensor<1x4x4x4xf32, optimal>) -> !clml.tensor<1x4x4x4xf32, optimal>
    %y = clml.copy %b : !clml.tensor<1x4x4x4xf32, optimal> -> !clml.tensor<1x4x4x4xf32, nchw>
    clml.return %y : !clml.tensor<1x4x4x4xf32, nchw>
  }
  // expected-error@+1 {{cl.enqueue_offload @g[2] is given %h, memref<1x4x4x4xf16>, as the memory of !clml.tensor<1x4x4x4xf32, nchw>; that is memref<1x4x4x4xf32>}}
  cl.program @main(%x: memref<1x4x4x4xf32> {cl.name = "x"}, %y: memref<1x4x4x4xf32> {cl.name = "y"}) inputs 1 {
    %a = cl.alloc : memref<256xi8>
    %b = cl.alloc : memref<256xi8>
    %h = cl.alloc : memref<1x4x4x4xf16>
    cl.enqueue_offload @g[0] (%x) -> (%a) : memref<1x4x4x4xf32>, memref<256xi8>
    cl.enqueue_offload @g[1] (%a) -> (%b) : memref<256xi8>, memref<256xi8>
    cl.enqueue_offload @g[2] (%b) -> (%h) : memref<256xi8>, memref<1x4x4x4xf16>
    cl.return
  }
}

// -----

builtin.module attributes {cl.target = #cl.target<"phone", {images = true, max_image_buffer_texels = 64 : i64, image1d_buffer = true, max_read_images = 1 : i64, max_write_images = 1 : i64}>} {
  clml.graph @g(%x: !clml.tensor<1x4x4x4xf32, nchw>) -> !clml.tensor<1x4x4x4xf32, nchw> version 3 arithmetic fp32 {
    %a = clml.copy %x : !clml.tensor<1x4x4x4xf32, nchw> -> !clml.tensor<1x4x4x4xf32, optimal>
    %b = clml.activation tanh %a : (!clml.tensor<1x4x4x4xf32, optimal>) -> !clml.tensor<1x4x4x4xf32, optimal>
    %y = clml.copy %b : !clml.tensor<1x4x4x4xf32, optimal> -> !clml.tensor<1x4x4x4xf32, nchw>
    clml.return %y : !clml.tensor<1x4x4x4xf32, nchw>
  }
  // expected-error@+1 {{cl.enqueue_offload @g[2] is given %t, memref<1x4x4x4xf32, #tir.scope<texture, []>>, as the memory of !clml.tensor<1x4x4x4xf32, nchw>; that is memref<1x4x4x4xf32>}}
  cl.program @main(%x: memref<1x4x4x4xf32> {cl.name = "x"}, %y: memref<1x4x4x4xf32> {cl.name = "y"}) inputs 1 {
    %a = cl.alloc : memref<256xi8>
    %b = cl.alloc : memref<256xi8>
    %t = cl.alloc : memref<1x4x4x4xf32, #tir.scope<texture, []>>
    cl.enqueue_offload @g[0] (%x) -> (%a) : memref<1x4x4x4xf32>, memref<256xi8>
    cl.enqueue_offload @g[1] (%a) -> (%b) : memref<256xi8>, memref<256xi8>
    cl.enqueue_offload @g[2] (%b) -> (%t) : memref<256xi8>, memref<1x4x4x4xf32, #tir.scope<texture, []>>
    cl.return
  }
}

// -----

builtin.module {
  clml.graph @g(%x: !clml.tensor<1x4x4x4xf32, nchw>) -> !clml.tensor<1x4x4x4xf32, nchw> version 3 arithmetic fp32 {
    %a = clml.copy %x : !clml.tensor<1x4x4x4xf32, nchw> -> !clml.tensor<1x4x4x4xf32, optimal>
    %b = clml.activation tanh %a : (!clml.tensor<1x4x4x4xf32, optimal>) -> !clml.tensor<1x4x4x4xf32, optimal>
    %y = clml.copy %b : !clml.tensor<1x4x4x4xf32, optimal> -> !clml.tensor<1x4x4x4xf32, nchw>
    clml.return %y : !clml.tensor<1x4x4x4xf32, nchw>
  }
  // expected-error@+1 {{cl.enqueue_offload @g[0] is enqueued twice, but a graph runs once per inference; give each call its own graph}}
  cl.program @main(%x: memref<1x4x4x4xf32> {cl.name = "x"}, %y: memref<1x4x4x4xf32> {cl.name = "y"}) inputs 1 {
    %a = cl.alloc : memref<256xi8>
    %b = cl.alloc : memref<256xi8>
    cl.enqueue_offload @g[0] (%x) -> (%a) : memref<1x4x4x4xf32>, memref<256xi8>
    cl.enqueue_offload @g[0] (%x) -> (%a) : memref<1x4x4x4xf32>, memref<256xi8>
    cl.enqueue_offload @g[1] (%a) -> (%b) : memref<256xi8>, memref<256xi8>
    cl.enqueue_offload @g[2] (%b) -> (%y) : memref<256xi8>, memref<1x4x4x4xf32>
    cl.return
  }
}

// -----

builtin.module {
  clml.graph @g(%x: !clml.tensor<1x4x4x4xf32, nchw>) -> !clml.tensor<1x4x4x4xf32, nchw> version 3 arithmetic fp32 {
    %a = clml.copy %x : !clml.tensor<1x4x4x4xf32, nchw> -> !clml.tensor<1x4x4x4xf32, optimal>
    %b = clml.activation tanh %a : (!clml.tensor<1x4x4x4xf32, optimal>) -> !clml.tensor<1x4x4x4xf32, optimal>
    %y = clml.copy %b : !clml.tensor<1x4x4x4xf32, optimal> -> !clml.tensor<1x4x4x4xf32, nchw>
    clml.return %y : !clml.tensor<1x4x4x4xf32, nchw>
  }
  // expected-error@+1 {{command 1 of the graph @g, clml.activation, is not enqueued, but other commands are; a graph must run as a whole}}
  cl.program @main(%x: memref<1x4x4x4xf32> {cl.name = "x"}, %y: memref<1x4x4x4xf32> {cl.name = "y"}) inputs 1 {
    %a = cl.alloc : memref<256xi8>
    %b = cl.alloc : memref<256xi8>
    cl.enqueue_offload @g[0] (%x) -> (%a) : memref<1x4x4x4xf32>, memref<256xi8>
    cl.enqueue_copy %x, %y : memref<1x4x4x4xf32>
    cl.return
  }
}

// -----

builtin.module {
  clml.graph @g(%x: !clml.tensor<1x4x4x4xf32, nchw>) -> !clml.tensor<1x4x4x4xf32, nchw> version 3 arithmetic fp32 {
    %a = clml.copy %x : !clml.tensor<1x4x4x4xf32, nchw> -> !clml.tensor<1x4x4x4xf32, optimal>
    %b = clml.activation tanh %a : (!clml.tensor<1x4x4x4xf32, optimal>) -> !clml.tensor<1x4x4x4xf32, optimal>
    %y = clml.copy %b : !clml.tensor<1x4x4x4xf32, optimal> -> !clml.tensor<1x4x4x4xf32, nchw>
    clml.return %y : !clml.tensor<1x4x4x4xf32, nchw>
  }
  // expected-error@+1 {{cl.enqueue_offload @g[1] reads %a before it is written}}
  cl.program @main(%x: memref<1x4x4x4xf32> {cl.name = "x"}, %y: memref<1x4x4x4xf32> {cl.name = "y"}) inputs 1 {
    %a = cl.alloc : memref<256xi8>
    %b = cl.alloc : memref<256xi8>
    cl.enqueue_offload @g[1] (%a) -> (%b) : memref<256xi8>, memref<256xi8>
    cl.return
  }
}

// -----

builtin.module {
  clml.graph @p(%x: !clml.tensor<1x4x4x4xf32, nchw>) -> !clml.tensor<1x4x4x4xf32, nchw> version 3 arithmetic fp32 {
    %a = clml.activation tanh %x : (!clml.tensor<1x4x4x4xf32, nchw>) -> !clml.tensor<1x4x4x4xf32, nchw>
    %y = clml.binary add %x, %a : (!clml.tensor<1x4x4x4xf32, nchw>, !clml.tensor<1x4x4x4xf32, nchw>) -> !clml.tensor<1x4x4x4xf32, nchw>
    clml.return %y : !clml.tensor<1x4x4x4xf32, nchw>
  }
  // expected-error@+1 {{cl.enqueue_offload @p[1] needs the result of command 0 of its graph, clml.activation, which is not enqueued before it}}
  cl.program @main(%x: memref<1x4x4x4xf32> {cl.name = "x"}, %y: memref<1x4x4x4xf32> {cl.name = "y"}) inputs 1 {
    %a = cl.alloc : memref<1x4x4x4xf32>
    cl.enqueue_copy %x, %a : memref<1x4x4x4xf32>
    cl.enqueue_offload @p[1] (%x, %a) -> (%y) : memref<1x4x4x4xf32>, memref<1x4x4x4xf32>, memref<1x4x4x4xf32>
    cl.return
  }
}

// -----

builtin.module {
  clml.graph @g(%x: !clml.tensor<1x4x4x4xf32, nchw>) -> !clml.tensor<1x4x4x4xf32, nchw> version 3 arithmetic fp32 {
    %a = clml.copy %x : !clml.tensor<1x4x4x4xf32, nchw> -> !clml.tensor<1x4x4x4xf32, optimal>
    %b = clml.activation tanh %a : (!clml.tensor<1x4x4x4xf32, optimal>) -> !clml.tensor<1x4x4x4xf32, optimal>
    %y = clml.copy %b : !clml.tensor<1x4x4x4xf32, optimal> -> !clml.tensor<1x4x4x4xf32, nchw>
    clml.return %y : !clml.tensor<1x4x4x4xf32, nchw>
  }
  // expected-error@+1 {{cl.enqueue_offload @g[1] is given %c as the memory of !clml.tensor<1x4x4x4xf32, optimal>, which was %a in another command of @g; a tensor must have one memory}}
  cl.program @main(%x: memref<1x4x4x4xf32> {cl.name = "x"}, %y: memref<1x4x4x4xf32> {cl.name = "y"}) inputs 1 {
    %a = cl.alloc : memref<256xi8>
    %b = cl.alloc : memref<256xi8>
    %c = cl.alloc : memref<256xi8>
    cl.enqueue_offload @g[0] (%x) -> (%a) : memref<1x4x4x4xf32>, memref<256xi8>
    cl.enqueue_copy %a, %c : memref<256xi8>
    cl.enqueue_offload @g[1] (%c) -> (%b) : memref<256xi8>, memref<256xi8>
    cl.enqueue_offload @g[2] (%b) -> (%y) : memref<256xi8>, memref<1x4x4x4xf32>
    cl.return
  }
}

// -----

builtin.module {
  clml.graph @p(%x: !clml.tensor<1x4x4x4xf32, nchw>) -> !clml.tensor<1x4x4x4xf32, nchw> version 3 arithmetic fp32 {
    %a = clml.activation tanh %x : (!clml.tensor<1x4x4x4xf32, nchw>) -> !clml.tensor<1x4x4x4xf32, nchw>
    %y = clml.binary add %x, %a : (!clml.tensor<1x4x4x4xf32, nchw>, !clml.tensor<1x4x4x4xf32, nchw>) -> !clml.tensor<1x4x4x4xf32, nchw>
    clml.return %y : !clml.tensor<1x4x4x4xf32, nchw>
  }
  // expected-error@+1 {{cl.enqueue_offload @p[0] is given %v and writes %v, which share bytes 0 to 255 of %a: no command of a graph computes in place; give them different bytes}}
  cl.program @main(%x: memref<1x4x4x4xf32> {cl.name = "x"}, %y: memref<1x4x4x4xf32> {cl.name = "y"}) inputs 1 {
    %a = cl.alloc : memref<1x4x4x4xf32>
    %v = cl.view %a : memref<1x4x4x4xf32> to memref<64xf32>
    cl.enqueue_copy %x, %a : memref<1x4x4x4xf32>
    cl.enqueue_offload @p[0] (%v) -> (%v) : memref<64xf32>, memref<64xf32>
    cl.return
  }
}

// -----

builtin.module {
  clml.graph @g(%x: !clml.tensor<1x4x4x4xf32, nchw>) -> !clml.tensor<1x4x4x4xf32, nchw> version 3 arithmetic fp32 {
    %a = clml.copy %x : !clml.tensor<1x4x4x4xf32, nchw> -> !clml.tensor<1x4x4x4xf32, optimal>
    %b = clml.activation tanh %a : (!clml.tensor<1x4x4x4xf32, optimal>) -> !clml.tensor<1x4x4x4xf32, optimal>
    %y = clml.copy %b : !clml.tensor<1x4x4x4xf32, optimal> -> !clml.tensor<1x4x4x4xf32, nchw>
    clml.return %y : !clml.tensor<1x4x4x4xf32, nchw>
  }
  // expected-error@+1 {{cl.enqueue_offload @g[0] writes %x, which is an input}}
  cl.program @main(%x: memref<1x4x4x4xf32> {cl.name = "x"}, %y: memref<1x4x4x4xf32> {cl.name = "y"}) inputs 1 {
    cl.enqueue_offload @g[0] (%x) -> (%x) : memref<1x4x4x4xf32>, memref<1x4x4x4xf32>
    cl.return
  }
}

// -----

builtin.module {
  clml.graph @p(%x: !clml.tensor<1x4x4x4xf32, nchw>) -> !clml.tensor<1x4x4x4xf32, nchw> version 3 arithmetic fp32 {
    %a = clml.activation tanh %x : (!clml.tensor<1x4x4x4xf32, nchw>) -> !clml.tensor<1x4x4x4xf32, nchw>
    %y = clml.binary add %x, %a : (!clml.tensor<1x4x4x4xf32, nchw>, !clml.tensor<1x4x4x4xf32, nchw>) -> !clml.tensor<1x4x4x4xf32, nchw>
    clml.return %y : !clml.tensor<1x4x4x4xf32, nchw>
  }
  // expected-error@+1 {{cl.enqueue_offload @p[1] reads %a, but cl.enqueue_copy has overwritten it since @p used it first; give them different bytes}}
  cl.program @main(%x: memref<1x4x4x4xf32> {cl.name = "x"}, %y: memref<1x4x4x4xf32> {cl.name = "y"}) inputs 1 {
    %a = cl.alloc : memref<1x4x4x4xf32>
    cl.enqueue_offload @p[0] (%x) -> (%a) : memref<1x4x4x4xf32>, memref<1x4x4x4xf32>
    cl.enqueue_copy %x, %a : memref<1x4x4x4xf32>
    cl.enqueue_offload @p[1] (%x, %a) -> (%y) : memref<1x4x4x4xf32>, memref<1x4x4x4xf32>, memref<1x4x4x4xf32>
    cl.return
  }
}

// -----

builtin.module {
  clml.graph @p(%x: !clml.tensor<1x4x4x4xf32, nchw>) -> !clml.tensor<1x4x4x4xf32, nchw> version 3 arithmetic fp32 {
    %a = clml.activation tanh %x : (!clml.tensor<1x4x4x4xf32, nchw>) -> !clml.tensor<1x4x4x4xf32, nchw>
    %y = clml.binary add %x, %a : (!clml.tensor<1x4x4x4xf32, nchw>, !clml.tensor<1x4x4x4xf32, nchw>) -> !clml.tensor<1x4x4x4xf32, nchw>
    clml.return %y : !clml.tensor<1x4x4x4xf32, nchw>
  }
  // expected-error@+1 {{cl.enqueue_offload @p[1] reads %c, but cl.enqueue_copy has overwritten it since @p used it first}}
  cl.program @main(%x: memref<1x4x4x4xf32> {cl.name = "x"}, %y: memref<1x4x4x4xf32> {cl.name = "y"}) inputs 1 {
    %a = cl.alloc : memref<1x4x4x4xf32>
    %c = cl.alloc : memref<1x4x4x4xf32>
    cl.enqueue_copy %x, %c : memref<1x4x4x4xf32>
    cl.enqueue_offload @p[0] (%c) -> (%a) : memref<1x4x4x4xf32>, memref<1x4x4x4xf32>
    cl.enqueue_copy %a, %c : memref<1x4x4x4xf32>
    cl.enqueue_offload @p[1] (%c, %a) -> (%y) : memref<1x4x4x4xf32>, memref<1x4x4x4xf32>, memref<1x4x4x4xf32>
    cl.return
  }
}

// -----

builtin.module {
  cl.kernel @look(memref<256xi8>, memref<1x4x4x4xf32>) outputs [1] global [64] local [1]
  clml.graph @g(%x: !clml.tensor<1x4x4x4xf32, nchw>) -> !clml.tensor<1x4x4x4xf32, nchw> version 3 arithmetic fp32 {
    %a = clml.copy %x : !clml.tensor<1x4x4x4xf32, nchw> -> !clml.tensor<1x4x4x4xf32, optimal>
    %b = clml.activation tanh %a : (!clml.tensor<1x4x4x4xf32, optimal>) -> !clml.tensor<1x4x4x4xf32, optimal>
    %y = clml.copy %b : !clml.tensor<1x4x4x4xf32, optimal> -> !clml.tensor<1x4x4x4xf32, nchw>
    clml.return %y : !clml.tensor<1x4x4x4xf32, nchw>
  }
  // expected-error@+1 {{cl.enqueue_kernel @look uses %a, the memory of another tensor, !clml.tensor<1x4x4x4xf32, optimal>, which only commands of its graph can read or write; let the graph copy it to a plain tensor, or use other memory}}
  cl.program @main(%x: memref<1x4x4x4xf32> {cl.name = "x"}, %y: memref<1x4x4x4xf32> {cl.name = "y"}) inputs 1 {
    %a = cl.alloc : memref<256xi8>
    %b = cl.alloc : memref<256xi8>
    cl.enqueue_offload @g[0] (%x) -> (%a) : memref<1x4x4x4xf32>, memref<256xi8>
    cl.enqueue_offload @g[1] (%a) -> (%b) : memref<256xi8>, memref<256xi8>
    cl.enqueue_offload @g[2] (%b) -> (%y) : memref<256xi8>, memref<1x4x4x4xf32>
    cl.enqueue_kernel @look(%a, %y) : memref<256xi8>, memref<1x4x4x4xf32>
    cl.return
  }
}

// -----

builtin.module {
  clml.graph @g(%x: !clml.tensor<1x4x4x4xf32, nchw>) -> !clml.tensor<1x4x4x4xf32, nchw> version 3 arithmetic fp32 {
    %a = clml.copy %x : !clml.tensor<1x4x4x4xf32, nchw> -> !clml.tensor<1x4x4x4xf32, optimal>
    %b = clml.activation tanh %a : (!clml.tensor<1x4x4x4xf32, optimal>) -> !clml.tensor<1x4x4x4xf32, optimal>
    %c = clml.activation tanh %b : (!clml.tensor<1x4x4x4xf32, optimal>) -> !clml.tensor<1x4x4x4xf32, optimal>
    %y = clml.copy %c : !clml.tensor<1x4x4x4xf32, optimal> -> !clml.tensor<1x4x4x4xf32, nchw>
    clml.return %y : !clml.tensor<1x4x4x4xf32, nchw>
  }
  // expected-error@+1 {{cl.enqueue_offload @g[2] uses %a, the memory of another tensor, !clml.tensor<1x4x4x4xf32, optimal>}}
  cl.program @main(%x: memref<1x4x4x4xf32> {cl.name = "x"}, %y: memref<1x4x4x4xf32> {cl.name = "y"}) inputs 1 {
    %a = cl.alloc : memref<256xi8>
    %b = cl.alloc : memref<256xi8>
    cl.enqueue_offload @g[0] (%x) -> (%a) : memref<1x4x4x4xf32>, memref<256xi8>
    cl.enqueue_offload @g[1] (%a) -> (%b) : memref<256xi8>, memref<256xi8>
    cl.enqueue_offload @g[2] (%b) -> (%a) : memref<256xi8>, memref<256xi8>
    cl.enqueue_offload @g[3] (%a) -> (%y) : memref<256xi8>, memref<1x4x4x4xf32>
    cl.return
  }
}

// -----

builtin.module {
  clml.graph @g(%x: !clml.tensor<1x4x4x4xf32, nchw>) -> !clml.tensor<1x4x4x4xf32, nchw> version 3 arithmetic fp32 {
    %a = clml.copy %x : !clml.tensor<1x4x4x4xf32, nchw> -> !clml.tensor<1x4x4x4xf32, optimal>
    %b = clml.activation tanh %a : (!clml.tensor<1x4x4x4xf32, optimal>) -> !clml.tensor<1x4x4x4xf32, optimal>
    %y = clml.copy %b : !clml.tensor<1x4x4x4xf32, optimal> -> !clml.tensor<1x4x4x4xf32, nchw>
    clml.return %y : !clml.tensor<1x4x4x4xf32, nchw>
  }
  // expected-error@+1 {{cl.enqueue_offload @g[1] is given %a and writes %b, which share bytes 128 to 255 of %arena: no command of a graph computes in place}}
  cl.program @main(%x: memref<1x4x4x4xf32> {cl.name = "x"}, %y: memref<1x4x4x4xf32> {cl.name = "y"}) inputs 1 {
    %arena = cl.arena : memref<384xi8>
    %a = cl.buffer_view %arena[0] : memref<256xi8>
    %b = cl.buffer_view %arena[128] : memref<256xi8>
    cl.enqueue_offload @g[0] (%x) -> (%a) : memref<1x4x4x4xf32>, memref<256xi8>
    cl.enqueue_offload @g[1] (%a) -> (%b) : memref<256xi8>, memref<256xi8>
    cl.enqueue_offload @g[2] (%b) -> (%y) : memref<256xi8>, memref<1x4x4x4xf32>
    cl.return
  }
}

// -----

builtin.module attributes {cl.target = #cl.target<"phone", {image_base_alignment_bytes = 128 : i64}>} {
  clml.graph @g(%x: !clml.tensor<1x4x4x4xf32, nchw>) -> !clml.tensor<1x4x4x4xf32, nchw> version 3 arithmetic fp32 {
    %a = clml.copy %x : !clml.tensor<1x4x4x4xf32, nchw> -> !clml.tensor<1x4x4x4xf32, optimal>
    %b = clml.activation tanh %a : (!clml.tensor<1x4x4x4xf32, optimal>) -> !clml.tensor<1x4x4x4xf32, optimal>
    %y = clml.copy %b : !clml.tensor<1x4x4x4xf32, optimal> -> !clml.tensor<1x4x4x4xf32, nchw>
    clml.return %y : !clml.tensor<1x4x4x4xf32, nchw>
  }
  // expected-error@+1 {{cl.enqueue_offload @g[0] uses %a from byte 64 of %arena on, but phone requires views to start at multiples of 128 bytes}}
  cl.program @main(%x: memref<1x4x4x4xf32> {cl.name = "x"}, %y: memref<1x4x4x4xf32> {cl.name = "y"}) inputs 1 {
    %arena = cl.arena : memref<1024xi8>
    %a = cl.buffer_view %arena[64] : memref<256xi8>
    %b = cl.buffer_view %arena[512] : memref<256xi8>
    cl.enqueue_offload @g[0] (%x) -> (%a) : memref<1x4x4x4xf32>, memref<256xi8>
    cl.enqueue_offload @g[1] (%a) -> (%b) : memref<256xi8>, memref<256xi8>
    cl.enqueue_offload @g[2] (%b) -> (%y) : memref<256xi8>, memref<1x4x4x4xf32>
    cl.return
  }
}

// -----

builtin.module {
  clml.graph @g(%x: !clml.tensor<1x4x4x4xf32, nchw>) -> !clml.tensor<1x4x4x4xf32, nchw> version 3 arithmetic fp32 {
    %a = clml.copy %x : !clml.tensor<1x4x4x4xf32, nchw> -> !clml.tensor<1x4x4x4xf32, optimal>
    %b = clml.activation tanh %a : (!clml.tensor<1x4x4x4xf32, optimal>) -> !clml.tensor<1x4x4x4xf32, optimal>
    %y = clml.copy %b : !clml.tensor<1x4x4x4xf32, optimal> -> !clml.tensor<1x4x4x4xf32, nchw>
    clml.return %y : !clml.tensor<1x4x4x4xf32, nchw>
  }
  // expected-error@+1 {{cl.enqueue_offload @g[2] writes %c over bytes 512 to 767 of %arena, which %k needs until command 4, cl.enqueue_copy; give them different bytes}}
  cl.program @main(%x: memref<1x4x4x4xf32> {cl.name = "x"}, %y: memref<1x4x4x4xf32> {cl.name = "y"}) inputs 1 {
    %arena = cl.arena : memref<768xi8>
    %a = cl.buffer_view %arena[0] : memref<256xi8>
    %b = cl.buffer_view %arena[256] : memref<256xi8>
    %k = cl.buffer_view %arena[512] : memref<1x4x4x4xf32>
    %c = cl.buffer_view %arena[512] : memref<1x4x4x4xf32>
    cl.enqueue_copy %x, %k : memref<1x4x4x4xf32>
    cl.enqueue_offload @g[0] (%x) -> (%a) : memref<1x4x4x4xf32>, memref<256xi8>
    cl.enqueue_offload @g[1] (%a) -> (%b) : memref<256xi8>, memref<256xi8>
    cl.enqueue_offload @g[2] (%b) -> (%c) : memref<256xi8>, memref<1x4x4x4xf32>
    cl.enqueue_copy %k, %y : memref<1x4x4x4xf32>
    cl.return
  }
}
