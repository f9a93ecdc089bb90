// RUN: clopt %s -p cl-reorder,verify --split-input-file --verify-diagnostics | filecheck %s

// Two large values, each reduced to a small one: the second is computed when the first is gone.
// Allocations and views move with the commands that need them.
// CHECK-LABEL: cl.program @branches
// CHECK-NEXT:    %a = cl.alloc : memref<8x8xf32>
// CHECK-NEXT:    %u = cl.view %a : memref<8x8xf32> to memref<64xf32>
// CHECK-NEXT:    cl.enqueue_kernel @grow(%x, %u)
// CHECK-NEXT:    %c = cl.alloc : memref<4xf32>
// CHECK-NEXT:    cl.enqueue_kernel @shrink(%u, %c)
// CHECK-NEXT:    %b = cl.alloc : memref<64xf32>
// CHECK-NEXT:    cl.enqueue_kernel @grow(%x, %b)
// CHECK-NEXT:    %d = cl.alloc : memref<4xf32>
// CHECK-NEXT:    cl.enqueue_kernel @shrink(%b, %d)
// CHECK-NEXT:    cl.enqueue_kernel @add(%c, %d, %y)
// CHECK-NEXT:    cl.return
builtin.module {
  cl.kernel @grow(memref<4xf32>, memref<64xf32>) outputs [1] global [64] local [1]
  cl.kernel @shrink(memref<64xf32>, memref<4xf32>) outputs [1] global [4] local [1]
  cl.kernel @add(memref<4xf32>, memref<4xf32>, memref<4xf32>) outputs [2] global [4] local [1]
  cl.program @branches(%x: memref<4xf32> {cl.name = "x"}, %y: memref<4xf32> {cl.name = "y"}) inputs 1 {
    %a = cl.alloc : memref<8x8xf32>
    %u = cl.view %a : memref<8x8xf32> to memref<64xf32>
    cl.enqueue_kernel @grow(%x, %u) : memref<4xf32>, memref<64xf32>
    %b = cl.alloc : memref<64xf32>
    cl.enqueue_kernel @grow(%x, %b) : memref<4xf32>, memref<64xf32>
    %c = cl.alloc : memref<4xf32>
    cl.enqueue_kernel @shrink(%u, %c) : memref<64xf32>, memref<4xf32>
    %d = cl.alloc : memref<4xf32>
    cl.enqueue_kernel @shrink(%b, %d) : memref<64xf32>, memref<4xf32>
    cl.enqueue_kernel @add(%c, %d, %y) : memref<4xf32>, memref<4xf32>, memref<4xf32>
    cl.return
  }
}

// -----

// The same, but what is reduced first is written over in between: nothing can move.
// CHECK-LABEL: cl.program @overwritten
// CHECK:         cl.enqueue_kernel @grow(%x, %a)
// CHECK-NEXT:    cl.enqueue_kernel @shrink(%a, %c)
// CHECK-NEXT:    cl.enqueue_kernel @grow(%c, %a)
// CHECK-NEXT:    cl.enqueue_kernel @shrink(%a, %d)
// CHECK-NEXT:    cl.enqueue_kernel @add(%c, %d, %y)
builtin.module {
  cl.kernel @grow(memref<4xf32>, memref<64xf32>) outputs [1] global [64] local [1]
  cl.kernel @shrink(memref<64xf32>, memref<4xf32>) outputs [1] global [4] local [1]
  cl.kernel @add(memref<4xf32>, memref<4xf32>, memref<4xf32>) outputs [2] global [4] local [1]
  cl.program @overwritten(%x: memref<4xf32> {cl.name = "x"}, %y: memref<4xf32> {cl.name = "y"}) inputs 1 {
    %a = cl.alloc : memref<64xf32>
    %c = cl.alloc : memref<4xf32>
    %d = cl.alloc : memref<4xf32>
    cl.enqueue_kernel @grow(%x, %a) : memref<4xf32>, memref<64xf32>
    cl.enqueue_kernel @shrink(%a, %c) : memref<64xf32>, memref<4xf32>
    cl.enqueue_kernel @grow(%c, %a) : memref<4xf32>, memref<64xf32>
    cl.enqueue_kernel @shrink(%a, %d) : memref<64xf32>, memref<4xf32>
    cl.enqueue_kernel @add(%c, %d, %y) : memref<4xf32>, memref<4xf32>, memref<4xf32>
    cl.return
  }
}

// -----

// An order that gains nothing stays.
// CHECK-LABEL: cl.program @equal
// CHECK:         cl.enqueue_kernel @k(%x, %b)
// CHECK-NEXT:    cl.enqueue_kernel @k(%x, %a)
// CHECK-NEXT:    cl.enqueue_kernel @add(%a, %b, %y)
builtin.module {
  cl.kernel @k(memref<4xf32>, memref<4xf32>) outputs [1] global [4] local [1]
  cl.kernel @add(memref<4xf32>, memref<4xf32>, memref<4xf32>) outputs [2] global [4] local [1]
  cl.program @equal(%x: memref<4xf32> {cl.name = "x"}, %y: memref<4xf32> {cl.name = "y"}) inputs 1 {
    %a = cl.alloc : memref<4xf32>
    %b = cl.alloc : memref<4xf32>
    cl.enqueue_kernel @k(%x, %b) : memref<4xf32>, memref<4xf32>
    cl.enqueue_kernel @k(%x, %a) : memref<4xf32>, memref<4xf32>
    cl.enqueue_kernel @add(%a, %b, %y) : memref<4xf32>, memref<4xf32>, memref<4xf32>
    cl.return
  }
}
