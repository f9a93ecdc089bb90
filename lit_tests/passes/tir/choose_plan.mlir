// RUN: clopt %s -p tir-choose-plan --split-input-file --verify-diagnostics | filecheck %s

// The default of the first rule that fits is noted, and the loops stay.
// CHECK-LABEL: tir.func @copy
// CHECK-SAME:    plan = #tir.plan<"cpu-elementwise", 1, {local_size = [1, 1, 1], width = 8, chunk = 1}>
// CHECK-NEXT:    tir.for parallel %i = 0 to 64 {
builtin.module attributes {cl.target = #cl.target<"cpu", {}>} {
tir.func @copy(%x: memref<64xf32>, %y: memref<64xf32>) attributes {outputs = array<i64: 1>} {
  tir.for parallel %i = 0 to 64 {
    tir.block "copy" (%vi: spatial 64) = affine_map<(d0) -> (d0)> (%i) {
      %a = memref.load %x[%vi] : memref<64xf32>
      memref.store %a, %y[%vi] : memref<64xf32>
    }
  }
}
}

// -----

// A kernel that carries a plan keeps it; one with a schedule gets none.
// CHECK-LABEL: tir.func @given
// CHECK-SAME:    plan = #tir.plan<"gpu-elementwise", 1, {group = 64}>
// CHECK-LABEL: tir.func @own
// CHECK-NOT:     tir.plan
builtin.module attributes {cl.target = #cl.target<"gpu", {device_type = "gpu"}>} {
tir.func @given(%x: memref<64xf32>, %y: memref<64xf32>) attributes {outputs = array<i64: 1>, plan = #tir.plan<"gpu-elementwise", 1, {group = 64}>} {
  tir.for parallel %i = 0 to 64 {
    tir.block "copy" (%vi: spatial 64) = affine_map<(d0) -> (d0)> (%i) {
      %a = memref.load %x[%vi] : memref<64xf32>
      memref.store %a, %y[%vi] : memref<64xf32>
    }
  }
}
tir.func @own(%x: memref<64xf32>, %y: memref<64xf32>) attributes {outputs = array<i64: 1>, schedule = ["bind copy.i global_x"]} {
  tir.for parallel %i = 0 to 64 {
    tir.block "copy" (%vi: spatial 64) = affine_map<(d0) -> (d0)> (%i) {
      %a = memref.load %x[%vi] : memref<64xf32>
      memref.store %a, %y[%vi] : memref<64xf32>
    }
  }
}
}
