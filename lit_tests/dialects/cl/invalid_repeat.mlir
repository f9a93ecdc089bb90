// RUN: clopt %s --split-input-file --verify-diagnostics

builtin.module {
  cl.kernel @add(memref<4xf32>, memref<4xf32>) outputs [1] global [4] local [1] rows [0, 1]
  // expected-error@+1 {{cl.enqueue_kernel @add reads %a before it is written}}
  cl.program @main(%x: memref<6x4xf32> {cl.name = "x"}, %y: memref<6x4xf32> {cl.name = "y"}) inputs 1 {
    %a = cl.row %y[16] by 16 : memref<6x4xf32> to memref<4xf32>
    %b = cl.row %y[0] by 16 : memref<6x4xf32> to memref<4xf32>
    cl.repeat 5 {
      cl.enqueue_kernel @add(%a, %b) : memref<4xf32>, memref<4xf32>
    }
    cl.return
  }
}

// -----

builtin.module {
  cl.kernel @add(memref<4xf32>, memref<4xf32>) outputs [1] global [4] local [1] rows [0, 1]
  // expected-error@+1 {{the output "y" is written in parts, but bytes 80 to 95 are never written}}
  cl.program @main(%x: memref<6x4xf32> {cl.name = "x"}, %y: memref<6x4xf32> {cl.name = "y"}) inputs 1 {
    %a = cl.row %x[0] by 16 : memref<6x4xf32> to memref<4xf32>
    %b = cl.row %y[0] by 16 : memref<6x4xf32> to memref<4xf32>
    cl.repeat 5 {
      cl.enqueue_kernel @add(%a, %b) : memref<4xf32>, memref<4xf32>
    }
    cl.return
  }
}

// -----

builtin.module {
  cl.kernel @add(memref<4xf32>, memref<4xf32>) outputs [1] global [4] local [1] rows [0, 1]
  // expected-error@+1 {{cl.enqueue_kernel @add uses %a, which leaves %x within 7 iterations}}
  cl.program @main(%x: memref<6x4xf32> {cl.name = "x"}, %y: memref<6x4xf32> {cl.name = "y"}) inputs 1 {
    %a = cl.row %x[0] by 16 : memref<6x4xf32> to memref<4xf32>
    %b = cl.row %y[0] by 0 : memref<6x4xf32> to memref<4xf32>
    cl.repeat 7 {
      cl.enqueue_kernel @add(%a, %b) : memref<4xf32>, memref<4xf32>
    }
    cl.return
  }
}

// -----

builtin.module {
  cl.kernel @add(memref<4xf32>, memref<4xf32>) outputs [1] global [4] local [1] rows [0, 1]
  // expected-error@+1 {{cl.enqueue_kernel @add uses %b, which leaves %y within 3 iterations}}
  cl.program @main(%x: memref<6x4xf32> {cl.name = "x"}, %y: memref<6x4xf32> {cl.name = "y"}) inputs 1 {
    %a = cl.row %x[0] by 16 : memref<6x4xf32> to memref<4xf32>
    %b = cl.row %y[16] by -16 : memref<6x4xf32> to memref<4xf32>
    cl.repeat 3 {
      cl.enqueue_kernel @add(%a, %b) : memref<4xf32>, memref<4xf32>
    }
    cl.return
  }
}

// -----

builtin.module {
  cl.kernel @add(memref<4xf32>, memref<4xf32>) outputs [1] global [4] local [1] rows [0, 1]
  // expected-error@+1 {{cl.enqueue_kernel @add writes %b, which reaches %a in some iteration; give them different bytes}}
  cl.program @main(%x: memref<6x4xf32> {cl.name = "x"}, %y: memref<6x4xf32> {cl.name = "y"}) inputs 1 {
    %c = cl.row %x[0] by 0 : memref<6x4xf32> to memref<4xf32>
    %a = cl.row %y[80] by 0 : memref<6x4xf32> to memref<4xf32>
    cl.enqueue_copy %c, %a : memref<4xf32>
    %b = cl.row %y[0] by 16 : memref<6x4xf32> to memref<4xf32>
    cl.repeat 6 {
      cl.enqueue_kernel @add(%a, %b) : memref<4xf32>, memref<4xf32>
    }
    cl.return
  }
}

// -----

builtin.module {
  cl.kernel @add(memref<4xf32>, memref<4xf32>) outputs [1] global [4] local [1] rows [0, 1]
  // expected-error@+1 {{is given %a and writes %b, which share bytes 8 to 15 of %y}}
  cl.program @main(%x: memref<6x4xf32> {cl.name = "x"}, %y: memref<6x4xf32> {cl.name = "y"}) inputs 1 {
    %c = cl.row %x[0] by 0 : memref<6x4xf32> to memref<4xf32>
    %a = cl.row %y[0] by 16 : memref<6x4xf32> to memref<4xf32>
    cl.enqueue_copy %c, %a : memref<4xf32>
    %b = cl.row %y[8] by 16 : memref<6x4xf32> to memref<4xf32>
    cl.repeat 5 {
      cl.enqueue_kernel @add(%a, %b) : memref<4xf32>, memref<4xf32>
    }
    cl.return
  }
}

