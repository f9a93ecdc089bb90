// RUN: clopt %s -p tir-join-kernels,verify --target "pocl" --split-input-file | filecheck %s
// RUN: clopt %s -p tir-join-kernels,verify --target "generic-gpu" --split-input-file | filecheck %s --check-prefix GPU

// GPU-NOT: _to_
// GPU-NOT: _beside_

// One work-item computes a kernel that is one, and the next one that needs its result. It reads that
// CHECK-LABEL: tir.func @sum_to_scale(%x: memref<4x2xf32>, %s: memref<2x2xf32>, %y: memref<4x2xf32>)
// CHECK-SAME:    outputs = array<i64: 1, 2>, comment = "sum; scale", global_size = array<i64: 1>, local_size = array<i64: 1>}
// CHECK-NEXT:    tir.for serial %i = 0 to 4 {
// CHECK:           memref.store {{.*}}, %s[
// CHECK:         tir.for serial %i_1 = 0 to 4 {
// CHECK-NEXT:      [[row:%.*]] = affine.apply affine_map<(d0) -> ((d0 floordiv 2))> (%i_1)
// CHECK-NEXT:      [[col:%.*]] = affine.apply affine_map<(d0) -> ((d0 mod 2))> (%i_1)
// CHECK-NEXT:      memref.load %s[[[row]], [[col]]] : memref<2x2xf32>
// Both launches of each are joint ones.
// CHECK-NOT:   tir.func
// CHECK-LABEL: cl.program @chain
// CHECK:         cl.enqueue_kernel @sum_to_scale(%x, %s, %y)
// CHECK:         cl.enqueue_kernel @sum_to_scale(%x, %t, %z)
// CHECK-NEXT:    cl.return
tir.func @sum(%x: memref<4x2xf32>, %s: memref<2x2xf32>) attributes {outputs = array<i64: 1>, comment = "sum", global_size = array<i64: 1>, local_size = array<i64: 1>} {
  tir.for serial %i = 0 to 4 {
    %c = arith.constant 0 : index
    %a = memref.load %x[%i, %c] : memref<4x2xf32>
    %r = affine.apply affine_map<(d0) -> (d0 floordiv 2)> (%i)
    %m = affine.apply affine_map<(d0) -> (d0 mod 2)> (%i)
    memref.store %a, %s[%r, %m] : memref<2x2xf32>
  }
}
tir.func @scale(%s: memref<4xf32>, %x: memref<4x2xf32>, %y: memref<4x2xf32>) attributes {outputs = array<i64: 2>, comment = "scale", global_size = array<i64: 4>, local_size = array<i64: 1>} {
  tir.for global_x %i = 0 to 4 {
    %f = memref.load %s[%i] : memref<4xf32>
    tir.for serial %j = 0 to 2 {
      %a = memref.load %x[%i, %j] : memref<4x2xf32>
      %b = arith.mulf %a, %f : f32
      memref.store %b, %y[%i, %j] : memref<4x2xf32>
    }
  }
}
cl.program @chain(%x: memref<4x2xf32>, %y: memref<4x2xf32>, %z: memref<4x2xf32>) inputs 1 {
  %s = cl.alloc : memref<2x2xf32>
  cl.enqueue_kernel @sum(%x, %s) : memref<4x2xf32>, memref<2x2xf32>
  %v = cl.view %s : memref<2x2xf32> to memref<4xf32>
  cl.enqueue_kernel @scale(%v, %x, %y) : memref<4xf32>, memref<4x2xf32>, memref<4x2xf32>
  %u = cl.alloc : memref<4x2xf32>
  cl.enqueue_copy %y, %u : memref<4x2xf32>
  %t = cl.alloc : memref<2x2xf32>
  cl.enqueue_kernel @sum(%x, %t) : memref<4x2xf32>, memref<2x2xf32>
  %w = cl.view %t : memref<2x2xf32> to memref<4xf32>
  cl.enqueue_kernel @scale(%w, %x, %z) : memref<4xf32>, memref<4x2xf32>, memref<4x2xf32>
  cl.return
}

// -----

