// RUN: clopt %s --split-input-file --verify-diagnostics

// The loops around a block run through its domain; see dialects/tir/domain.py.

tir.func @part(%x: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = array<i64: 1>} {
  tir.for parallel %i = 0 to 4 {
    // expected-error@+1 {{the loops miss 4, one of the 8 values of 'v'}}
    tir.block "copy" (%v: spatial 8) = affine_map<(d0) -> (d0)> (%i) {
      %a = memref.load %x[%v] : memref<8xf32>
      memref.store %a, %y[%v] : memref<8xf32>
    }
  }
}

// -----

tir.func @behind(%x: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = array<i64: 1>} {
  tir.for parallel %i = 0 to 8 {
    // expected-error@+1 {{the loops miss 0, one of the 8 values of 'v'}}
    tir.block "copy" (%v: spatial 8) = affine_map<(d0) -> (d0 + 1)> (%i) {
      %a = memref.load %x[%v] : memref<8xf32>
      memref.store %a, %y[%v] : memref<8xf32>
    }
  }
}

// -----

// Also where it is a temporary that the block fills.
tir.func @apart(%x: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = array<i64: 1>} {
  %t = memref.alloca() : memref<8xf32>
  tir.for parallel %i = 0 to 8 {
    // expected-error@+1 {{'v' runs from 8 to 15, outside its 8 values}}
    tir.block "copy" (%v: spatial 8) = affine_map<(d0) -> (d0 + 8)> (%i) {
      %a = memref.load %x[%v] : memref<8xf32>
      memref.store %a, %t[%v] : memref<8xf32>
    }
  }
}

// -----

tir.func @even(%x: memref<7xf32>, %y: memref<7xf32>) attributes {outputs = array<i64: 1>} {
  tir.for parallel %i = 0 to 4 {
    // expected-error@+1 {{the loops miss 1, one of the 7 values of 'v'}}
    tir.block "copy" (%v: spatial 7) = affine_map<(d0) -> (d0 * 2)> (%i) {
      %a = memref.load %x[%v] : memref<7xf32>
      memref.store %a, %y[%v] : memref<7xf32>
    }
  }
}

// -----

tir.func @strides(%x: memref<7xf32>, %y: memref<7xf32>) attributes {outputs = array<i64: 1>} {
  tir.for parallel %i = 0 to 2 {
    tir.for parallel %j = 0 to 3 {
      // expected-error@+1 {{the loops miss 3, one of the 7 values of 'v'}}
      tir.block "copy" (%v: spatial 7) = affine_map<(d0, d1) -> (d0 * 4 + d1)> (%i, %j) {
        %a = memref.load %x[%v] : memref<7xf32>
        memref.store %a, %y[%v] : memref<7xf32>
      }
    }
  }
}

// -----

tir.func @diagonal(%x: memref<4x4xf32>, %y: memref<4x4xf32>) attributes {outputs = array<i64: 1>} {
  tir.for parallel %i = 0 to 4 {
    // expected-error@+1 {{the loops run 4 times, but 'v', 'w' have 16 points}}
    tir.block "copy" (%v: spatial 4, %w: spatial 4) = affine_map<(d0) -> (d0, d0)> (%i) {
      %a = memref.load %x[%v, %w] : memref<4x4xf32>
      memref.store %a, %y[%v, %w] : memref<4x4xf32>
    }
  }
}

// -----

// Each variable takes all of its values, but not all pairs occur.
tir.func @legal(%x: memref<5x2xf32>, %y: memref<5x2xf32>) attributes {outputs = array<i64: 1>} {
  tir.for parallel %i = 0 to 2 {
    tir.for parallel %j = 0 to 3 {
      // expected-error@+1 {{the loops run 6 times, but 'v', 'w' have 10 points}}
      tir.block "copy" (%v: spatial 5, %w: spatial 2) = affine_map<(d0, d1) -> (d0 * 3 + d1 - d0, d0)> (%i, %j) {
        %a = memref.load %x[%v, %w] : memref<5x2xf32>
        memref.store %a, %y[%v, %w] : memref<5x2xf32>
      }
    }
  }
}

// -----

// A temporary may be computed in part: `compute_at` has it so.
tir.func @temporary(%x: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = array<i64: 1>} {
  %t = memref.alloca() : memref<8xf32>
  tir.for parallel %i = 0 to 4 {
    tir.block "copy" (%v: spatial 8) = affine_map<(d0) -> (d0)> (%i) {
      %a = memref.load %x[%v] : memref<8xf32>
      memref.store %a, %t[%v] : memref<8xf32>
    }
  }
}

