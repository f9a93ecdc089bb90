// RUN: clopt %s -p tir-apply-plan --split-input-file --verify-diagnostics

// expected-error@unknown {{@outside: its plan is not a point of rule 'gpu-elementwise': its group is 1, 2, 4, 8, 16, 32, 64, 128, 256, 512 or 1024, not 3}}
builtin.module attributes {cl.target = #cl.target<"gpu", {device_type = "gpu"}>} {
tir.func @outside(%x: memref<64xf32>, %y: memref<64xf32>) attributes {outputs = array<i64: 1>, plan = #tir.plan<"gpu-elementwise", 1, {group = 3}>} {
  tir.for parallel %i = 0 to 64 {
    tir.block "copy" (%vi: spatial 64) = affine_map<(d0) -> (d0)> (%i) {
      %a = memref.load %x[%vi] : memref<64xf32>
      memref.store %a, %y[%vi] : memref<64xf32>
    }
  }
}
}

// -----

// expected-error@unknown {{@other: its plan is of rule 'gpu-elementwise', which does not apply: it needs a GPU}}
builtin.module attributes {cl.target = #cl.target<"cpu", {}>} {
tir.func @other(%x: memref<64xf32>, %y: memref<64xf32>) attributes {outputs = array<i64: 1>, plan = #tir.plan<"gpu-elementwise", 1, {group = 64}>} {
  tir.for parallel %i = 0 to 64 {
    tir.block "copy" (%vi: spatial 64) = affine_map<(d0) -> (d0)> (%i) {
      %a = memref.load %x[%vi] : memref<64xf32>
      memref.store %a, %y[%vi] : memref<64xf32>
    }
  }
}
}
