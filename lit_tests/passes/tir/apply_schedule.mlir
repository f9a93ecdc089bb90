// RUN: clopt %s -p tir-apply-schedule --split-input-file --verify-diagnostics | filecheck %s

// A kernel without a schedule stays as it is.
// CHECK-LABEL: @none(
// CHECK-NEXT: tir.for parallel %i = 0 to 4 {
// CHECK-NEXT:   tir.block "copy" (%vi: spatial 4) = affine_map<(d0) -> (d0)> (%i) {
tir.func @none(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = array<i64: 1>} {
  tir.for parallel %i = 0 to 4 {
    tir.block "copy" (%vi: spatial 4) = affine_map<(d0) -> (d0)> (%i) {
      %a = memref.load %x[%vi] : memref<4xf32>
      memref.store %a, %y[%vi] : memref<4xf32>
    }
  }
}

// -----

// The steps run in order, and the schedule is gone afterwards.
// CHECK-LABEL: @steps(
// CHECK-NEXT: tir.for global_x %f = 0 to 24 {
// CHECK-NEXT:   tir.for vectorized %b = 0 to 4 {
// CHECK-NEXT:     tir.block "copy" (%vi: spatial 6, %vj: spatial 16) = affine_map<(d0, d1) -> ((d0 floordiv 4), (((d0 mod 4) * 4) + d1))> (%f, %b) {
tir.func @steps(%x: memref<6x16xf32>, %y: memref<6x16xf32>) attributes {outputs = array<i64: 1>, schedule = ["split copy.j 4 -> a b", "fuse copy.i copy.a -> f", "bind copy.f global_x", "vectorize copy.b"]} {
  tir.for parallel %i = 0 to 6 {
    tir.for parallel %j = 0 to 16 {
      tir.block "copy" (%vi: spatial 6, %vj: spatial 16) = affine_map<(d0, d1) -> (d0, d1)> (%i, %j) {
        %a = memref.load %x[%vi, %vj] : memref<6x16xf32>
        memref.store %a, %y[%vi, %vj] : memref<6x16xf32>
      }
    }
  }
}

// -----

// expected-error@unknown {{@verb: unknown step 'tile copy.i 4'; the steps are split, split_overlap, fuse}}
tir.func @verb(%x: memref<6x16xf32>, %y: memref<6x16xf32>) attributes {outputs = array<i64: 1>, schedule = ["tile copy.i 4"]} {
  tir.for parallel %i = 0 to 6 {
    tir.for parallel %j = 0 to 16 {
      tir.block "copy" (%vi: spatial 6, %vj: spatial 16) = affine_map<(d0, d1) -> (d0, d1)> (%i, %j) {
        %a = memref.load %x[%vi, %vj] : memref<6x16xf32>
        memref.store %a, %y[%vi, %vj] : memref<6x16xf32>
      }
    }
  }
}

// -----

// expected-error@+1 {{'' is not a step of a schedule, such as 'split out.i 8 -> io ii'}}
tir.func @empty(%x: memref<6x16xf32>, %y: memref<6x16xf32>) attributes {outputs = array<i64: 1>, schedule = [""]} {
  tir.for parallel %i = 0 to 6 {
    tir.for parallel %j = 0 to 16 {
      tir.block "copy" (%vi: spatial 6, %vj: spatial 16) = affine_map<(d0, d1) -> (d0, d1)> (%i, %j) {
        %a = memref.load %x[%vi, %vj] : memref<6x16xf32>
        memref.store %a, %y[%vi, %vj] : memref<6x16xf32>
      }
    }
  }
}

// -----

// expected-error@unknown {{@usage: 'split copy.i' must have the form 'split block.loop factor [factor ...] [-> outer inner ...]'}}
tir.func @usage(%x: memref<6x16xf32>, %y: memref<6x16xf32>) attributes {outputs = array<i64: 1>, schedule = ["split copy.i"]} {
  tir.for parallel %i = 0 to 6 {
    tir.for parallel %j = 0 to 16 {
      tir.block "copy" (%vi: spatial 6, %vj: spatial 16) = affine_map<(d0, d1) -> (d0, d1)> (%i, %j) {
        %a = memref.load %x[%vi, %vj] : memref<6x16xf32>
        memref.store %a, %y[%vi, %vj] : memref<6x16xf32>
      }
    }
  }
}

// -----