// Work-items of a short kernel are spread over those of a long one beside it. What is independent of
// all that is between may overtake it, with its memory; what needs a result waits for it.
// CHECK-LABEL: tir.func @twice_beside_negated(%x: memref<4x2xf32>, %a: memref<4x2xf32>, %b: memref<3xf32>)
// CHECK-SAME:    outputs = array<i64: 1, 2>, comment = "twice; negated", global_size = array<i64: 8>, local_size = array<i64: 1>}
// CHECK-NEXT:    tir.for global_x %item = 0 to 8 {
// CHECK-NEXT:      [[row:%.*]] = affine.apply affine_map<(d0) -> ((d0 floordiv 2))> (%item)
// CHECK-NEXT:      [[col:%.*]] = affine.apply affine_map<(d0) -> ((d0 mod 2))> (%item)
// CHECK-NEXT:      memref.load %x[[[row]], [[col]]]
// CHECK:           memref.store {{%.*}}, %a[[[row]], [[col]]]
// CHECK-NEXT:      [[i:%.*]] = affine.apply affine_map<(d0) -> ((((d0 * 3) + 7) floordiv 8))> (%item)
// CHECK-NEXT:      [[end:%.*]] = affine.apply affine_map<(d0) -> (((((d0 * 3) + 2) floordiv 8) + 1))> (%item)
// CHECK-NEXT:      [[is_one:%.*]] = arith.cmpi slt, [[i]], [[end]] : index
// CHECK-NEXT:      scf.if [[is_one]] {
// CHECK:             memref.store {{%.*}}, %b[[[i]]]
// CHECK-LABEL: tir.func @twice(
// CHECK-LABEL: tir.func @large(
// CHECK-LABEL: cl.program @branches
// CHECK-NEXT:    %a = cl.alloc
// CHECK-NEXT:    cl.enqueue_kernel @twice_beside_negated(%x, %a, %z)
// CHECK-NEXT:    %c = cl.alloc
// CHECK-NEXT:    cl.enqueue_kernel @twice(%a, %c)
// CHECK-NEXT:    cl.enqueue_kernel @twice(%c, %y)
// CHECK-NEXT:    cl.enqueue_kernel @large(%x, %v)
tir.func @twice(%x: memref<4x2xf32>, %a: memref<4x2xf32>) attributes {outputs = array<i64: 1>, comment = "twice", global_size = array<i64: 2, 4>, local_size = array<i64: 1, 1>} {
  tir.for global_y %i = 0 to 4 {
    tir.for global_x %j = 0 to 2 {
      %v = memref.load %x[%i, %j] : memref<4x2xf32>
      %w = arith.addf %v, %v : f32
      memref.store %w, %a[%i, %j] : memref<4x2xf32>
    }
  }
}
tir.func @negated(%x: memref<4x2xf32>, %b: memref<3xf32>) attributes {outputs = array<i64: 1>, comment = "negated", global_size = array<i64: 3>, local_size = array<i64: 1>} {
  tir.for global_x %i = 0 to 3 {
    %c = arith.constant 1 : index
    %v = memref.load %x[%i, %c] : memref<4x2xf32>
    %w = arith.negf %v : f32
    memref.store %w, %b[%i] : memref<3xf32>
  }
}
tir.func @large(%x: memref<4x2xf32>, %b: memref<3xf32>) attributes {outputs = array<i64: 1>, global_size = array<i64: 3>, local_size = array<i64: 1>} {
  tir.for global_x %i = 0 to 3 {
    tir.for serial %j = 0 to 10000000 {
      %c = arith.constant 1 : index
      %v = memref.load %x[%i, %c] : memref<4x2xf32>
      %w = arith.negf %v : f32
      memref.store %w, %b[%i] : memref<3xf32>
    }
  }
}
cl.program @branches(%x: memref<4x2xf32>, %y: memref<4x2xf32>, %z: memref<3xf32>, %v: memref<3xf32>) inputs 1 {
  %a = cl.alloc : memref<4x2xf32>
  cl.enqueue_kernel @twice(%x, %a) : memref<4x2xf32>, memref<4x2xf32>
  %c = cl.alloc : memref<4x2xf32>
  cl.enqueue_kernel @twice(%a, %c) : memref<4x2xf32>, memref<4x2xf32>
  cl.enqueue_kernel @twice(%c, %y) : memref<4x2xf32>, memref<4x2xf32>
  cl.enqueue_kernel @negated(%x, %z) : memref<4x2xf32>, memref<3xf32>
  cl.enqueue_kernel @large(%x, %v) : memref<4x2xf32>, memref<3xf32>
  cl.return
}
