// RUN: clopt %s --split-input-file --verify-diagnostics

builtin.module {
  cl.kernel @id(memref<8xf32>, memref<8xf32>) outputs [1] global [8] local [2]
  // expected-error@+1 {{cl.enqueue_kernel @id has sizes, but the module has no cl.range}}
  cl.program @main(%x: memref<8xf32> {cl.name = "x"}, %y: memref<8xf32> {cl.name = "y"}) inputs 1 {
    cl.enqueue_kernel @id(%x, %y) sizes affine_map<()[s0] -> ((s0 ceildiv 2) * 2)> : memref<8xf32>, memref<8xf32>
    cl.return
  }
}

// -----

builtin.module attributes {cl.range = #cl.range<"batch", 1 to 9, ["x", "y"]>} {
  cl.kernel @id(memref<8xf32>, memref<8xf32>) outputs [1] global [8] local [2]
  // expected-error@+1 {{cl.enqueue_kernel @id must have the kernel's global size [8] at 9}}
  cl.program @main(%x: memref<8xf32> {cl.name = "x"}, %y: memref<8xf32> {cl.name = "y"}) inputs 1 {
    cl.enqueue_kernel @id(%x, %y) sizes affine_map<()[s0] -> ((s0 ceildiv 2) * 2)> : memref<8xf32>, memref<8xf32>
    cl.return
  }
}

// -----

builtin.module attributes {cl.range = #cl.range<"batch", 1 to 8, ["x", "y"]>} {
  cl.kernel @id(memref<8xf32>, memref<8xf32>) outputs [1] global [8] local [2]
  // expected-error@+1 {{cl.enqueue_kernel @id must launch groups of 2 at all values of the symbol}}
  cl.program @main(%x: memref<8xf32> {cl.name = "x"}, %y: memref<8xf32> {cl.name = "y"}) inputs 1 {
    cl.enqueue_kernel @id(%x, %y) sizes affine_map<()[s0] -> (s0)> : memref<8xf32>, memref<8xf32>
    cl.return
  }
}

// -----

builtin.module attributes {cl.range = #cl.range<"batch", 1 to 8, ["x", "y"]>} {
  cl.kernel @id(memref<8xf32>, memref<8xf32>) outputs [1] global [8] local [1]
  // expected-error@+1 {{cl.enqueue_kernel @id must launch groups of 1 at all values of the symbol}}
  cl.program @main(%x: memref<8xf32> {cl.name = "x"}, %y: memref<8xf32> {cl.name = "y"}) inputs 1 {
    cl.enqueue_kernel @id(%x, %y) sizes affine_map<()[s0] -> (s0 * 2 - 8)> : memref<8xf32>, memref<8xf32>
    cl.return
  }
}

// -----

builtin.module attributes {cl.range = #cl.range<"batch", 1 to 8, ["x", "y"]>} {
  cl.kernel @id(memref<8xf32>, memref<8xf32>) outputs [1] global [8] local [1]
  // expected-error@+1 {{a size must be a positive constant or of the form ((s0 * a + b) ceildiv c) * d, not (s0 mod 8)}}
  cl.program @main(%x: memref<8xf32> {cl.name = "x"}, %y: memref<8xf32> {cl.name = "y"}) inputs 1 {
    cl.enqueue_kernel @id(%x, %y) sizes affine_map<()[s0] -> (s0 mod 8)> : memref<8xf32>, memref<8xf32>
    cl.return
  }
}

// -----

builtin.module attributes {cl.range = #cl.range<"batch", 1 to 8, ["x", "y"]>} {
  cl.kernel @id(memref<8xf32>, memref<8xf32>) outputs [1] global [8] local [1]
  // expected-error@+1 {{sizes must be functions of one symbol, not}}
  cl.program @main(%x: memref<8xf32> {cl.name = "x"}, %y: memref<8xf32> {cl.name = "y"}) inputs 1 {
    cl.enqueue_kernel @id(%x, %y) sizes affine_map<(d0) -> (d0)> : memref<8xf32>, memref<8xf32>
    cl.return
  }
}

// -----

// expected-error@+1 {{a range must be from a positive value to another}}
builtin.module attributes {cl.range = #cl.range<"batch", 1 to 0, ["x", "y"]>} {
}
