// RUN: clopt %s -p tir-apply-schedule --split-input-file --verify-diagnostics | filecheck %s

// The kernel asks for work-groups of this size.
// CHECK: tir.func @size({{.*}}) attributes {outputs = array<i64: 1>, local_size = array<i64: 8, 1>} {
tir.func @size(%x: memref<16xf32>, %y: memref<16xf32>) attributes {outputs = array<i64: 1>, schedule = ["bind copy.i global_x", "local_size 8 1"]} {
  tir.for parallel %i = 0 to 16 {
    tir.block "copy" (%vi: spatial 16) = affine_map<(d0) -> (d0)> (%i) {
      %a = memref.load %x[%vi] : memref<16xf32>
      memref.store %a, %y[%vi] : memref<16xf32>
    }
  }
}

// -----

// expected-error@unknown {{@zero: a work-group must have one to three positive sizes, not (0,)}}
tir.func @zero(%x: memref<16xf32>, %y: memref<16xf32>) attributes {outputs = array<i64: 1>, schedule = ["local_size 0"]} {
  tir.for parallel %i = 0 to 16 {
    tir.block "copy" (%vi: spatial 16) = affine_map<(d0) -> (d0)> (%i) {
      %a = memref.load %x[%vi] : memref<16xf32>
      memref.store %a, %y[%vi] : memref<16xf32>
    }
  }
}