// -----

// Tiles of which the last overlaps its neighbour.
tir.func @tiles(%x: memref<10xf32>, %y: memref<10xf32>) attributes {outputs = array<i64: 1>} {
  tir.for parallel %i = 0 to 3 {
    tir.for parallel %j = 0 to 4 {
      tir.block "copy" (%v: spatial 10) = affine_map<(d0, d1) -> (d0 * 4 + d1 - d0 floordiv 2 * 2)> (%i, %j) {
        %a = memref.load %x[%v] : memref<10xf32>
        memref.store %a, %y[%v] : memref<10xf32>
      }
    }
  }
}

// -----

tir.func @half(%x: memref<8xf32>, %y: memref<1xf32>) attributes {outputs = array<i64: 1>} {
  tir.for serial %k = 0 to 4 {
    // expected-error@+1 {{the loops miss 4, one of the 8 values of 'r'}}
    tir.block "sum" (%r: reduce 8) = affine_map<(d0) -> (d0)> (%k) init [0.0 : f32] {
      %z = arith.constant 0 : index
      %a = memref.load %x[%r] : memref<8xf32>
      %b = memref.load %y[%z] : memref<1xf32>
      %c = arith.addf %a, %b : f32
      memref.store %c, %y[%z] : memref<1xf32>
    }
  }
}

// -----

tir.func @twice(%x: memref<4xf32>, %y: memref<1xf32>) attributes {outputs = array<i64: 1>} {
  tir.for serial %k = 0 to 8 {
    // expected-error@+1 {{the loops run 8 times, so the reduction counts some of the 4 points of 'r' twice}}
    tir.block "sum" (%r: reduce 4) = affine_map<(d0) -> (d0 mod 4)> (%k) init [0.0 : f32] {
      %z = arith.constant 0 : index
      %a = memref.load %x[%r] : memref<4xf32>
      %b = memref.load %y[%z] : memref<1xf32>
      %c = arith.addf %a, %b : f32
      memref.store %c, %y[%z] : memref<1xf32>
    }
  }
}

// -----

tir.func @inside(%x: memref<4xf32>, %y: memref<1xf32>) attributes {outputs = array<i64: 1>} {
  tir.for serial %k = 0 to 4 {
    tir.for serial %again = 0 to 3 {
      // expected-error@+1 {{loop 'again' is inside the reduction but drives none of its variables, so each point counts 3 times}}
      tir.block "sum" (%r: reduce 4) = affine_map<(d0) -> (d0)> (%k) init [0.0 : f32] {
        %z = arith.constant 0 : index
        %a = memref.load %x[%r] : memref<4xf32>
        %b = memref.load %y[%z] : memref<1xf32>
        %c = arith.addf %a, %b : f32
        memref.store %c, %y[%z] : memref<1xf32>
      }
    }
  }
}

// -----

// Around the reduction, it starts anew.
tir.func @around(%x: memref<4xf32>, %y: memref<1xf32>) attributes {outputs = array<i64: 1>} {
  tir.for serial %again = 0 to 3 {
    tir.for serial %k = 0 to 4 {
      tir.block "sum" (%r: reduce 4) = affine_map<(d0) -> (d0)> (%k) init [0.0 : f32] {
        %z = arith.constant 0 : index
        %a = memref.load %x[%r] : memref<4xf32>
        %b = memref.load %y[%z] : memref<1xf32>
        %c = arith.addf %a, %b : f32
        memref.store %c, %y[%z] : memref<1xf32>
      }
    }
  }
}

// -----

tir.func @at_once(%x: memref<4xf32>, %y: memref<1xf32>) attributes {outputs = array<i64: 1>} {
  tir.for global_x %k = 0 to 4 {
    // expected-error@+1 {{loop 'k' is global_x but drives a reduction, whose iterations must run one after the other}}
    tir.block "sum" (%r: reduce 4) = affine_map<(d0) -> (d0)> (%k) init [0.0 : f32] {
      %z = arith.constant 0 : index
      %a = memref.load %x[%r] : memref<4xf32>
      %b = memref.load %y[%z] : memref<1xf32>
      %c = arith.addf %a, %b : f32
      memref.store %c, %y[%z] : memref<1xf32>
    }
  }
}

// -----

