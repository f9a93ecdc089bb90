// RUN: clopt %s -p nn-fuse,nn-to-cl,nn-to-tir,tir-choose-plan,tir-apply-plan --split-input-file --verify-diagnostics | filecheck %s

// Loops that every access walks as one are one: of x and y only the last two. The last vector
// overlaps the one before it, as 1500 is no multiple of 8.
// CHECK-LABEL: tir.func @add_0
// CHECK-SAME: local_size = array<i64: 1, 1, 1>
// CHECK-NEXT: tir.for global_y %i0 = 0 to 2 {
// CHECK-NEXT:   tir.for global_x %i2oo = 0 to 12 {
// CHECK-NEXT:     tir.for parallel %i2oi = 0 to 16 {
// CHECK-NEXT:       tir.for vectorized %i2i = 0 to 8 {
// CHECK-NEXT:         tir.block "out"
// CHECK-SAME:           floordiv 187) * -4
module attributes {cl.target = #cl.target<"cpu", {}>} {
  func.func @main(%x: tensor<2x30x50xf32>, %y: tensor<30x50xf32>) -> tensor<2x30x50xf32> {
    %r = nn.binary add %x, %y : (tensor<2x30x50xf32>, tensor<30x50xf32>) -> tensor<2x30x50xf32>
    func.return %r : tensor<2x30x50xf32>
  }
}

// -----

// A convolution: each work-item keeps a tile of accumulators, the reduction runs outside of it.
// The weights of the tile's channels shall stand together.
// CHECK-LABEL: tir.func @conv_0
// CHECK-SAME: %w: memref<4x8x3x3xf32>
// CHECK-SAME: layouts = {"1" = affine_map<(d0, d1, d2, d3) -> ((d0 floordiv 4), d1, d2, d3, (d0 mod 4))>}
// CHECK-NEXT: memref.alloca() : memref<1x4x16x16xf32, #tir.scope<private>>
// CHECK:      tir.for global_x %i2 = 0 to 16 {
// CHECK:        tir.for serial %c = 0 to 8 {
// CHECK-NEXT:     tir.for serial %kh = 0 to 3 {
// CHECK-NEXT:       tir.for serial %kw = 0 to 3 {
// CHECK-NEXT:         tir.for unrolled %o = 0 to 4 {
// CHECK-NEXT:           tir.for unrolled %wo = 0 to 2 {
// CHECK-NEXT:             tir.for vectorized %wi = 0 to 8 {
// CHECK-NEXT:               tir.block "conv"
// CHECK:        tir.for unrolled %i1i = 0 to 4 {
// CHECK-NEXT:     tir.for unrolled %i3io = 0 to 2 {
// CHECK-NEXT:       tir.for vectorized %i3ii = 0 to 8 {
// CHECK-NEXT:         tir.block "out"
module attributes {cl.target = #cl.target<"cpu", {}>} {
  func.func @main(%x: tensor<1x8x18x18xf32>) -> tensor<1x4x16x16xf32> {
    %w = nn.constant dense<0.5> : tensor<4x8x3x3xf32>
    %y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x8x18x18xf32>, tensor<4x8x3x3xf32>) -> tensor<1x4x16x16xf32>
    func.return %y : tensor<1x4x16x16xf32>
  }
}

// -----

// A product of activations has nothing to pack.
// CHECK-LABEL: tir.func @matmul_0
// CHECK-NOT: layouts
// CHECK:      tir.for serial %k = 0 to 5 {
// CHECK-NEXT:   tir.for unrolled %m
// CHECK-NEXT:     tir.for unrolled %no
// CHECK-NEXT:       tir.for vectorized %ni = 0 to 8 {
module attributes {cl.target = #cl.target<"cpu", {}>} {
  func.func @main(%x: tensor<12x5xf32>, %y: tensor<5x32xf32>) -> tensor<12x32xf32> {
    %r = nn.matmul %x, %y : (tensor<12x5xf32>, tensor<5x32xf32>) -> tensor<12x32xf32>
    func.return %r : tensor<12x32xf32>
  }
}

// -----

