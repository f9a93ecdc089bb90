// RUN: clopt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{output 2 is not one of the 1 parameters}}
tir.func @output(%x: memref<4xf32>) attributes {outputs = array<i64: 2>} {
}

// -----

// expected-error@+1 {{a kernel parameter must be a memref, not f32}}
tir.func @scalar(%x: f32) attributes {outputs = array<i64>} {
}

// -----

// expected-error@+1 {{in_place [1, 0] must be an input and an output of 2 parameters}}
tir.func @relu(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = array<i64: 1>, in_place = [array<i64: 1, 0>]} {
}

// -----

// expected-error@+1 {{in_place must list pairs, array<i64: input, output>, not array<i64: 0, 1, 1>}}
tir.func @relu(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = array<i64: 1>, in_place = [array<i64: 0, 1, 1>]} {
}

// -----

// expected-error@+1 {{in_place [0, 1]: parameter 0 is an image, which a kernel cannot both read and write}}
tir.func @relu(%x: memref<1x4xf32, #tir.scope<texture, []>>, %y: memref<4xf32>) attributes {outputs = array<i64: 1>, in_place = [array<i64: 0, 1>]} {
}

// -----

tir.func @start() attributes {outputs = array<i64>} {
  // expected-error@+1 {{a tir.for must start at 0}}
  tir.for serial %i = 1 to 4 {
  }
}

// -----

tir.func @lanes() attributes {outputs = array<i64>} {
  // expected-error@+1 {{a vectorized loop must have 2, 3, 4, 8 or 16 iterations, not 5}}
  tir.for vectorized %i = 0 to 5 {
  }
}

// -----

tir.func @negative() attributes {outputs = array<i64>} {
  // expected-error@+1 {{a loop cannot run -1 times}}
  "tir.for"() <{kind = #tir.loop<serial>, extent = -1 : i64}> ({
  ^bb0(%i: index):
  }) : () -> ()
}

// -----

tir.func @kind() attributes {outputs = array<i64>} {
  // expected-error@+1 {{Expected `serial`, `rolled`, `parallel`, `unrolled`, `vectorized`}}
  tir.for magic %i = 0 to 4 {
  }
}

// -----

tir.func @map(%x: memref<4xf32>) attributes {outputs = array<i64: 0>} {
  tir.for serial %i = 0 to 4 {
    // expected-error@+1 {{the map has 2 dimensions for 1 loops}}
    tir.block "b" (%v: spatial 4) = affine_map<(d0, d1) -> (d0 + d1)> (%i) {
    }
  }
}

// -----

tir.func @number(%x: memref<4xf32>) attributes {outputs = array<i64: 0>} {
  tir.for serial %i = 0 to 4 {
    // expected-error@+1 {{map, extents, kinds and iteration variables must agree in number}}
    tir.block "b" (%v: spatial 4) = affine_map<(d0) -> (d0, d0)> (%i) {
    }
  }
}

// -----

tir.func @init(%x: memref<4xf32>, %y: memref<1xf32>) attributes {outputs = array<i64: 1>} {
  tir.for serial %i = 0 to 4 {
    // expected-error@+1 {{a reduction must initialise each of its 1 stores, not 0}}
    tir.block "b" (%v: reduce 4) = affine_map<(d0) -> (d0)> (%i) {
      %z = arith.constant 0 : index
      %a = memref.load %x[%v] : memref<4xf32>
      memref.store %a, %y[%z] : memref<1xf32>
    }
  }
}

// -----

tir.func @needless(%x: memref<4xf32>) attributes {outputs = array<i64: 0>} {
  tir.for serial %i = 0 to 4 {
    // expected-error@+1 {{only a reduction may have initial values}}
    tir.block "b" (%v: spatial 4) = affine_map<(d0) -> (d0)> (%i) init [0.0 : f32] {
      %a = memref.load %x[%v] : memref<4xf32>
      memref.store %a, %x[%v] : memref<4xf32>
    }
  }
}

// -----

tir.func @type(%x: memref<4xf32>, %y: memref<1xf32>) attributes {outputs = array<i64: 1>} {
  tir.for serial %i = 0 to 4 {
    // expected-error@+1 {{the initial value 0 : i32 is not a f32}}
    tir.block "b" (%v: reduce 4) = affine_map<(d0) -> (d0)> (%i) init [0 : i32] {
      %z = arith.constant 0 : index
      %a = memref.load %x[%v] : memref<4xf32>
      memref.store %a, %y[%z] : memref<1xf32>
    }
  }
}

// -----

// expected-error@+1 {{Expected `global`, `local`, `private`, `constant`, or `texture`}}
tir.func @scope(%x: memref<4xf32, #tir.scope<remote>>) attributes {outputs = array<i64>} {
}

// -----

tir.func @variable() attributes {outputs = array<i64>} {
  // expected-error@+1 {{a loop must have one variable of type index}}
  "tir.for"() <{kind = #tir.loop<serial>, extent = 4 : i64}> ({
  ^bb0(%i: i32):
  }) : () -> ()
}

// -----

tir.func @kinds() attributes {outputs = array<i64>} {
  tir.for serial %i = 0 to 4 {
    // expected-error@+1 {{'magic' must be spatial or reduce}}
    "tir.block"(%i) <{label = "b", map = affine_map<(d0) -> (d0)>, extents = array<i64: 4>, kinds = ["magic"], init = []}> ({
    ^bb0(%v: index):
    }) : (index) -> ()
  }
}

// -----

tir.func @quad_of_floats(%x: memref<4xf32>, %y: memref<1xi32>) attributes {outputs = array<i64: 1>} {
  %0 = arith.constant 0 : index
  // expected-error@+1 {{the rows of memref<4xf32> must be multiples of 4 bytes}}
  %1 = tir.load_quad %x[%0] : memref<4xf32>
}

// -----

tir.func @quad_of_rows(%x: memref<2x4xi8>, %y: memref<1xi32>) attributes {outputs = array<i64: 1>} {
  %0 = arith.constant 0 : index
  // expected-error@+1 {{memref<2x4xi8> must have 2 indices, not 1}}
  %1 = tir.load_quad %x[%0] : memref<2x4xi8>
}
