// RUN: clopt %s -p nn-fuse,nn-to-cl,nn-to-tir --split-input-file | filecheck %s

// CHECK-LABEL: tir.func @reduce_mean_0
func.func @mean(%x: tensor<2x3x4xf32>) -> tensor<1x3x1xf32> {
  %r = nn.reduce mean %x {axes = array<i64: 0, 2>, keepdims} : (tensor<2x3x4xf32>) -> tensor<1x3x1xf32>
  func.return %r : tensor<1x3x1xf32>
}
// CHECK: %reduce_mean = memref.alloca() : memref<1x3x1xf32>
// CHECK: tir.block "reduce_mean" (%i0_1: spatial 1, %i1_1: spatial 3, %i2_1: spatial 1, %r0_1: reduce 2, %r1_1: reduce 4) = {{.*}} init [0.000000e+00 : f32] {
// CHECK: memref.load %reduce_mean[%{{.*}}, %i1_1, %{{.*}}] : memref<1x3x1xf32>
// CHECK: memref.load %x[%r0_1, %i1_1, %r1_1] : memref<2x3x4xf32>
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: memref.store %{{.*}}, %reduce_mean[%{{.*}}, %i1_1, %{{.*}}] : memref<1x3x1xf32>
// CHECK: tir.block "out" (%i0_3: spatial 1, %i1_3: spatial 3, %i2_3: spatial 1) = {{.*}} {
// CHECK: memref.load %reduce_mean[%{{.*}}, %i1_3, %{{.*}}] : memref<1x3x1xf32>
// CHECK: arith.divf %{{[^ ]*}}, %{{[^ ]*}} : f32
// CHECK: memref.store %{{.*}}, %r[%{{.*}}, %i1_3, %{{.*}}] : memref<1x3x1xf32>

// -----

// Unsigned elements compare unsigned.
// CHECK-LABEL: tir.func @reduce_max_0
func.func @max(%x: tensor<2x3xui8>) -> tensor<2xui8> {
  %r = nn.reduce max %x {axes = array<i64: 1>} : (tensor<2x3xui8>) -> tensor<2xui8>
  func.return %r : tensor<2xui8>
}
// CHECK: %reduce_max = memref.alloca() : memref<2x1xi8>
// CHECK: tir.block "reduce_max" (%i0_1: spatial 2, %i1_1: spatial 1, %r0_1: reduce 3) = {{.*}} init [0 : i8] {
// CHECK: memref.load %reduce_max[%i0_1, %{{.*}}] : memref<2x1xi8>
// CHECK: memref.load %x[%i0_1, %r0_1] : memref<2x3xi8>
// CHECK: arith.maxui %{{.*}}, %{{.*}} : i8
// CHECK: memref.store %{{.*}}, %reduce_max[%i0_1, %{{.*}}] : memref<2x1xi8>
// CHECK: tir.block "out" (%i0_3: spatial 2) = {{.*}} {
// CHECK: memref.load %reduce_max[%i0_3, %{{.*}}] : memref<2x1xi8>
// CHECK: memref.store %{{.*}}, %r[%i0_3] : memref<2xi8>

// -----

// Reducing nothing gives the start value; there is no stage.
// CHECK-LABEL: tir.func @reduce_prod_0
func.func @nothing(%x: tensor<2x0xf32>) -> tensor<2xf32> {
  %r = nn.reduce prod %x {axes = array<i64: 1>} : (tensor<2x0xf32>) -> tensor<2xf32>
  func.return %r : tensor<2xf32>
}
// CHECK: tir.block "out" (%i0_1: spatial 2) = {{.*}} {
// CHECK: memref.store %{{.*}}, %r[%i0_1] : memref<2xf32>

// -----

