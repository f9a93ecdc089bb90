// RUN: clopt %s | clopt | filecheck %s
// RUN: clopt %s --print-op-generic | clopt | filecheck %s

// The kernel reads the row that the last iteration wrote, and a row of the input from its end on.
// CHECK:      cl.kernel @add(memref<4xf32>, memref<4xf32>, memref<4xf32>) outputs [2] global [4] local [1] rows [0, 1, 2]
// CHECK-NEXT: cl.program @main
// CHECK-NEXT:   %first = cl.row %x[80] by 0 : memref<6x4xf32> to memref<4xf32>
// CHECK-NEXT:   %start = cl.row %y[0] by 0 : memref<6x4xf32> to memref<4xf32>
// CHECK-NEXT:   cl.enqueue_copy %first, %start : memref<4xf32>
// CHECK-NEXT:   %row = cl.row %x[64] by -16 : memref<6x4xf32> to memref<4xf32>
// CHECK-NEXT:   %before = cl.row %y[0] by 16 : memref<6x4xf32> to memref<4xf32>
// CHECK-NEXT:   %after = cl.row %y[16] by 16 : memref<6x4xf32> to memref<4xf32>
// CHECK-NEXT:   cl.repeat 5 attributes {note = "steps"} {
// CHECK-NEXT:     cl.enqueue_kernel @add(%before, %row, %after) : memref<4xf32>, memref<4xf32>, memref<4xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   cl.return
builtin.module {
  cl.kernel @add(memref<4xf32>, memref<4xf32>, memref<4xf32>) outputs [2] global [4] local [1] rows [0, 1, 2]
  cl.program @main(%x: memref<6x4xf32> {cl.name = "x"}, %y: memref<6x4xf32> {cl.name = "y"}) inputs 1 {
    %first = cl.row %x[80] by 0 : memref<6x4xf32> to memref<4xf32>
    %start = cl.row %y[0] by 0 : memref<6x4xf32> to memref<4xf32>
    cl.enqueue_copy %first, %start : memref<4xf32>
    %row = cl.row %x[64] by -16 : memref<6x4xf32> to memref<4xf32>
    %before = cl.row %y[0] by 16 : memref<6x4xf32> to memref<4xf32>
    %after = cl.row %y[16] by 16 : memref<6x4xf32> to memref<4xf32>
    cl.repeat 5 attributes {note = "steps"} {
      cl.enqueue_kernel @add(%before, %row, %after) : memref<4xf32>, memref<4xf32>, memref<4xf32>
    }
    cl.return
  }
}
