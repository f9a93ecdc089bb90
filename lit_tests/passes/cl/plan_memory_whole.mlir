// RUN: clopt %s -p cl-plan-memory | filecheck %s

// A device without parts of buffers: values take turns in whole ones.

builtin.module attributes {cl.target = #cl.target<"whole", {sub_buffers = false}>} {
  cl.kernel @id(memref<64xf32>, memref<64xf32>) outputs [1] global [64] local [1]
  cl.program @main(%x: memref<64xf32> {cl.name = "x"}, %y: memref<64xf32> {cl.name = "y"}) inputs 1 {
    %a = cl.alloc : memref<64xf32>
    %b = cl.alloc : memref<64xf32>
    %c = cl.alloc : memref<64xf32>
    cl.enqueue_kernel @id(%x, %a) : memref<64xf32>, memref<64xf32>
    cl.enqueue_kernel @id(%a, %b) : memref<64xf32>, memref<64xf32>
    cl.enqueue_kernel @id(%b, %c) : memref<64xf32>, memref<64xf32>
    cl.enqueue_kernel @id(%c, %y) : memref<64xf32>, memref<64xf32>
    cl.return
  }
}

// CHECK:      %arena = cl.arena : memref<256xi8>
// CHECK-NEXT: %arena_1 = cl.arena : memref<256xi8>
// CHECK-NEXT: %a = cl.buffer_view %arena[0] : memref<64xf32>
// CHECK-NEXT: %b = cl.buffer_view %arena_1[0] : memref<64xf32>
// CHECK-NEXT: %c = cl.buffer_view %arena[0] : memref<64xf32>