tir.func @at_once(%x: memref<4xf32>, %y: memref<1xf32>) attributes {outputs = array<i64: 1>} {
  tir.for group_y %k = 0 to 4 {
    // expected-error@+1 {{loop 'k' is group_y but drives a reduction, whose iterations must run one after the other}}
    tir.block "sum" (%r: reduce 4) = affine_map<(d0) -> (d0)> (%k) init [0.0 : f32] {
      %z = arith.constant 0 : index
      %a = memref.load %x[%r] : memref<4xf32>
      %b = memref.load %y[%z] : memref<1xf32>
      %c = arith.addf %a, %b : f32
      memref.store %c, %y[%z] : memref<1xf32>
    }
  }
}

// -----

tir.func @at_once(%x: memref<4xf32>, %y: memref<1xf32>) attributes {outputs = array<i64: 1>} {
  tir.for local_z %k = 0 to 4 {
    // expected-error@+1 {{loop 'k' is local_z but drives a reduction, whose iterations must run one after the other}}
    tir.block "sum" (%r: reduce 4) = affine_map<(d0) -> (d0)> (%k) init [0.0 : f32] {
      %z = arith.constant 0 : index
      %a = memref.load %x[%r] : memref<4xf32>
      %b = memref.load %y[%z] : memref<1xf32>
      %c = arith.addf %a, %b : f32
      memref.store %c, %y[%z] : memref<1xf32>
    }
  }
}

// -----

tir.func @at_once(%x: memref<4xf32>, %y: memref<1xf32>) attributes {outputs = array<i64: 1>} {
  tir.for vectorized %k = 0 to 4 {
    // expected-error@+1 {{loop 'k' is vectorized but drives a reduction, whose iterations must run one after the other}}
    tir.block "sum" (%r: reduce 4) = affine_map<(d0) -> (d0)> (%k) init [0.0 : f32] {
      %z = arith.constant 0 : index
      %a = memref.load %x[%r] : memref<4xf32>
      %b = memref.load %y[%z] : memref<1xf32>
      %c = arith.addf %a, %b : f32
      memref.store %c, %y[%z] : memref<1xf32>
    }
  }
}

// -----

tir.func @at_once(%x: memref<4xf32>, %y: memref<1xf32>) attributes {outputs = array<i64: 1>} {
  tir.for parallel %k = 0 to 4 {
    // expected-error@+1 {{loop 'k' is parallel but drives a reduction, whose iterations must run one after the other}}
    tir.block "sum" (%r: reduce 4) = affine_map<(d0) -> (d0)> (%k) init [0.0 : f32] {
      %z = arith.constant 0 : index
      %a = memref.load %x[%r] : memref<4xf32>
      %b = memref.load %y[%z] : memref<1xf32>
      %c = arith.addf %a, %b : f32
      memref.store %c, %y[%z] : memref<1xf32>
    }
  }
}

// -----

// Points behind the end are skipped.
tir.func @with_tail(%x: memref<1x10xf32>, %y: memref<1xf32>) attributes {outputs = array<i64: 1>} {
  tir.for serial %ko = 0 to 3 {
    tir.for unrolled %ki = 0 to 4 {
      tir.block "sum" (%v: spatial 1, %r: reduce 10) = affine_map<(d0, d1) -> (0, d0 * 4 + d1)> (%ko, %ki) init [0.0 : f32] {
        %a = memref.load %x[%v, %r] : memref<1x10xf32>
        %b = memref.load %y[%v] : memref<1xf32>
        %c = arith.addf %a, %b : f32
        memref.store %c, %y[%v] : memref<1xf32>
      }
    }
  }
}

// -----

tir.func @nested(%y: memref<4xf32>) attributes {outputs = array<i64: 0>} {
  tir.for parallel %i = 0 to 4 {
    tir.block "outer" (%v: spatial 4) = affine_map<(d0) -> (d0)> (%i) {
      %a = arith.constant 1.0 : f32
      tir.for serial %j = 0 to 4 {
        // expected-error@+1 {{a block must not be in the body of another, 'outer'}}
        tir.block "inner" (%w: spatial 4) = affine_map<(d0) -> (d0)> (%j) {
          memref.store %a, %y[%w] : memref<4xf32>
        }
      }
    }
  }
}

// -----

tir.func @driven(%n: memref<1xindex>, %y: memref<4xf32>) attributes {outputs = array<i64: 1>} {
  %i = arith.constant 0 : index
  // expected-error@+1 {{a block must be driven by the variables of loops around it}}
  tir.block "one" (%v: spatial 1) = affine_map<(d0) -> (d0)> (%i) {
    %a = arith.constant 1.0 : f32
    memref.store %a, %y[%v] : memref<4xf32>
  }
}
