// RUN: clopt %s --split-input-file --verify-diagnostics
// RUN: clopt %s -p verify --split-input-file --verify-diagnostics

// A plan is verified wherever it stands: its rule, its version, and the names and types of its
// parameters.

module {
  // expected-error@+1 {{@unknown: its plan is of rule 'no-such-rule', but the rules are texels}}
  tir.func @unknown(%x: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = array<i64: 1>, plan = #tir.plan<"no-such-rule", 7, {rows = "many"}>} {
    tir.for parallel %i = 0 to 8 {
      tir.block "out" (%vi: spatial 8) = affine_map<(d0) -> (d0)> (%i) {
        %a = memref.load %x[%vi] : memref<8xf32>
        memref.store %a, %y[%vi] : memref<8xf32>
      }
    }
  }
}

// -----

module {
  // expected-error@+1 {{@older: its plan is of version 1 of rule 'register-tile', which is at version 4; choose a plan again}}
  tir.func @older(%x: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = array<i64: 1>, plan = #tir.plan<"register-tile", 1, {rows = 4}>} {
    tir.for global_x %i = 0 to 8 {
      tir.block "out" (%vi: spatial 8) = affine_map<(d0) -> (d0)> (%i) {
        %a = memref.load %x[%vi] : memref<8xf32>
        memref.store %a, %y[%vi] : memref<8xf32>
      }
    }
  }
}

// -----

module {
  // expected-error@+1 {{@word: its plan does not fit rule 'rows': its width is a number, not 'wide'}}
  tir.func @word(%x: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = array<i64: 1>, plan = #tir.plan<"rows", 1, {local_size = [1, 1, 1], width = "wide"}>} {
    tir.for global_x %i = 0 to 8 {
      tir.block "out" (%vi: spatial 8) = affine_map<(d0) -> (d0)> (%i) {
        %a = memref.load %x[%vi] : memref<8xf32>
        memref.store %a, %y[%vi] : memref<8xf32>
      }
    }
  }
}

// -----

// A plan on a scheduled kernel was carried out, or is an error.

module {
  // expected-error@+1 {{@late: the kernel is scheduled, but its plan was not carried out; remove the plan, or start from the naive kernel}}
  tir.func @late(%x: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = array<i64: 1>, plan = #tir.plan<"cpu-elementwise", 1, {local_size = [1, 1, 1], width = 8, chunk = 1}>, global_size = array<i64: 8>, local_size = array<i64: 1>} {
    tir.for global_x %i = 0 to 8 {
      %a = memref.load %x[%i] : memref<8xf32>
      memref.store %a, %y[%i] : memref<8xf32>
    }
  }
}

// -----

module {
  // expected-error@+1 {{@another: its plan is not the one that was carried out; change the plan of the naive kernel}}
  tir.func @another(%x: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = array<i64: 1>, plan = #tir.plan<"cpu-elementwise", 1, {local_size = [1, 1, 1], width = 8, chunk = 1}>, carried_out = "0123456789abcdef"} {
    tir.for global_x %i = 0 to 8 {
      tir.block "out" (%vi: spatial 8) = affine_map<(d0) -> (d0)> (%i) {
        %a = memref.load %x[%vi] : memref<8xf32>
        memref.store %a, %y[%vi] : memref<8xf32>
      }
    }
  }
}
