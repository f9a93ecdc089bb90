// RUN: clopt %s | clopt | filecheck %s
// RUN: clopt %s --print-op-generic | clopt | filecheck %s

// A kernel before tir-lower-blocks: blocks with their own iteration variables.
// CHECK:      tir.func @sums(%x: memref<8x20xf32>, %y: memref<8xf32>) attributes {outputs = array<i64: 1>, comment = "nodes: sum", plan = #tir.plan<"gpu-matmul", 2, {group = [8, 4], rows = -1, cols = 4, vectors = 2, spread = "apart", depth = 8, panels = "packed", load = 4, prefetch = 0}>} {
// CHECK-NEXT:   tir.for global_x %i = 0 to 8 {
// CHECK-NEXT:     tir.for serial %ko = 0 to 3 {
// CHECK-NEXT:       tir.for unrolled %ki = 0 to 8 {
// CHECK-NEXT:         tir.block "sum" (%vi: spatial 8, %vk: reduce 20) = affine_map<(d0, d1, d2) -> (d0, ((d1 * 8) + d2))> (%i, %ko, %ki) init [0.000000e+00 : f32] {
// CHECK-NEXT:           %a = memref.load %x[%vi, %vk] : memref<8x20xf32>
tir.func @sums(%x: memref<8x20xf32>, %y: memref<8xf32>) attributes {outputs = array<i64: 1>, comment = "nodes: sum", plan = #tir.plan<"gpu-matmul", 2, {group = [8, 4], rows = -1, cols = 4, vectors = 2, spread = "apart", depth = 8, panels = "packed", load = 4, prefetch = 0}>} {
  tir.for global_x %i = 0 to 8 {
    tir.for serial %ko = 0 to 3 {
      tir.for unrolled %ki = 0 to 8 {
        tir.block "sum" (%vi: spatial 8, %vk: reduce 20) = affine_map<(d0, d1, d2) -> (d0, d1 * 8 + d2)> (%i, %ko, %ki) init [0.0 : f32] {
          %a = memref.load %x[%vi, %vk] : memref<8x20xf32>
          %b = memref.load %y[%vi] : memref<8xf32>
          %c = arith.addf %a, %b : f32
          memref.store %c, %y[%vi] : memref<8xf32>
        }
      }
    }
  }
}

// A kernel after it: scopes, an index space, a barrier, a builtin by name.
// CHECK:      tir.func @swap(%x: memref<4x8xf32>, %table: memref<8xf32, #tir.scope<constant>>, %y: memref<4x8xf32>) attributes {outputs = array<i64: 2>, global_size = array<i64: 32>, local_size = array<i64: 8>} {
// CHECK-NEXT:   %row = memref.alloca() : memref<8xf32, #tir.scope<local>>
// CHECK-NEXT:   tir.for group_x %g = 0 to 4 {
// CHECK-NEXT:     tir.for local_x %t = 0 to 8 {
// CHECK-NEXT:       %one = memref.alloca() : memref<1xf32, #tir.scope<private>>
// CHECK-NEXT:       %a = memref.load %x[%g, %t] : memref<4x8xf32>
// CHECK-NEXT:       %b = tir.call "asinh"(%a) : (f32) -> f32
// CHECK-NEXT:       memref.store %b, %row[%t] : memref<8xf32, #tir.scope<local>>
// CHECK-NEXT:       tir.barrier
// CHECK-NEXT:       %back = affine.apply affine_map<(d0) -> (((d0 * -1) + 7))> (%t)
tir.func @swap(%x: memref<4x8xf32>, %table: memref<8xf32, #tir.scope<constant>>, %y: memref<4x8xf32>) attributes {outputs = array<i64: 2>, global_size = array<i64: 32>, local_size = array<i64: 8>} {
  %row = memref.alloca() : memref<8xf32, #tir.scope<local>>
  tir.for group_x %g = 0 to 4 {
    tir.for local_x %t = 0 to 8 {
      %one = memref.alloca() : memref<1xf32, #tir.scope<private>>
      %a = memref.load %x[%g, %t] : memref<4x8xf32>
      %b = tir.call "asinh"(%a) : (f32) -> f32
      memref.store %b, %row[%t] : memref<8xf32, #tir.scope<local>>
      tir.barrier
      %back = affine.apply affine_map<(d0) -> (7 - d0)> (%t)
      %c = memref.load %row[%back] : memref<8xf32, #tir.scope<local>>
      memref.store %c, %y[%g, %t] : memref<4x8xf32>
    }
  }
}

// CHECK:      tir.func @kinds() attributes {outputs = array<i64>} {
// CHECK-NEXT:   tir.for parallel %a = 0 to 2 {
// CHECK-NEXT:     tir.for vectorized %b = 0 to 16 {
// CHECK:        tir.for group_z %c = 0 to 5 {
// CHECK-NEXT:     tir.for local_z %d = 0 to 0 {
tir.func @kinds() attributes {outputs = array<i64>} {
  tir.for parallel %a = 0 to 2 {
    tir.for vectorized %b = 0 to 16 {
    }
  }
  tir.for group_z %c = 0 to 5 {
    tir.for local_z %d = 0 to 0 {
    }
  }
}

// CHECK:      tir.func @relu(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = array<i64: 1>, in_place = [array<i64: 0, 1>]} {
tir.func @relu(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = array<i64: 1>, in_place = [array<i64: 0, 1>]} {
}