// CHECK-LABEL: tir.func @reduce_log_sum_exp_0
func.func @log_sum_exp(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  %r = nn.reduce log_sum_exp %x {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  func.return %r : tensor<2xf32>
}
// CHECK: %reduce_max = memref.alloca() : memref<2x1xf32>
// CHECK: %reduce_log_sum_exp = memref.alloca() : memref<2x1xf32>
// CHECK: tir.block "reduce_max" (%i0_1: spatial 2, %i1_1: spatial 1, %r0_1: reduce 3) = {{.*}} init [0xff800000 : f32] {
// CHECK: memref.load %reduce_max[%i0_1, %{{.*}}] : memref<2x1xf32>
// CHECK: memref.load %x[%i0_1, %r0_1] : memref<2x3xf32>
// CHECK: arith.maximumf %{{.*}}, %{{.*}} : f32
// CHECK: memref.store %{{.*}}, %reduce_max[%i0_1, %{{.*}}] : memref<2x1xf32>
// CHECK: tir.block "reduce_log_sum_exp" (%i0_3: spatial 2, %i1_3: spatial 1, %r0_3: reduce 3) = {{.*}} init [0.000000e+00 : f32] {
// CHECK: memref.load %reduce_log_sum_exp[%i0_3, %{{.*}}] : memref<2x1xf32>
// CHECK: memref.load %x[%i0_3, %r0_3] : memref<2x3xf32>
// CHECK: memref.load %reduce_max[%i0_3, %{{.*}}] : memref<2x1xf32>
// CHECK: math.absf %{{.*}} : f32
// CHECK: arith.cmpf oeq, %{{.*}}, %{{.*}} : f32
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK: arith.subf %{{.*}}, %{{.*}} : f32
// CHECK: math.exp %{{.*}} : f32
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: memref.store %{{.*}}, %reduce_log_sum_exp[%i0_3, %{{.*}}] : memref<2x1xf32>
// CHECK: tir.block "out" (%i0_5: spatial 2) = {{.*}} {
// CHECK: memref.load %reduce_log_sum_exp[%i0_5, %{{.*}}] : memref<2x1xf32>
// CHECK: math.log %{{.*}} : f32
// CHECK: memref.load %reduce_max[%i0_5, %{{.*}}] : memref<2x1xf32>
// CHECK: math.absf %{{.*}} : f32
// CHECK: arith.cmpf oeq, %{{.*}}, %{{.*}} : f32
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: memref.store %{{.*}}, %r[%i0_5] : memref<2xf32>

// -----

// The element and its position are carried together.
// CHECK-LABEL: tir.func @arg_reduce_max_0
func.func @arg_max(%x: tensor<2x3xi32>) -> tensor<2xi64> {
  %r = nn.arg_reduce max %x {axis = 1 : i64} : (tensor<2x3xi32>) -> tensor<2xi64>
  func.return %r : tensor<2xi64>
}
// CHECK: %arg_max = memref.alloca() : memref<2x1xi32>
// CHECK: %arg_max_1 = memref.alloca() : memref<2x1xi64>
// CHECK: tir.block "arg_max" (%i0_1: spatial 2, %i1_1: spatial 1, %r0_1: reduce 3) = {{.*}} init [-2147483648 : i32, 0 : i64] {
// CHECK: memref.load %arg_max[%i0_1, %{{.*}}] : memref<2x1xi32>
// CHECK: memref.load %arg_max_1[%i0_1, %{{.*}}] : memref<2x1xi64>
// CHECK: memref.load %x[%i0_1, %r0_1] : memref<2x3xi32>
// CHECK: arith.cmpi sgt, %{{.*}}, %{{.*}} : i32
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : i32
// CHECK: arith.index_cast %r0_1 : index to i64
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : i64
// CHECK: memref.store %{{.*}}, %arg_max[%i0_1, %{{.*}}] : memref<2x1xi32>
// CHECK: memref.store %{{.*}}, %arg_max_1[%i0_1, %{{.*}}] : memref<2x1xi64>
// CHECK: tir.block "out" (%i0_3: spatial 2) = {{.*}} {
// CHECK: memref.load %arg_max_1[%i0_3, %{{.*}}] : memref<2x1xi64>
// CHECK: memref.store %{{.*}}, %r[%i0_3] : memref<2xi64>

// -----

// A sum over all j with a guard.
// CHECK-LABEL: tir.func @cumsum_0
func.func @cumsum(%x: tensor<5xf32>) -> tensor<5xf32> {
  %r = nn.cumsum %x {axis = 0 : i64} : (tensor<5xf32>) -> tensor<5xf32>
  func.return %r : tensor<5xf32>
}
// CHECK: %cumsum = memref.alloca() : memref<5xf32>
// CHECK: tir.block "cumsum" (%i0_1: spatial 5, %r0_1: reduce 5) = {{.*}} init [0.000000e+00 : f32] {
// CHECK: memref.load %cumsum[%i0_1] : memref<5xf32>
// CHECK: affine.apply affine_map<(d0, d1) -> ((d0 + (d1 * -1)))> (%i0_1, %r0_1)
// CHECK: arith.cmpi sge, %{{.*}}, %{{.*}} : index
// CHECK: scf.if %{{.*}} -> (f32) {
// CHECK: memref.load %x[%r0_1] : memref<5xf32>
// CHECK: } else {
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: memref.store %{{.*}}, %cumsum[%i0_1] : memref<5xf32>
// CHECK: tir.block "out" (%i0_3: spatial 5) = {{.*}} {
// CHECK: memref.load %cumsum[%i0_3] : memref<5xf32>
// CHECK: memref.store %{{.*}}, %r[%i0_3] : memref<5xf32>

// -----

// Every element's rank, then the element of each rank.
// CHECK-LABEL: tir.func @top_k_0
func.func @top_k(%x: tensor<5xi32>) -> (tensor<2xi32>, tensor<2xi64>) {
  %r, %s = nn.top_k %x {axis = 0 : i64, k = 2 : i64, largest} : (tensor<5xi32>) -> (tensor<2xi32>, tensor<2xi64>)
  func.return %r, %s : tensor<2xi32>, tensor<2xi64>
}
// CHECK: %rank = memref.alloca() : memref<5xi32>
// CHECK: %top_k = memref.alloca() : memref<2xi64>
// CHECK: tir.block "rank" (%i0_1: spatial 5, %r0_1: reduce 5) = {{.*}} init [0 : i32] {
// CHECK: memref.load %rank[%i0_1] : memref<5xi32>
// CHECK: memref.load %x[%i0_1] : memref<5xi32>
// CHECK: memref.load %x[%r0_1] : memref<5xi32>
// CHECK: affine.apply affine_map<(d0, d1) -> ((d0 + (d1 * -1)))> (%i0_1, %r0_1)
// CHECK: arith.cmpi sgt, %{{.*}}, %{{.*}} : index
// CHECK: arith.cmpi sgt, %{{.*}}, %{{.*}} : i32
// CHECK: arith.cmpi sgt, %{{.*}}, %{{.*}} : i32
// CHECK: arith.xori %{{.*}}, %{{.*}} : i1
// CHECK: arith.andi %{{.*}}, %{{.*}} : i1
// CHECK: arith.ori %{{.*}}, %{{.*}} : i1
// CHECK: arith.extui %{{.*}} : i1 to i32
// CHECK: arith.addi %{{.*}}, %{{.*}} : i32
// CHECK: memref.store %{{.*}}, %rank[%i0_1] : memref<5xi32>
// CHECK: tir.block "top_k" (%i0_3: spatial 2, %r0_3: reduce 5) = {{.*}} init [0 : i64] {
// CHECK: memref.load %top_k[%i0_3] : memref<2xi64>
// CHECK: memref.load %rank[%r0_3] : memref<5xi32>
// CHECK: arith.index_cast %i0_3 : index to i32
// CHECK: arith.cmpi eq, %{{.*}}, %{{.*}} : i32
// CHECK: arith.index_cast %r0_3 : index to i64
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : i64
// CHECK: memref.store %{{.*}}, %top_k[%i0_3] : memref<2xi64>
// CHECK: tir.block "out" (%i0_5: spatial 2) = {{.*}} {
// CHECK: memref.load %top_k[%i0_5] : memref<2xi64>
// CHECK: arith.index_cast %{{.*}} : i64 to index
// CHECK: memref.load %x[%{{.*}}] : memref<5xi32>
// CHECK: memref.store %{{.*}}, %r[%i0_5] : memref<2xi32>
// CHECK: %rank = memref.alloca() : memref<5xi32>
// CHECK: %top_k = memref.alloca() : memref<2xi64>
// CHECK: tir.block "rank" (%i0_1: spatial 5, %r0_1: reduce 5) = {{.*}} init [0 : i32] {
// CHECK: memref.load %rank[%i0_1] : memref<5xi32>
// CHECK: memref.load %x[%i0_1] : memref<5xi32>
// CHECK: memref.load %x[%r0_1] : memref<5xi32>
// CHECK: affine.apply affine_map<(d0, d1) -> ((d0 + (d1 * -1)))> (%i0_1, %r0_1)
// CHECK: arith.cmpi sgt, %{{.*}}, %{{.*}} : index
// CHECK: arith.cmpi sgt, %{{.*}}, %{{.*}} : i32
// CHECK: arith.cmpi sgt, %{{.*}}, %{{.*}} : i32
// CHECK: arith.xori %{{.*}}, %{{.*}} : i1
// CHECK: arith.andi %{{.*}}, %{{.*}} : i1
// CHECK: arith.ori %{{.*}}, %{{.*}} : i1
// CHECK: arith.extui %{{.*}} : i1 to i32
// CHECK: arith.addi %{{.*}}, %{{.*}} : i32
// CHECK: memref.store %{{.*}}, %rank[%i0_1] : memref<5xi32>
// CHECK: tir.block "top_k" (%i0_3: spatial 2, %r0_3: reduce 5) = {{.*}} init [0 : i64] {
// CHECK: memref.load %top_k[%i0_3] : memref<2xi64>
// CHECK: memref.load %rank[%r0_3] : memref<5xi32>
// CHECK: arith.index_cast %i0_3 : index to i32
// CHECK: arith.cmpi eq, %{{.*}}, %{{.*}} : i32
// CHECK: arith.index_cast %r0_3 : index to i64
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : i64
// CHECK: memref.store %{{.*}}, %top_k[%i0_3] : memref<2xi64>
// CHECK: tir.block "out" (%i0_5: spatial 2) = {{.*}} {
// CHECK: memref.load %top_k[%i0_5] : memref<2xi64>
// CHECK: memref.store %{{.*}}, %s[%i0_5] : memref<2xi64>
