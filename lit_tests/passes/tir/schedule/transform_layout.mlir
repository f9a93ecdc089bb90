// RUN: clopt %s -p tir-apply-schedule --split-input-file --verify-diagnostics | filecheck %s

// Weights in blocks of four columns: the tile of a product walks straight through them. The kernel
// asks for them and still reads the plain ones: `cl-pack-constants` changes it with its launches.
// CHECK-LABEL: @blocks
// CHECK-SAME: %w: memref<3x8xf32>
// CHECK-SAME: layouts = {"1" = affine_map<(d0, d1) -> ((d1 floordiv 4), d0, (d1 mod 4))>}
// CHECK:      memref.load %w[%k, %j] : memref<3x8xf32>
tir.func @blocks(%x: memref<5x3xf32>, %w: memref<3x8xf32>, %y: memref<5x8xf32>) attributes {outputs = array<i64: 2>, constants = array<i64: 1>, schedule = ["transform_layout w d1/4 d0 d1%4"]} {
  tir.for parallel %a = 0 to 5 {
    tir.for parallel %b = 0 to 8 {
      tir.for serial %c = 0 to 3 {
        tir.block "mm" (%i: spatial 5, %j: spatial 8, %k: reduce 3) = affine_map<(d0, d1, d2) -> (d0, d1, d2)> (%a, %b, %c) init [0.0 : f32] {
          %p = memref.load %x[%i, %k] : memref<5x3xf32>
          %q = memref.load %w[%k, %j] : memref<3x8xf32>
          %old = memref.load %y[%i, %j] : memref<5x8xf32>
          %pq = arith.mulf %p, %q : f32
          %new = arith.addf %old, %pq : f32
          memref.store %new, %y[%i, %j] : memref<5x8xf32>
        }
      }
    }
  }
}

// -----

// Another order, and blocks that the size does not fill: they are padded.
// CHECK-LABEL: @padded
// CHECK-SAME: layouts = {"0" = affine_map<(d0, d1) -> (d1, (d0 floordiv 4), (d0 mod 4))>}
tir.func @padded(%w: memref<7x3xf32>, %y: memref<7x3xf32>) attributes {outputs = array<i64: 1>, constants = array<i64: 0>, schedule = ["transform_layout w d1 d0/4 d0%4"]} {
  tir.for parallel %a = 0 to 7 {
    tir.for parallel %b = 0 to 3 {
      tir.block "copy" (%i: spatial 7, %j: spatial 3) = affine_map<(d0, d1) -> (d0, d1)> (%a, %b) {
        %p = memref.load %w[%i, %j] : memref<7x3xf32>
        memref.store %p, %y[%i, %j] : memref<7x3xf32>
      }
    }
  }
}

// -----

// A temporary: its dimensions change places, and with them the indices of every access.
// CHECK-LABEL: @temporary
// CHECK:      %t = memref.alloca() : memref<3x7xf32>
// CHECK:      memref.store %p, %t[%j, %i] : memref<3x7xf32>
// CHECK:      memref.load %t[%{{.*}}, %{{.*}}] : memref<3x7xf32>
tir.func @temporary(%w: memref<7x3xf32>, %y: memref<7x3xf32>) attributes {outputs = array<i64: 1>, schedule = ["transform_layout t d1 d0"]} {
  %t = memref.alloca() : memref<7x3xf32>
  tir.for parallel %a = 0 to 7 {
    tir.for parallel %b = 0 to 3 {
      tir.block "fill" (%i: spatial 7, %j: spatial 3) = affine_map<(d0, d1) -> (d0, d1)> (%a, %b) {
        %p = memref.load %w[%i, %j] : memref<7x3xf32>
        memref.store %p, %t[%i, %j] : memref<7x3xf32>
      }
    }
  }
  tir.for parallel %a = 0 to 7 {
    tir.for parallel %b = 0 to 3 {
      tir.block "copy" (%i: spatial 7, %j: spatial 3) = affine_map<(d0, d1) -> (d0, d1)> (%a, %b) {
        %p = memref.load %t[%i, %j] : memref<7x3xf32>
        memref.store %p, %y[%i, %j] : memref<7x3xf32>
      }
    }
  }
}

// -----

// expected-error@unknown {{@blocked, memref.alloca 't': only a temporary in global memory can be stored in blocks}}
tir.func @blocked(%w: memref<7x3xf32>, %y: memref<7x3xf32>) attributes {outputs = array<i64: 1>, schedule = ["transform_layout t d1 d0/4 d0%4"]} {
  %t = memref.alloca() : memref<7x3xf32>
  tir.for parallel %a = 0 to 7 {
    tir.for parallel %b = 0 to 3 {
      tir.block "fill" (%i: spatial 7, %j: spatial 3) = affine_map<(d0, d1) -> (d0, d1)> (%a, %b) {
        %p = memref.load %w[%i, %j] : memref<7x3xf32>
        memref.store %p, %t[%i, %j] : memref<7x3xf32>
      }
    }
  }
}

// -----

// expected-error@unknown {{@input: parameter 0 is not a constant, so its layout is fixed}}
tir.func @input(%w: memref<7x3xf32>, %y: memref<7x3xf32>) attributes {outputs = array<i64: 1>, schedule = ["transform_layout w d1 d0"]} {
}

// -----

// expected-error@unknown {{@again: the layout of parameter 0 is already chosen}}
tir.func @again(%w: memref<7x3xf32>, %y: memref<7x3xf32>) attributes {outputs = array<i64: 1>, constants = array<i64: 0>, schedule = ["transform_layout w d1 d0", "transform_layout w d1 d0"]} {
}

// -----

// expected-error@unknown {{@unknown: there is no buffer 'v'; the buffers are w, y}}
tir.func @unknown(%w: memref<7x3xf32>, %y: memref<7x3xf32>) attributes {outputs = array<i64: 1>, constants = array<i64: 0>, schedule = ["transform_layout v d1 d0"]} {
}

// -----

// expected-error@unknown {{@part: 'd0+1' in 'transform_layout w d1 d0+1' is not a part such as d0, d0/4, d0%4}}
tir.func @part(%w: memref<7x3xf32>, %y: memref<7x3xf32>) attributes {outputs = array<i64: 1>, constants = array<i64: 0>, schedule = ["transform_layout w d1 d0+1"]} {
}

// -----

// expected-error@unknown {{@twice: (d0, d1) -> (d1, d0, (d0 mod 4)) is not a layout of 7x3 elements}}
tir.func @twice(%w: memref<7x3xf32>, %y: memref<7x3xf32>) attributes {outputs = array<i64: 1>, constants = array<i64: 0>, schedule = ["transform_layout w d1 d0 d0%4"]} {
}