// expected-error@unknown {{@names: 'split copy.i 2 -> a' names 1 results, but has 2}}
tir.func @names(%x: memref<6x16xf32>, %y: memref<6x16xf32>) attributes {outputs = array<i64: 1>, schedule = ["split copy.i 2 -> a"]} {
  tir.for parallel %i = 0 to 6 {
    tir.for parallel %j = 0 to 16 {
      tir.block "copy" (%vi: spatial 6, %vj: spatial 16) = affine_map<(d0, d1) -> (d0, d1)> (%i, %j) {
        %a = memref.load %x[%vi, %vj] : memref<6x16xf32>
        memref.store %a, %y[%vi, %vj] : memref<6x16xf32>
      }
    }
  }
}

// -----

// expected-error@unknown {{@form: 'i' in 'unroll i' is not block.loop}}
tir.func @form(%x: memref<6x16xf32>, %y: memref<6x16xf32>) attributes {outputs = array<i64: 1>, schedule = ["unroll i"]} {
  tir.for parallel %i = 0 to 6 {
    tir.for parallel %j = 0 to 16 {
      tir.block "copy" (%vi: spatial 6, %vj: spatial 16) = affine_map<(d0, d1) -> (d0, d1)> (%i, %j) {
        %a = memref.load %x[%vi, %vj] : memref<6x16xf32>
        memref.store %a, %y[%vi, %vj] : memref<6x16xf32>
      }
    }
  }
}

// -----

// expected-error@unknown {{@number: 'two' in 'split copy.i two' is not an integer}}
tir.func @number(%x: memref<6x16xf32>, %y: memref<6x16xf32>) attributes {outputs = array<i64: 1>, schedule = ["split copy.i two"]} {
  tir.for parallel %i = 0 to 6 {
    tir.for parallel %j = 0 to 16 {
      tir.block "copy" (%vi: spatial 6, %vj: spatial 16) = affine_map<(d0, d1) -> (d0, d1)> (%i, %j) {
        %a = memref.load %x[%vi, %vj] : memref<6x16xf32>
        memref.store %a, %y[%vi, %vj] : memref<6x16xf32>
      }
    }
  }
}

// -----

// expected-error@unknown {{@label: there is no block 'conv'; the blocks are copy}}
tir.func @label(%x: memref<6x16xf32>, %y: memref<6x16xf32>) attributes {outputs = array<i64: 1>, schedule = ["unroll conv.i"]} {
  tir.for parallel %i = 0 to 6 {
    tir.for parallel %j = 0 to 16 {
      tir.block "copy" (%vi: spatial 6, %vj: spatial 16) = affine_map<(d0, d1) -> (d0, d1)> (%i, %j) {
        %a = memref.load %x[%vi, %vj] : memref<6x16xf32>
        memref.store %a, %y[%vi, %vj] : memref<6x16xf32>
      }
    }
  }
}

// -----

// expected-error@unknown {{@loop, block 'copy': it is not inside a loop 'k'; the loops are i, j}}
tir.func @loop(%x: memref<6x16xf32>, %y: memref<6x16xf32>) attributes {outputs = array<i64: 1>, schedule = ["unroll copy.k"]} {
  tir.for parallel %i = 0 to 6 {
    tir.for parallel %j = 0 to 16 {
      tir.block "copy" (%vi: spatial 6, %vj: spatial 16) = affine_map<(d0, d1) -> (d0, d1)> (%i, %j) {
        %a = memref.load %x[%vi, %vj] : memref<6x16xf32>
        memref.store %a, %y[%vi, %vj] : memref<6x16xf32>
      }
    }
  }
}

// -----

// expected-error@unknown {{@twice, block 'copy': it is inside 2 loops 'i'; the outermost is 'i#1'}}
tir.func @twice(%x: memref<6x16xf32>, %y: memref<6x16xf32>) attributes {outputs = array<i64: 1>, schedule = ["split copy.j 4 -> i b", "unroll copy.i"]} {
  tir.for parallel %i = 0 to 6 {
    tir.for parallel %j = 0 to 16 {
      tir.block "copy" (%vi: spatial 6, %vj: spatial 16) = affine_map<(d0, d1) -> (d0, d1)> (%i, %j) {
        %a = memref.load %x[%vi, %vj] : memref<6x16xf32>
        memref.store %a, %y[%vi, %vj] : memref<6x16xf32>
      }
    }
  }
}
