// RUN: not clopt %s -p cl-plan-memory{capacity=256} 2>&1 | filecheck %s

// CHECK: its result of 260 bytes is more than the 256 that generic allows one buffer; use
builtin.module {
  cl.kernel @grow(memref<4xf32>, memref<65xf32>) outputs [1] global [65] local [1]
  cl.program @main(%x: memref<4xf32> {cl.name = "x"}, %y: memref<65xf32> {cl.name = "y"}) inputs 1 {
    %a = cl.alloc : memref<65xf32>
    cl.enqueue_kernel @grow(%x, %a) : memref<4xf32>, memref<65xf32>
    cl.enqueue_copy %a, %y : memref<65xf32>
    cl.return
  }
}
