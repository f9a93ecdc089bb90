// RUN: clopt %s -p nn-fuse,nn-to-cl,nn-to-tir --split-input-file | filecheck %s

// A tap outside of the input is the least number; the pads of 1 make the guard.
// CHECK-LABEL: tir.func @pool_max_0
func.func @max(%x: tensor<1x2x8xf32>) -> tensor<1x2x4xf32> {
  %r = nn.pool max %x {kernel = array<i64: 3>, strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 1, 1>} : (tensor<1x2x8xf32>) -> tensor<1x2x4xf32>
  func.return %r : tensor<1x2x4xf32>
}
// CHECK: %max_pool = memref.alloca() : memref<1x2x4xf32>
// CHECK: tir.block "max_pool" (%n_1: spatial 1, %c_1: spatial 2, %w_1: spatial 4, %kw_1: reduce 3) = {{.*}} init [0xff800000 : f32] {
// CHECK: memref.load %max_pool[%{{.*}}, %c_1, %w_1] : memref<1x2x4xf32>
// CHECK: affine.apply affine_map<(d0, d1) -> ((((d0 * 2) + d1) + -1))> (%w_1, %kw_1)
// CHECK: arith.cmpi sge, %{{.*}}, %{{.*}} : index
// CHECK: scf.if %{{.*}} -> (f32) {
// CHECK: memref.load %x[%{{.*}}, %c_1, %{{.*}}] : memref<1x2x8xf32>
// CHECK: } else {
// CHECK: arith.maximumf %{{.*}}, %{{.*}} : f32
// CHECK: memref.store %{{.*}}, %max_pool[%{{.*}}, %c_1, %w_1] : memref<1x2x4xf32>
// CHECK: tir.block "out" (%i0_1: spatial 1, %i1_1: spatial 2, %i2_1: spatial 4) = {{.*}} {
// CHECK: memref.load %max_pool[%{{.*}}, %i1_1, %i2_1] : memref<1x2x4xf32>
// CHECK: memref.store %{{.*}}, %r[%{{.*}}, %i1_1, %i2_1] : memref<1x2x4xf32>

// -----

