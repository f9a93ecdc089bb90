// RUN: clopt %s -p tir-apply-plan,tir-split-kernels --split-input-file --verify-diagnostics | filecheck %s

// The sums of four parts are a buffer between two kernels, which each launch gets. Parts that no
// schedule has touched have the form of naive kernels: spatial variables come first, as stored.
// CHECK-LABEL: tir.func @sums_parts(%x: memref<3x10xf32>, %t_rf: memref<4x3xf32>)
// CHECK-SAME:    outputs = array<i64: 1>, comment = "sums", part_of = "sums"}
// CHECK-NEXT:    memref.alloca() : memref<4x3xf32>
// CHECK-NEXT:    tir.for parallel %ko = 0 to 4 {
// CHECK-NEXT:      tir.for parallel %i = 0 to 3 {
// CHECK-NEXT:        tir.for serial %ki = 0 to 3 {
// CHECK-NEXT:          tir.block "sum_rf" (%ko_1: spatial 4, %i_1: spatial 3, %ki_1: reduce 3)
// The last part is shorter.
// CHECK:                 arith.cmpi slt
// CHECK:           tir.block "sum_rf_write"
// CHECK:             memref.store %{{.*}}, %t_rf[
// CHECK-LABEL: tir.func @sums(%b: memref<3xf32>, %t_rf: memref<4x3xf32>, %y: memref<3xf32>)
// CHECK-SAME:    outputs = array<i64: 2>, constants = array<i64: 0>
// CHECK:           tir.block "sum" (%i_1: spatial 3, %ko_1: reduce 4)
// CHECK:           tir.block "out"
// CHECK-LABEL: cl.program @main
// CHECK:         %t_rf = cl.alloc : memref<4x3xf32>
// CHECK-NEXT:    cl.enqueue_kernel @sums_parts(%x, %t_rf)
// CHECK-NEXT:    cl.enqueue_kernel @sums(%b, %t_rf, %y)
// CHECK-NEXT:    %t_rf_1 = cl.alloc : memref<4x3xf32>
// CHECK-NEXT:    cl.enqueue_kernel @sums_parts(%x, %t_rf_1)
// CHECK-NEXT:    cl.enqueue_kernel @sums(%b, %t_rf_1, %z)
// CHECK-NEXT:    cl.return
tir.func @sums(%x: memref<3x10xf32>, %b: memref<3xf32>, %y: memref<3xf32>) attributes {outputs = array<i64: 2>, constants = array<i64: 1>, comment = "sums", plan = #tir.plan<"split-reduction", 1, {along = 0, parts = 4}>} {
  %t = memref.alloca() : memref<3xf32>
  tir.for parallel %i = 0 to 3 {
    tir.for serial %k = 0 to 10 {
      tir.block "sum" (%vi: spatial 3, %vk: reduce 10) = affine_map<(d0, d1) -> (d0, d1)> (%i, %k) init [0.0 : f32] {
        %old = memref.load %t[%vi] : memref<3xf32>
        %e = memref.load %x[%vi, %vk] : memref<3x10xf32>
        %new = arith.addf %old, %e : f32
        memref.store %new, %t[%vi] : memref<3xf32>
      }
    }
  }
  tir.for parallel %i = 0 to 3 {
    tir.block "out" (%vi: spatial 3) = affine_map<(d0) -> (d0)> (%i) {
      %s = memref.load %t[%vi] : memref<3xf32>
      %c = memref.load %b[%vi] : memref<3xf32>
      %r = arith.addf %s, %c : f32
      memref.store %r, %y[%vi] : memref<3xf32>
    }
  }
}
cl.program @main(%x: memref<3x10xf32>, %y: memref<3xf32>, %z: memref<3xf32>) inputs 1 {
  %b = cl.constant "w" : memref<3xf32>
  cl.enqueue_kernel @sums(%x, %b, %y) : memref<3x10xf32>, memref<3xf32>, memref<3xf32>
  cl.enqueue_kernel @sums(%x, %b, %z) : memref<3x10xf32>, memref<3xf32>, memref<3xf32>
  cl.return
}

// -----

