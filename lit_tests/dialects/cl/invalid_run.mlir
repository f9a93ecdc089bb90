// RUN: clopt %s --split-input-file --verify-diagnostics

func.func @host(%a: memref<4xf32>) {
  // expected-error@+1 {{the module has no cl.program @absent}}
  cl.run @absent(%a) : memref<4xf32>
  func.return
}

// -----

func.func private @function(memref<4xf32>)
func.func @host(%a: memref<4xf32>) {
  // expected-error@+1 {{the module has no cl.program @function}}
  cl.run @function(%a) : memref<4xf32>
  func.return
}

// -----

cl.program @copy(%x: memref<4xf32> {cl.name = "x"}, %y: memref<4xf32> {cl.name = "y"}) inputs 1 {
  cl.enqueue_copy %x, %y : memref<4xf32>
  cl.return
}
func.func @host(%a: memref<4xf32>) {
  // expected-error@+1 {{@copy takes 2 buffers, inputs before outputs; the call has 1}}
  cl.run @copy(%a) : memref<4xf32>
  func.return
}

// -----

cl.program @copy(%x: memref<4xf32> {cl.name = "x"}, %y: memref<4xf32> {cl.name = "y"}) inputs 1 {
  cl.enqueue_copy %x, %y : memref<4xf32>
  cl.return
}
func.func @host(%a: memref<4xf32>, %b: memref<2x2xf32>) {
  // expected-error@+1 {{@copy takes memref<4xf32> for "y", not memref<2x2xf32>}}
  cl.run @copy(%a, %b) : memref<4xf32>, memref<2x2xf32>
  func.return
}

// -----

// A program runs no other one: its commands are on the queue one by one.
cl.program @nothing() inputs 0 {
  cl.return
}
// expected-error@+1 {{cl.run is not an operation of a queue program}}
cl.program @outer() inputs 0 {
  cl.run @nothing()
  cl.return
}