// Without pads no tap needs a guard, and all windows have 2 elements.
// CHECK-LABEL: tir.func @pool_average_0
func.func @average(%x: tensor<1x2x8xf32>) -> tensor<1x2x4xf32> {
  %r = nn.pool average %x {kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : (tensor<1x2x8xf32>) -> tensor<1x2x4xf32>
  func.return %r : tensor<1x2x4xf32>
}
// CHECK: %average_pool = memref.alloca() : memref<1x2x4xf32>
// CHECK: tir.block "average_pool" (%n_1: spatial 1, %c_1: spatial 2, %w_1: spatial 4, %kw_1: reduce 2) = {{.*}} init [0.000000e+00 : f32] {
// CHECK: memref.load %average_pool[%{{.*}}, %c_1, %w_1] : memref<1x2x4xf32>
// CHECK: affine.apply affine_map<(d0, d1) -> (((d0 * 2) + d1))> (%w_1, %kw_1)
// CHECK: memref.load %x[%{{.*}}, %c_1, %{{.*}}] : memref<1x2x8xf32>
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: memref.store %{{.*}}, %average_pool[%{{.*}}, %c_1, %w_1] : memref<1x2x4xf32>
// CHECK: tir.block "out" (%i0_1: spatial 1, %i1_1: spatial 2, %i2_1: spatial 4) = {{.*}} {
// CHECK: memref.load %average_pool[%{{.*}}, %i1_1, %i2_1] : memref<1x2x4xf32>
// CHECK: arith.divf %{{[^ ]*}}, %{{[^ ]*}} : f32
// CHECK: memref.store %{{.*}}, %r[%{{.*}}, %i1_1, %i2_1] : memref<1x2x4xf32>

// -----

// The divisor counts the taps inside the input: only the first window hangs over an edge.
// CHECK-LABEL: tir.func @pool_average_0
func.func @average_at_edges(%x: tensor<1x2x8xf32>) -> tensor<1x2x4xf32> {
  %r = nn.pool average %x {kernel = array<i64: 3>, strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 1, 1>} : (tensor<1x2x8xf32>) -> tensor<1x2x4xf32>
  func.return %r : tensor<1x2x4xf32>
}
// CHECK: %average_pool = memref.alloca() : memref<1x2x4xf32>
// CHECK: tir.block "average_pool" (%n_1: spatial 1, %c_1: spatial 2, %w_1: spatial 4, %kw_1: reduce 3) = {{.*}} init [0.000000e+00 : f32] {
// CHECK: memref.load %average_pool[%{{.*}}, %c_1, %w_1] : memref<1x2x4xf32>
// CHECK: affine.apply affine_map<(d0, d1) -> ((((d0 * 2) + d1) + -1))> (%w_1, %kw_1)
// CHECK: arith.cmpi sge, %{{.*}}, %{{.*}} : index
// CHECK: scf.if %{{.*}} -> (f32) {
// CHECK: memref.load %x[%{{.*}}, %c_1, %{{.*}}] : memref<1x2x8xf32>
// CHECK: } else {
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: memref.store %{{.*}}, %average_pool[%{{.*}}, %c_1, %w_1] : memref<1x2x4xf32>
// CHECK: tir.block "out" (%i0_1: spatial 1, %i1_1: spatial 2, %i2_1: spatial 4) = {{.*}} {
// CHECK: memref.load %average_pool[%{{.*}}, %i1_1, %i2_1] : memref<1x2x4xf32>
// CHECK: affine.apply affine_map<(d0) -> (((d0 * -2) + 1))> (%i2_1)
// CHECK: arith.index_cast %{{.*}} : index to i32
// CHECK: arith.maxsi %{{.*}}, %{{.*}} : i32
// CHECK: arith.subi %{{.*}}, %{{.*}} : i32
// CHECK: arith.sitofp %{{.*}} : i32 to f32
// CHECK: arith.divf %{{[^ ]*}}, %{{[^ ]*}} : f32
// CHECK: memref.store %{{.*}}, %r[%{{.*}}, %i1_1, %i2_1] : memref<1x2x4xf32>

// -----

// The square root of the sum of squares.
// CHECK-LABEL: tir.func @pool_lp_0
func.func @lp(%x: tensor<1x2x8xf32>) -> tensor<1x2x4xf32> {
  %r = nn.pool lp %x {kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 0, 0>, p = 2 : i64} : (tensor<1x2x8xf32>) -> tensor<1x2x4xf32>
  func.return %r : tensor<1x2x4xf32>
}
// CHECK: %lp_pool = memref.alloca() : memref<1x2x4xf32>
// CHECK: tir.block "lp_pool" (%n_1: spatial 1, %c_1: spatial 2, %w_1: spatial 4, %kw_1: reduce 2) = {{.*}} init [0.000000e+00 : f32] {
// CHECK: memref.load %lp_pool[%{{.*}}, %c_1, %w_1] : memref<1x2x4xf32>
// CHECK: affine.apply affine_map<(d0, d1) -> (((d0 * 2) + d1))> (%w_1, %kw_1)
// CHECK: memref.load %x[%{{.*}}, %c_1, %{{.*}}] : memref<1x2x8xf32>
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: memref.store %{{.*}}, %lp_pool[%{{.*}}, %c_1, %w_1] : memref<1x2x4xf32>
// CHECK: tir.block "out" (%i0_1: spatial 1, %i1_1: spatial 2, %i2_1: spatial 4) = {{.*}} {
// CHECK: memref.load %lp_pool[%{{.*}}, %i1_1, %i2_1] : memref<1x2x4xf32>
// CHECK: math.sqrt %{{[^ ]*}} : f32
// CHECK: memref.store %{{.*}}, %r[%{{.*}}, %i1_1, %i2_1] : memref<1x2x4xf32>

// -----

// The first greatest element of a window: -1 says that there was none yet.
// CHECK-LABEL: tir.func @max_pool_indices_0
func.func @indices(%x: tensor<1x2x8xi32>) -> tensor<1x2x4xi64> {
  %r = nn.max_pool_indices %x {kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : (tensor<1x2x8xi32>) -> tensor<1x2x4xi64>
  func.return %r : tensor<1x2x4xi64>
}
// CHECK: %max_pool_indices = memref.alloca() : memref<1x2x4xi32>
// CHECK: %max_pool_indices_1 = memref.alloca() : memref<1x2x4xi64>
// CHECK: tir.block "max_pool_indices" (%n_1: spatial 1, %c_1: spatial 2, %w_1: spatial 4, %kw_1: reduce 2) = {{.*}} init [-2147483648 : i32, -1 : i64] {
// CHECK: memref.load %max_pool_indices[%{{.*}}, %c_1, %w_1] : memref<1x2x4xi32>
// CHECK: memref.load %max_pool_indices_1[%{{.*}}, %c_1, %w_1] : memref<1x2x4xi64>
// CHECK: affine.apply affine_map<(d0, d1) -> (((d0 * 2) + d1))> (%w_1, %kw_1)
// CHECK: memref.load %x[%{{.*}}, %c_1, %{{.*}}] : memref<1x2x8xi32>
// CHECK: arith.cmpi sgt, %{{.*}}, %{{.*}} : i32
// CHECK: arith.cmpi slt, %{{.*}}, %{{.*}} : i64
// CHECK: arith.ori %{{.*}}, %{{.*}} : i1
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : i32
// CHECK: affine.apply affine_map<(d0, d1, d2) -> ((((d0 * 8) + (d1 * 2)) + d2))> (%c_1, %w_1, %kw_1)
// CHECK: arith.index_cast %{{.*}} : index to i64
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : i64
// CHECK: memref.store %{{.*}}, %max_pool_indices[%{{.*}}, %c_1, %w_1] : memref<1x2x4xi32>
// CHECK: memref.store %{{.*}}, %max_pool_indices_1[%{{.*}}, %c_1, %w_1] : memref<1x2x4xi64>
// CHECK: tir.block "out" (%i0_1: spatial 1, %i1_1: spatial 2, %i2_1: spatial 4) = {{.*}} {
// CHECK: memref.load %max_pool_indices_1[%{{.*}}, %i1_1, %i2_1] : memref<1x2x4xi64>
// CHECK: memref.store %{{.*}}, %r[%{{.*}}, %i1_1, %i2_1] : memref<1x2x4xi64>