// -----

builtin.module {
  cl.kernel @add(memref<4xf32>, memref<4xf32>) outputs [1] global [4] local [1] rows [1]
  // expected-error@+1 {{cl.enqueue_kernel @add binds the row %a to parameter 0, which the kernel does not list in its rows}}
  cl.program @main(%x: memref<6x4xf32> {cl.name = "x"}, %y: memref<6x4xf32> {cl.name = "y"}) inputs 1 {
    %a = cl.row %x[0] by 16 : memref<6x4xf32> to memref<4xf32>
    %b = cl.row %y[0] by 16 : memref<6x4xf32> to memref<4xf32>
    cl.repeat 6 {
      cl.enqueue_kernel @add(%a, %b) : memref<4xf32>, memref<4xf32>
    }
    cl.return
  }
}

// -----

builtin.module {
  cl.kernel @add(memref<4xf32>, memref<4xf32>) outputs [1] global [4] local [1] rows [0, 1]
  // expected-error@+1 {{cl.view uses the row %a: only commands may}}
  cl.program @main(%x: memref<6x4xf32> {cl.name = "x"}, %y: memref<6x4xf32> {cl.name = "y"}) inputs 1 {
    %a = cl.row %x[0] by 16 : memref<6x4xf32> to memref<4xf32>
    %v = cl.view %a : memref<4xf32> to memref<2x2xf32>
    cl.return
  }
}

// -----

builtin.module {
  cl.kernel @add(memref<4xf32>, memref<4xf32>) outputs [1] global [4] local [1] rows [0, 1]
  // expected-error@+1 {{cl.alloc cannot be repeated; launches and copies can}}
  cl.program @main(%x: memref<6x4xf32> {cl.name = "x"}, %y: memref<6x4xf32> {cl.name = "y"}) inputs 1 {
    cl.repeat 2 {
      %t = cl.alloc : memref<4xf32>
    }
    cl.return
  }
}

// -----

builtin.module {
  cl.kernel @add(memref<4xf32>, memref<4xf32>) outputs [1] global [4] local [1] rows [0, 1]
  cl.program @main(%x: memref<6x4xf32> {cl.name = "x"}, %y: memref<6x4xf32> {cl.name = "y"}) inputs 1 {
    // expected-error@+1 {{a repetition needs a positive number, not 0}}
    cl.repeat 0 {
      cl.enqueue_copy %x, %y : memref<6x4xf32>
    }
    cl.return
  }
}

// -----

builtin.module {
  cl.kernel @add(memref<4xf32>, memref<4xf32>) outputs [1] global [4] local [1] rows [0, 1]
  cl.program @main(%x: memref<6x4xf32> {cl.name = "x"}, %y: memref<6x4xf32> {cl.name = "y"}) inputs 1 {
    // expected-error@+1 {{the 16 bytes of memref<4xf32> from byte 88 on exceed the 96 bytes of memref<6x4xf32>}}
    %a = cl.row %x[88] by 16 : memref<6x4xf32> to memref<4xf32>
    cl.return
  }
}

// -----

builtin.module {
  cl.kernel @add(memref<4xf32>, memref<4xf32>) outputs [1] global [4] local [1] rows [0, 1]
  cl.program @main(%x: memref<6x4xf32> {cl.name = "x"}, %y: memref<6x4xf32> {cl.name = "y"}) inputs 1 {
    // expected-error@+1 {{a row of memref<4xf32> must start at and move by multiples of 4 bytes, not at 0 by 6}}
    %a = cl.row %x[0] by 6 : memref<6x4xf32> to memref<4xf32>
    cl.return
  }
}

// -----

// What an iteration reads, but does not write, must keep its bytes for the next one.
builtin.module {
  cl.kernel @add(memref<4xf32>, memref<4xf32>) outputs [1] global [4] local [1] rows [0, 1]
  // expected-error@+1 {{cl.enqueue_kernel @add writes %u over bytes 0 to 15 of %arena, which %t needs until command 2, cl.enqueue_kernel @add; give them different bytes}}
  cl.program @main(%x: memref<4xf32> {cl.name = "x"}, %y: memref<4xf32> {cl.name = "y"}) inputs 1 {
    %arena = cl.arena : memref<32xi8>
    %t = cl.buffer_view %arena[0] : memref<4xf32>
    %s = cl.buffer_view %arena[16] : memref<4xf32>
    %u = cl.buffer_view %arena[0] : memref<4xf32>
    cl.enqueue_copy %x, %t : memref<4xf32>
    cl.repeat 3 {
      cl.enqueue_kernel @add(%t, %s) : memref<4xf32>, memref<4xf32>
      cl.enqueue_kernel @add(%s, %u) : memref<4xf32>, memref<4xf32>
    }
    cl.enqueue_copy %u, %y : memref<4xf32>
    cl.return
  }
}
