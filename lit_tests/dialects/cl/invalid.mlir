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
    // expected-error@+1 {{a view has the bytes of its source, but memref<4xf32> has 16 and memref<4xf16> has 8}}
    %v = cl.view %x : memref<4xf32> to memref<4xf16>
    cl.enqueue_copy %x, %y : memref<4xf32>
    cl.return
  }
}

// -----

builtin.module {
  cl.program @main(%x: memref<4xf32> {cl.name = "x"}, %y: memref<4xf32> {cl.name = "y"}) inputs 1 {
    // expected-error@+1 {{a buffer has a static shape, not memref<?xf32>}}
    %t = cl.alloc : memref<?xf32>
    cl.enqueue_copy %x, %y : memref<4xf32>
    cl.return
  }
}

// -----

builtin.module {
  // expected-error@+1 {{a program ends with cl.return}}
  cl.program @main(%x: memref<4xf32> {cl.name = "x"}, %y: memref<4xf32> {cl.name = "y"}) inputs 1 {
    cl.enqueue_copy %x, %y : memref<4xf32>
    "test.termop"() : () -> ()
  }
}

// -----

builtin.module {
  // expected-error@+1 {{arith.constant is no command of a queue program}}
  cl.program @main(%x: memref<4xf32> {cl.name = "x"}, %y: memref<4xf32> {cl.name = "y"}) inputs 1 {
    cl.enqueue_copy %x, %y : memref<4xf32>
    %c = arith.constant 1 : i32
    cl.return
  }
}

// -----

builtin.module {
  // expected-error@+1 {{the local size [3] does not divide the global size [8]}}
  cl.kernel @k(memref<4xf32>) outputs [0] global [8] local [3]
}

// -----

builtin.module {
  // expected-error@+1 {{a launch has one to three dimensions}}
  cl.kernel @k(memref<4xf32>) outputs [0] global [8, 8] local [8]
}

// -----

builtin.module {
  // expected-error@+1 {{output 1 is not one of 1 parameters}}
  cl.kernel @k(memref<4xf32>) outputs [1] global [8] local [8]
}

// -----

builtin.module {
  // expected-error@+1 {{"lanes" is no fact of a target}}
  "test.op"() {t = #cl.target<"mine", {lanes = 4 : i64}>} : () -> ()
}

// -----

builtin.module {
  // expected-error@+1 {{vector_width is a whole number, not 'four'}}
  "test.op"() {t = #cl.target<"mine", {vector_width = "four"}>} : () -> ()
}

// -----

builtin.module {
  // expected-error@+1 {{register_cols is at least 1, not 0}}
  "test.op"() {t = #cl.target<"mine", {register_cols = 0 : i64}>} : () -> ()
}
