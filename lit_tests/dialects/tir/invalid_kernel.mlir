// RUN: clopt %s --split-input-file --verify-diagnostics

// A kernel as a whole: its parameters, its launch, its statements.

// expected-error@+1 {{constant 2 is not one of the 2 parameters}}
tir.func @constant(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = array<i64: 1>, constants = array<i64: 2>} {
}

// -----

// expected-error@+1 {{output -1 is not one of the 1 parameters}}
tir.func @output(%y: memref<4xf32>) attributes {outputs = array<i64: -1>} {
}

// -----

// expected-error@+1 {{outputs lists a parameter twice: [1, 1]}}
tir.func @twice(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = array<i64: 1, 1>} {
}

// -----

// expected-error@+1 {{parameter 0 is a constant, so it cannot be an output}}
tir.func @both(%x: memref<4xf32>) attributes {outputs = array<i64: 0>, constants = array<i64: 0>} {
}

// -----

// expected-error@+1 {{the kernel stores to parameter 0, which its outputs do not list}}
tir.func @input(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = array<i64: 1>} {
  tir.for parallel %i = 0 to 4 {
    tir.block "copy" (%v: spatial 4) = affine_map<(d0) -> (d0)> (%i) {
      %a = memref.load %y[%v] : memref<4xf32>
      memref.store %a, %x[%v] : memref<4xf32>
    }
  }
}

// -----

// expected-error@+1 {{the kernel stores to parameter 0, which its outputs do not list}}
tir.func @texel(%x: memref<1x4xf32, #tir.scope<texture, []>>) attributes {outputs = array<i64>} {
  %c = arith.constant 0 : index
  %a = arith.constant 1.0 : f32
  tir.for unrolled %i = 0 to 4 {
    tir.texel_write %a, %x[%c] lane %i : f32, memref<1x4xf32, #tir.scope<texture, []>>
  }
}

// -----

// expected-error@+1 {{layouts must name constants, but parameter 0 is not one of [1]}}
tir.func @layouts(%x: memref<4xf32>, %w: memref<4xf32>) attributes {outputs = array<i64>, constants = array<i64: 1>, layouts = {"0" = affine_map<(d0) -> (d0)>}} {
}

// -----

// expected-error@+1 {{the layout of parameter 0 must be an affine map, not 1 : i64}}
tir.func @layouts(%w: memref<4xf32>) attributes {outputs = array<i64>, constants = array<i64: 0>, layouts = {"0" = 1 : i64}} {
}

// -----

// expected-error@+1 {{(d0, d1) -> (d0) is not a layout of 4 elements}}
tir.func @layouts(%w: memref<4xf32>) attributes {outputs = array<i64>, constants = array<i64: 0>, layouts = {"0" = affine_map<(d0, d1) -> (d0)>}} {
}

// -----

// expected-error@+1 {{(d0, d1) -> ((d0 + d1), d1) is not a layout of 4x4 elements}}
tir.func @layouts(%w: memref<4x4xf32>) attributes {outputs = array<i64>, constants = array<i64: 0>, layouts = {"0" = affine_map<(d0, d1) -> (d0 + d1, d1)>}} {
}

// -----

// expected-error@+1 {{(d0, d1) -> ((d0 floordiv 2), d1, (d0 mod 4)) is not a layout of 4x4 elements}}
tir.func @layouts(%w: memref<4x4xf32>) attributes {outputs = array<i64>, constants = array<i64: 0>, layouts = {"0" = affine_map<(d0, d1) -> (d0 floordiv 2, d1, d0 mod 4)>}} {
}

// -----

// expected-error@+1 {{(d0, d1) -> (d1) is not a layout of 4x4 elements}}
tir.func @layouts(%w: memref<4x4xf32>) attributes {outputs = array<i64>, constants = array<i64: 0>, layouts = {"0" = affine_map<(d0, d1) -> (d1)>}} {
}

// -----

// expected-error@+1 {{'split out.i 8 ->' is not a step of a schedule, such as 'split out.i 8 -> io ii'}}
tir.func @schedule(%y: memref<4xf32>) attributes {outputs = array<i64: 0>, schedule = ["vectorize out.i", "split out.i 8 ->"]} {
}

// -----

// expected-error@+1 {{a plan must name its rule, not ''}}
tir.func @plan(%y: memref<4xf32>) attributes {outputs = array<i64: 0>, plan = #tir.plan<"", 1, {}>} {
}

// -----

// expected-error@+1 {{the version of a rule must be at least 1, not 0}}
tir.func @plan(%y: memref<4xf32>) attributes {outputs = array<i64: 0>, plan = #tir.plan<"rows", 0, {width = 4}>} {
}

// -----

// expected-error@+1 {{the plan has a parameter twice: width, width}}
tir.func @plan(%y: memref<4xf32>) attributes {outputs = array<i64: 0>, plan = #tir.plan<"rows", 1, {width = 4, width = 8}>} {
}