// Both parts run on the conditions of the kernel.
// CHECK-LABEL: tir.func @sums_parts(%x: memref<3x10xf32>, %c: memref<i1>, %t_rf: memref<4x3xf32>)
// CHECK-SAME:    runs_if = [array<i64: 1, 0>]
// CHECK-LABEL: tir.func @sums(%c: memref<i1>, %t_rf: memref<4x3xf32>, %y: memref<3xf32>)
// CHECK-SAME:    runs_if = [array<i64: 0, 0>]
// CHECK:         cl.enqueue_kernel @sums_parts(%x, %c, %t_rf)
// CHECK-NEXT:    cl.enqueue_kernel @sums(%c, %t_rf, %y)
tir.func @sums(%x: memref<3x10xf32>, %c: memref<i1>, %y: memref<3xf32>) attributes {outputs = array<i64: 2>, runs_if = [array<i64: 1, 0>], comment = "sums", plan = #tir.plan<"split-reduction", 1, {along = 0, parts = 4}>} {
  %t = memref.alloca() : memref<3xf32>
  tir.for parallel %i = 0 to 3 {
    tir.for serial %k = 0 to 10 {
      tir.block "sum" (%vi: spatial 3, %vk: reduce 10) = affine_map<(d0, d1) -> (d0, d1)> (%i, %k) init [0.0 : f32] {
        %old = memref.load %t[%vi] : memref<3xf32>
        %e = memref.load %x[%vi, %vk] : memref<3x10xf32>
        %new = arith.addf %old, %e : f32
        memref.store %new, %t[%vi] : memref<3xf32>
      }
    }
  }
  tir.for parallel %i = 0 to 3 {
    tir.block "out" (%vi: spatial 3) = affine_map<(d0) -> (d0)> (%i) {
      %e = memref.load %t[%vi] : memref<3xf32>
      memref.store %e, %y[%vi] : memref<3xf32>
    }
  }
}
cl.program @main(%x: memref<3x10xf32>, %c: memref<i1>, %y: memref<3xf32>) inputs 2 {
  cl.enqueue_kernel @sums(%x, %c, %y) : memref<3x10xf32>, memref<i1>, memref<3xf32>
  cl.return
}

// -----

// Steps cut a kernel, too, and their loops keep the places that they have. Both kernels compute
// what both need.
// CHECK-LABEL: tir.func @twice_parts(%x: memref<8xf32>, %u: memref<8xf32>)
// CHECK:           tir.block "double"
// CHECK:         tir.for group_x %i
// CHECK:           tir.block "square"
// CHECK-LABEL: tir.func @twice(%x: memref<8xf32>, %u: memref<8xf32>, %y: memref<8xf32>)
// CHECK:           tir.block "double"
// CHECK-NOT:       "square"
// CHECK:           tir.block "out"
tir.func @twice(%x: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = array<i64: 1>, schedule = ["set_scope u global", "set_scope t private", "bind square.i group_x"]} {
  %t = memref.alloca() : memref<8xf32>
  %u = memref.alloca() : memref<8xf32>
  tir.for parallel %i = 0 to 8 {
    tir.block "double" (%v: spatial 8) = affine_map<(d0) -> (d0)> (%i) {
      %e = memref.load %x[%v] : memref<8xf32>
      %r = arith.addf %e, %e : f32
      memref.store %r, %t[%v] : memref<8xf32>
    }
  }
  tir.for parallel %i = 0 to 8 {
    tir.block "square" (%v: spatial 8) = affine_map<(d0) -> (d0)> (%i) {
      %e = memref.load %t[%v] : memref<8xf32>
      %r = arith.mulf %e, %e : f32
      memref.store %r, %u[%v] : memref<8xf32>
    }
  }
  tir.for parallel %i = 0 to 8 {
    tir.block "out" (%v: spatial 8) = affine_map<(d0) -> (d0)> (%i) {
      %e = memref.load %t[%v] : memref<8xf32>
      %f = memref.load %u[%v] : memref<8xf32>
      %r = arith.addf %e, %f : f32
      memref.store %r, %y[%v] : memref<8xf32>
    }
  }
}

// -----

// Whoever reads the buffer does so in another launch.
// expected-error@unknown {{@same, block 'out': it reads 't', which other work-items write in the same launch; compute it outside the loops of that stage}}
tir.func @same(%x: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = array<i64: 1>, schedule = ["compute_at double out.i", "set_scope t global"]} {
  %t = memref.alloca() : memref<8xf32>
  tir.for parallel %i = 0 to 8 {
    tir.block "double" (%v: spatial 8) = affine_map<(d0) -> (d0)> (%i) {
      %e = memref.load %x[%v] : memref<8xf32>
      memref.store %e, %t[%v] : memref<8xf32>
    }
  }
  tir.for parallel %i = 0 to 8 {
    tir.block "out" (%v: spatial 8) = affine_map<(d0) -> (d0)> (%i) {
      %e = memref.load %t[%v] : memref<8xf32>
      memref.store %e, %y[%v] : memref<8xf32>
    }
  }
}
