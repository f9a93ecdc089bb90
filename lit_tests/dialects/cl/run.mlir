// RUN: clopt %s | clopt | filecheck %s
// RUN: clopt %s --print-op-generic | clopt | filecheck %s

cl.program @copy(%x: memref<4xf32> {cl.name = "x"}, %y: memref<4xf32> {cl.name = "y"}) inputs 1 {
  cl.enqueue_copy %x, %y : memref<4xf32>
  cl.return
}
cl.program @nothing() inputs 0 {
  cl.return
}

// A function of any dialect runs programs, also in a region, where the order is its own.
// CHECK:      func.func @host(%a: memref<4xf32>, %b: memref<4xf32>, %twice: i1) {
// CHECK-NEXT:   cl.run @copy(%a, %b) : memref<4xf32>, memref<4xf32>
// CHECK-NEXT:   scf.if %twice {
// CHECK-NEXT:     cl.run @copy(%b, %a) {note = "back"} : memref<4xf32>, memref<4xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   cl.run @nothing()
func.func @host(%a: memref<4xf32>, %b: memref<4xf32>, %twice: i1) {
  cl.run @copy(%a, %b) : memref<4xf32>, memref<4xf32>
  scf.if %twice {
    cl.run @copy(%b, %a) {note = "back"} : memref<4xf32>, memref<4xf32>
  }
  cl.run @nothing()
  func.return
}