// -----

// expected-error@+1 {{a launch must have one to three dimensions, not global [8, 8] and local [8]}}
tir.func @ranks(%y: memref<4xf32>) attributes {outputs = array<i64: 0>, global_size = array<i64: 8, 8>, local_size = array<i64: 8>} {
}

// -----

// expected-error@+1 {{the local size [3] must divide the global size [8]}}
tir.func @groups(%y: memref<4xf32>) attributes {outputs = array<i64: 0>, global_size = array<i64: 8>, local_size = array<i64: 3>} {
}

// -----

// expected-error@+1 {{a work-group must have one to three positive sizes, not [4, 0]}}
tir.func @groups(%y: memref<4xf32>) attributes {outputs = array<i64: 0>, local_size = array<i64: 4, 0>} {
}

// -----

// expected-error@+1 {{loop 'i' is bound to global_x and runs 16 times, but 8 are launched}}
tir.func @range(%y: memref<16xf32>) attributes {outputs = array<i64: 0>, global_size = array<i64: 8>} {
  tir.for global_x %i = 0 to 16 {
  }
}

// -----

// expected-error@+1 {{loop 'g' is bound to group_y and runs 2 times, but 1 are launched}}
tir.func @range(%y: memref<16xf32>) attributes {outputs = array<i64: 0>, global_size = array<i64: 8>, local_size = array<i64: 4>} {
  tir.for group_y %g = 0 to 2 {
  }
}

// -----

// expected-error@+1 {{a loop is bound to local_x, but there is no local_size}}
tir.func @local(%y: memref<16xf32>) attributes {outputs = array<i64: 0>, global_size = array<i64: 8>} {
  tir.for local_x %i = 0 to 1 {
  }
}

// -----

// expected-error@+1 {{loops are bound to both global_y and group_y}}
tir.func @indices(%y: memref<16xf32>) attributes {outputs = array<i64: 0>} {
  tir.for global_y %i = 0 to 4 {
  }
  tir.for group_y %g = 0 to 4 {
    tir.for local_y %l = 0 to 4 {
    }
  }
}

// -----

// expected-error@+1 {{two blocks are labelled 'copy'}}
tir.func @labels(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = array<i64: 1>} {
  %t = memref.alloca() : memref<4xf32>
  tir.for parallel %i = 0 to 4 {
    tir.block "copy" (%v: spatial 4) = affine_map<(d0) -> (d0)> (%i) {
      %a = memref.load %x[%v] : memref<4xf32>
      memref.store %a, %t[%v] : memref<4xf32>
    }
  }
  tir.for parallel %i = 0 to 4 {
    tir.block "copy" (%v: spatial 4) = affine_map<(d0) -> (d0)> (%i) {
      %a = memref.load %t[%v] : memref<4xf32>
      memref.store %a, %y[%v] : memref<4xf32>
    }
  }
}

// -----

// `tir-lower-blocks` would drop the store.
// expected-error@+1 {{a kernel with blocks must not have memref.store outside them}}
tir.func @outside(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32>) attributes {outputs = array<i64: 1, 2>} {
  tir.for parallel %i = 0 to 4 {
    tir.block "copy" (%v: spatial 4) = affine_map<(d0) -> (d0)> (%i) {
      %a = memref.load %x[%v] : memref<4xf32>
      memref.store %a, %y[%v] : memref<4xf32>
    }
    %c = arith.constant 1.0 : f32
    memref.store %c, %z[%i] : memref<4xf32>
  }
}

// -----

// expected-error@+1 {{runs_if must list pairs, array<i64: parameter, 0 or 1>, not array<i64: 0, 2>}}
tir.func @pair(%c: memref<i1>, %y: memref<4xf32>) attributes {outputs = array<i64: 1>, runs_if = [array<i64: 0, 2>]} {
}

// -----

// expected-error@+1 {{runs_if 1 is not one of the kernel's inputs}}
tir.func @result(%c: memref<i1>, %y: memref<i1>) attributes {outputs = array<i64: 1>, runs_if = [array<i64: 1, 0>]} {
}

// -----

// expected-error@+1 {{runs_if 0 must have one element of i1, not be memref<4xi1>}}
tir.func @several(%c: memref<4xi1>, %y: memref<4xf32>) attributes {outputs = array<i64: 1>, runs_if = [array<i64: 0, 1>]} {
}

// -----

// expected-error@+1 {{the first parameter of turns must be an output of type memref<2x16xi32>}}
tir.func @no_counters(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = array<i64: 1>} {
  tir.turn @twice(%x, %y) : memref<4xf32>, memref<4xf32>
}

// -----

// expected-error@+1 {{a kernel with turns must have nothing else}}
tir.func @more(%turns: memref<2x16xi32>, %y: memref<4xf32>) attributes {outputs = array<i64: 0, 1>} {
  tir.turn @clear(%y) : memref<4xf32>
  tir.barrier
}