// A pool is tiled like a product with nothing to share.
// CHECK-LABEL: tir.func @pool_max_0
// CHECK:      tir.for serial %kw = 0 to 3 {
// CHECK-NEXT:   tir.for unrolled %c
// CHECK-NEXT:     tir.for unrolled %wo = 0 to 4 {
// CHECK-NEXT:       tir.for vectorized %wi = 0 to 8 {
module attributes {cl.target = #cl.target<"cpu", {}>} {
  func.func @main(%x: tensor<2x9x34xf32>) -> tensor<2x9x32xf32> {
    %y = nn.pool max %x {kernel = array<i64: 3>, strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : (tensor<2x9x34xf32>) -> tensor<2x9x32xf32>
    func.return %y : tensor<2x9x32xf32>
  }
}

// -----

// A softmax along memory: a work-item takes a row, with a vector of partial results for each
// reduction.
// CHECK-LABEL: tir.func @softmax_0
// CHECK:      tir.for global_x %i0 = 0 to 6 {
// CHECK:        tir.for serial %r0o = 0 to 5 {
// CHECK-NEXT:     tir.for vectorized %r0i = 0 to 8 {
// CHECK-NEXT:       tir.block "max_rf"
// CHECK:        tir.for unrolled
// CHECK-NEXT:     tir.block "max"
// CHECK:        tir.for serial %r0o{{.*}} = 0 to 5 {
// CHECK-NEXT:     tir.for vectorized %r0i{{.*}} = 0 to 8 {
// CHECK-NEXT:       tir.block "sum_rf"
// CHECK:        tir.for parallel %i1o = 0 to 5 {
// CHECK-NEXT:     tir.for vectorized %i1i = 0 to 8 {
// CHECK-NEXT:       tir.block "out"
module attributes {cl.target = #cl.target<"cpu", {}>} {
  func.func @main(%x: tensor<6x40xf32>) -> tensor<6x40xf32> {
    %y = nn.softmax %x {axis = 1 : i64} : (tensor<6x40xf32>) -> tensor<6x40xf32>
    func.return %y : tensor<6x40xf32>
  }
}

// -----

// Across memory it takes a vector of rows at a time.
// CHECK-LABEL: tir.func @softmax_0
// CHECK-NEXT: memref.alloca() : memref<1x40xf32, #tir.scope<private>>
// CHECK:      tir.for global_x %i1o = 0 to 5 {
// CHECK:        tir.for serial %r0 = 0 to 6 {
// CHECK-NEXT:     tir.for vectorized %i1 = 0 to 8 {
// CHECK-NEXT:       tir.block "max"
// CHECK:        tir.for serial
// CHECK-NEXT:     tir.for vectorized
// CHECK-NEXT:       tir.block "sum"
// CHECK:        tir.for parallel %i0{{.*}} = 0 to 6 {
// CHECK-NEXT:     tir.for vectorized %i1i = 0 to 8 {
// CHECK-NEXT:       tir.block "out"
module attributes {cl.target = #cl.target<"cpu", {}>} {
  func.func @main(%x: tensor<6x40xf32>) -> tensor<6x40xf32> {
    %y = nn.softmax %x {axis = 0 : i64} : (tensor<6x40xf32>) -> tensor<6x40xf32>
    func.return %y : tensor<6x40xf32>
  }
}

// -----

// Anything else is computed where it is needed, here once for each row of a sorted pair.
// CHECK-LABEL: tir.func @top_k_0
// CHECK:      tir.for global_x %i0 = 0 to 6 {
// CHECK:        tir.block "rank"
// CHECK:        tir.for parallel %i1{{.*}} = 0 to 2 {
// CHECK:          tir.block "top_k"
// CHECK:          tir.block "out"
module attributes {cl.target = #cl.target<"cpu", {}>} {
  func.func @main(%x: tensor<6x5xf32>) -> tensor<6x2xf32> {
    %y, %i = nn.top_k %x {axis = 1 : i64, k = 2 : i64} : (tensor<6x5xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
    func.return %y : tensor<6x2xf32>
  }
}

// -----

// On a GPU, neighbouring work-items take neighbouring elements.
// CHECK-LABEL: tir.func @softmax_0
// CHECK-NOT: local_size
// CHECK:      tir.for group_x %group = 0 to 1 {
// CHECK-NEXT:   tir.for local_x %item = 0 to 64 {
// CHECK:          tir.for serial %r0 = 0 to 6 {
// CHECK-NEXT:       tir.block "max"
// CHECK:          tir.for parallel %i0{{.*}} = 0 to 6 {
// CHECK-NEXT:       tir.block "out"
module attributes {cl.target = #cl.target<"gpu", {device_type = "gpu"}>} {
  func.func @main(%x: tensor<6x40xf32>) -> tensor<6x40xf32> {
    %y = nn.softmax %x {axis = 0 : i64} : (tensor<6x40xf32>) -> tensor<6x40xf32>
    func.return %y : tensor<6x40xf32>
  }
}

// -----

// Few rows are shared by the work-items of a group: each folds every sixteenth element, what they
// have is combined in local memory, and they write the row together.
// CHECK-LABEL: tir.func @softmax_0
// CHECK:      memref.alloca() : memref<6x1x16xf32, #tir.scope<local>>
// CHECK:      tir.for local_y
// CHECK:        tir.for local_x %item = 0 to 16 {
// CHECK:          tir.for serial %step = 0 to 3 {
// CHECK:            tir.block "max_rf"
// CHECK:          tir.block "max_rf_write"
// CHECK:      tir.for local_x %item{{.*}} = 0 to 4 {
// CHECK:        tir.for serial %part = 0 to 4 {
// CHECK:          tir.block "max_4"
// CHECK:        tir.block "max_4_write"
// CHECK:      tir.block "max"
// CHECK:      tir.block "sum_rf"
// CHECK:      tir.block "sum"
// CHECK:      tir.for parallel %step{{.*}} = 0 to 3 {
// CHECK-NEXT:   tir.for local_x %item{{.*}} = 0 to 16 {
// CHECK-NEXT:     tir.block "out"
module attributes {cl.target = #cl.target<"gpu", {device_type = "gpu"}>} {
  func.func @main(%x: tensor<6x40xf32>) -> tensor<6x40xf32> {
    %y = nn.softmax %x {axis = 1 : i64} : (tensor<6x40xf32>) -> tensor<6x40xf32>
    func.return %y : tensor<6x40xf32>
  }
}

// -----

// The border of a result that a row gives is no stage of that row.
// CHECK-LABEL: tir.func @matmul_0
// CHECK:      tir.block "matmul_rf"
// CHECK:      tir.block "matmul"
// CHECK:      tir.block "out"
// CHECK:      tir.block "out_2"
module attributes {cl.target = #cl.target<"cpu", {vector_width = 4 : i64}>} {
  func.func @main(%x: tensor<1x16xf32>, %w: tensor<1x16xf32>) -> tensor<1x2xf32> {
    %p = nn.matmul %x, %w {transpose_b} : (tensor<1x16xf32>, tensor<1x16xf32>) -> tensor<1x1xf32>
    %q = nn.pad constant %p {low = array<i64: 0, 0>, high = array<i64: 0, 1>} : (tensor<1x1xf32>) -> tensor<1x2xf32>
    func.return %q : tensor<1x2xf32>
  }
}

// -----

// A schedule that the kernel carries is kept.
// CHECK-LABEL: tir.func @carried
// CHECK-NOT: schedule
// CHECK: tir.for vectorized %i = 0 to 4 {
tir.func @carried(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = array<i64: 1>, schedule = ["vectorize copy.i"]} {
  tir.for parallel %i = 0 to 4 {
    tir.block "copy" (%v: spatial 4) = affine_map<(d0) -> (d0)> (%i) {
      %a = memref.load %x[%v] : memref<4xf32>
      memref.store %a, %y[%v] : memref<4xf32>
    }
  }
}

// -----

// expected-error@unknown {{@two: a reduction can be computed for one result, not for 2; make a kernel for each}}
tir.func @two(%x: memref<4xf32>, %y: memref<1xf32>, %z: memref<1xf32>) attributes {outputs = array<i64: 1, 2>} {
  %t = memref.alloca() : memref<1xf32>
  tir.for serial %k = 0 to 4 {
    tir.block "sum" (%r: reduce 4) = affine_map<(d0) -> (d0)> (%k) init [0.0 : f32] {
      %c = arith.constant 0 : index
      %a = memref.load %x[%r] : memref<4xf32>
      %b = memref.load %t[%c] : memref<1xf32>
      %n = arith.addf %b, %a : f32
      memref.store %n, %t[%c] : memref<1xf32>
    }
  }
  tir.for parallel %i = 0 to 1 {
    tir.block "first" (%v: spatial 1) = affine_map<(d0) -> (d0)> (%i) {
      %a = memref.load %t[%v] : memref<1xf32>
      memref.store %a, %y[%v] : memref<1xf32>
    }
  }
  tir.for parallel %i = 0 to 1 {
    tir.block "second" (%v: spatial 1) = affine_map<(d0) -> (d0)> (%i) {
      %a = memref.load %t[%v] : memref<1xf32>
      memref.store %a, %z[%v] : memref<1xf32>
    }
  }
}
