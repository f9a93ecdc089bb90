// RUN: clopt %s -p tir-apply-schedule --split-input-file --verify-diagnostics | filecheck %s

// CHECK-LABEL: @kept(
// CHECK: memref.load %a[%vi, %vj] : memref
// CHECK-NEXT: memref.load %b[%vj] {tir.ahead = 256 : i64} : memref
tir.func @kept(%a: memref<8x16xf32>, %b: memref<16xf32>, %y: memref<8x16xf32>) attributes {outputs = array<i64: 2>, schedule = ["fetch_ahead out b 256"]} {
  tir.for parallel %i = 0 to 8 {
    tir.for parallel %j = 0 to 16 {
      tir.block "out" (%vi: spatial 8, %vj: spatial 16) = affine_map<(d0, d1) -> (d0, d1)> (%i, %j) {
        %p = memref.load %a[%vi, %vj] : memref<8x16xf32>
        %q = memref.load %b[%vj] : memref<16xf32>
        %s = arith.addf %p, %q : f32
        memref.store %s, %y[%vi, %vj] : memref<8x16xf32>
      }
    }
  }
}

// -----

// expected-error@unknown {{@unread, block 'out': it does not read 'b'}}
tir.func @unread(%a: memref<8xf32>, %b: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = array<i64: 2>, schedule = ["fetch_ahead out b 256"]} {
  tir.for parallel %i = 0 to 8 {
    tir.block "out" (%vi: spatial 8) = affine_map<(d0) -> (d0)> (%i) {
      %p = memref.load %a[%vi] : memref<8xf32>
      memref.store %p, %y[%vi] : memref<8xf32>
    }
  }
}

// -----

// expected-error@unknown {{@near, block 'out': the distance must be at least one byte, not 0}}
tir.func @near(%a: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = array<i64: 1>, schedule = ["fetch_ahead out a 0"]} {
  tir.for parallel %i = 0 to 8 {
    tir.block "out" (%vi: spatial 8) = affine_map<(d0) -> (d0)> (%i) {
      %p = memref.load %a[%vi] : memref<8xf32>
      memref.store %p, %y[%vi] : memref<8xf32>
    }
  }
}

// -----

// expected-error@unknown {{@inside, block 'out': 't' is a temporary, not a parameter}}
tir.func @inside(%a: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = array<i64: 1>, schedule = ["fetch_ahead out t 64"]} {
  %t = memref.alloca() : memref<8xf32>
  tir.for parallel %i = 0 to 8 {
    tir.block "copy" (%vi: spatial 8) = affine_map<(d0) -> (d0)> (%i) {
      %p = memref.load %a[%vi] : memref<8xf32>
      memref.store %p, %t[%vi] : memref<8xf32>
    }
  }
  tir.for parallel %i = 0 to 8 {
    tir.block "out" (%vi: spatial 8) = affine_map<(d0) -> (d0)> (%i) {
      %p = memref.load %t[%vi] : memref<8xf32>
      memref.store %p, %y[%vi] : memref<8xf32>
    }
  }
}
