// RUN: clopt %s -p nn-fuse,nn-to-cl,nn-to-tir --split-input-file | filecheck %s

// Running statistics need no stage.
// CHECK-LABEL: tir.func @batch_norm_0
func.func @batch_norm(%x: tensor<2x3x4xf32>, %s: tensor<3xf32>, %b: tensor<3xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>) -> tensor<2x3x4xf32> {
  %r = nn.batch_norm %x, %s, %b, %m, %v {epsilon = 0.5} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
  func.return %r : tensor<2x3x4xf32>
}
// CHECK: tir.block "out" (%i0_1: spatial 2, %i1_1: spatial 3, %i2_1: spatial 4) = {{.*}} {
// CHECK: memref.load %s[%i1_1] : memref<3xf32>
// CHECK: memref.load %b[%i1_1] : memref<3xf32>
// CHECK: memref.load %m[%i1_1] : memref<3xf32>
// CHECK: memref.load %v[%i1_1] : memref<3xf32>
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: math.sqrt %{{.*}} fastmath<afn> : f32
// CHECK: arith.divf %{{.*}}, %{{[^ ]*}} fastmath<arcp> : f32
// CHECK: memref.load %x[%i0_1, %i1_1, %i2_1] : memref<2x3x4xf32>
// CHECK: arith.subf %{{.*}}, %{{.*}} : f32
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: memref.store %{{.*}}, %r[%i0_1, %i1_1, %i2_1] : memref<2x3x4xf32>

// -----

// The mean, then the mean square around it, then the elements.
// CHECK-LABEL: tir.func @layer_norm_0
func.func @layer_norm(%x: tensor<2x8xf32>, %s: tensor<8xf32>) -> tensor<2x8xf32> {
  %r = nn.layer_norm %x, %s {axis = 1 : i64, epsilon = 0.5} : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  func.return %r : tensor<2x8xf32>
}
// CHECK: %sum = memref.alloca() : memref<2x1xf32>
// CHECK: %squares = memref.alloca() : memref<2x1xf32>
// CHECK: tir.block "sum" (%i0_1: spatial 2, %i1_1: spatial 1, %r0_1: reduce 8) = {{.*}} init [0.000000e+00 : f32] {
// CHECK: memref.load %sum[%i0_1, %{{.*}}] : memref<2x1xf32>
// CHECK: memref.load %x[%i0_1, %r0_1] : memref<2x8xf32>
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: memref.store %{{.*}}, %sum[%i0_1, %{{.*}}] : memref<2x1xf32>
// CHECK: tir.block "squares" (%i0_3: spatial 2, %i1_3: spatial 1, %r0_3: reduce 8) = {{.*}} init [0.000000e+00 : f32] {
// CHECK: memref.load %squares[%i0_3, %{{.*}}] : memref<2x1xf32>
// CHECK: memref.load %x[%i0_3, %r0_3] : memref<2x8xf32>
// CHECK: memref.load %sum[%i0_3, %{{.*}}] : memref<2x1xf32>
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK: arith.subf %{{.*}}, %{{.*}} : f32
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: memref.store %{{.*}}, %squares[%i0_3, %{{.*}}] : memref<2x1xf32>
// CHECK: tir.block "out" (%i0_5: spatial 2, %i1_5: spatial 8) = {{.*}} {
// CHECK: memref.load %x[%i0_5, %i1_5] : memref<2x8xf32>
// CHECK: memref.load %sum[%i0_5, %{{.*}}] : memref<2x1xf32>
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK: arith.subf %{{.*}}, %{{.*}} : f32
// CHECK: memref.load %squares[%i0_5, %{{.*}}] : memref<2x1xf32>
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: math.sqrt %{{.*}} fastmath<afn> : f32
// CHECK: arith.divf %{{.*}}, %{{[^ ]*}} fastmath<arcp> : f32
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK: memref.load %s[%i1_5] : memref<8xf32>
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK: memref.store %{{.*}}, %r[%i0_5, %i1_5] : memref<2x8xf32>

// -----

// CHECK-LABEL: tir.func @rms_norm_0
func.func @rms_norm(%x: tensor<2x8xf32>, %s: tensor<8xf32>) -> tensor<2x8xf32> {
  %r = nn.rms_norm %x, %s {axis = 1 : i64, epsilon = 0.5} : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  func.return %r : tensor<2x8xf32>
}
// CHECK: %squares = memref.alloca() : memref<2x1xf32>
// CHECK: tir.block "squares" (%i0_1: spatial 2, %i1_1: spatial 1, %r0_1: reduce 8) = {{.*}} init [0.000000e+00 : f32] {
// CHECK: memref.load %squares[%i0_1, %{{.*}}] : memref<2x1xf32>
// CHECK: memref.load %x[%i0_1, %r0_1] : memref<2x8xf32>
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: memref.store %{{.*}}, %squares[%i0_1, %{{.*}}] : memref<2x1xf32>
// CHECK: tir.block "out" (%i0_3: spatial 2, %i1_3: spatial 8) = {{.*}} {
// CHECK: memref.load %squares[%i0_3, %{{.*}}] : memref<2x1xf32>
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: math.sqrt %{{.*}} fastmath<afn> : f32
// CHECK: arith.divf %{{.*}}, %{{[^ ]*}} fastmath<arcp> : f32
// CHECK: memref.load %x[%i0_3, %i1_3] : memref<2x8xf32>
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK: memref.load %s[%i1_3] : memref<8xf32>
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK: memref.store %{{.*}}, %r[%i0_3, %i1_3] : memref<2x8xf32>

// -----

// Two groups of three channels: channel c belongs to group c floordiv 3.
// CHECK-LABEL: tir.func @group_norm_0
func.func @group_norm(%x: tensor<1x6x4xf32>, %s: tensor<6xf32>, %b: tensor<6xf32>) -> tensor<1x6x4xf32> {
  %r = nn.group_norm %x, %s, %b {num_groups = 2 : i64, epsilon = 0.5} : (tensor<1x6x4xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<1x6x4xf32>
  func.return %r : tensor<1x6x4xf32>
}
// CHECK: %sum = memref.alloca() : memref<1x2x1x1xf32>
// CHECK: %squares = memref.alloca() : memref<1x2x1x1xf32>
// CHECK: tir.block "sum" (%i0_1: spatial 1, %i1_1: spatial 2, %i2_1: spatial 1, %i3_1: spatial 1, %r0_1: reduce 3, %r1_1: reduce 4) = {{.*}} init [0.000000e+00 : f32] {
// CHECK: memref.load %sum[%{{.*}}, %i1_1, %{{.*}}, %{{.*}}] : memref<1x2x1x1xf32>
// CHECK: affine.apply affine_map<(d0, d1) -> (((d0 * 3) + d1))> (%i1_1, %r0_1)
// CHECK: memref.load %x[%{{.*}}, %{{.*}}, %r1_1] : memref<1x6x4xf32>
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: memref.store %{{.*}}, %sum[%{{.*}}, %i1_1, %{{.*}}, %{{.*}}] : memref<1x2x1x1xf32>
// CHECK: tir.block "squares" (%i0_3: spatial 1, %i1_3: spatial 2, %i2_3: spatial 1, %i3_3: spatial 1, %r0_3: reduce 3, %r1_3: reduce 4) = {{.*}} init [0.000000e+00 : f32] {
// CHECK: memref.load %squares[%{{.*}}, %i1_3, %{{.*}}, %{{.*}}] : memref<1x2x1x1xf32>
// CHECK: affine.apply affine_map<(d0, d1) -> (((d0 * 3) + d1))> (%i1_3, %r0_3)
// CHECK: memref.load %x[%{{.*}}, %{{.*}}, %r1_3] : memref<1x6x4xf32>
// CHECK: memref.load %sum[%{{.*}}, %i1_3, %{{.*}}, %{{.*}}] : memref<1x2x1x1xf32>
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK: arith.subf %{{.*}}, %{{.*}} : f32
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: memref.store %{{.*}}, %squares[%{{.*}}, %i1_3, %{{.*}}, %{{.*}}] : memref<1x2x1x1xf32>
// CHECK: tir.block "out" (%i0_5: spatial 1, %i1_5: spatial 6, %i2_5: spatial 4) = {{.*}} {
// CHECK: affine.apply affine_map<(d0) -> ((d0 floordiv 3))> (%i1_5)
// CHECK: memref.load %squares[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] : memref<1x2x1x1xf32>
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: math.sqrt %{{.*}} fastmath<afn> : f32
// CHECK: arith.divf %{{.*}}, %{{[^ ]*}} fastmath<arcp> : f32
// CHECK: memref.load %x[%{{.*}}, %i1_5, %i2_5] : memref<1x6x4xf32>
// CHECK: memref.load %sum[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] : memref<1x2x1x1xf32>
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK: arith.subf %{{.*}}, %{{.*}} : f32
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK: memref.load %s[%i1_5] : memref<6xf32>
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK: memref.load %b[%i1_5] : memref<6xf32>
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: memref.store %{{.*}}, %r[%{{.*}}, %i1_5, %i2_5] : memref<1x6x4xf32>

// -----

// The maximum first, so that no exponential overflows.
// CHECK-LABEL: tir.func @softmax_0
func.func @softmax(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %r = nn.softmax %x {axis = 1 : i64} : (tensor<2x8xf32>) -> tensor<2x8xf32>
  func.return %r : tensor<2x8xf32>
}
// CHECK: %max = memref.alloca() : memref<2x1xf32>
// CHECK: %sum = memref.alloca() : memref<2x1xf32>
// CHECK: tir.block "max" (%i0_1: spatial 2, %i1_1: spatial 1, %r0_1: reduce 8) = {{.*}} init [0xff800000 : f32] {
// CHECK: memref.load %max[%i0_1, %{{.*}}] : memref<2x1xf32>
// CHECK: memref.load %x[%i0_1, %r0_1] : memref<2x8xf32>
// CHECK: arith.maximumf %{{.*}}, %{{.*}} fastmath<nnan> : f32
// CHECK: memref.store %{{.*}}, %max[%i0_1, %{{.*}}] : memref<2x1xf32>
// CHECK: tir.block "sum" (%i0_3: spatial 2, %i1_3: spatial 1, %r0_3: reduce 8) = {{.*}} init [0.000000e+00 : f32] {
// CHECK: memref.load %sum[%i0_3, %{{.*}}] : memref<2x1xf32>
// CHECK: memref.load %x[%i0_3, %r0_3] : memref<2x8xf32>
// CHECK: memref.load %max[%i0_3, %{{.*}}] : memref<2x1xf32>
// CHECK: arith.subf %{{.*}}, %{{.*}} : f32
// CHECK: math.exp %{{.*}} : f32
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: memref.store %{{.*}}, %sum[%i0_3, %{{.*}}] : memref<2x1xf32>
// CHECK: tir.block "out" (%i0_5: spatial 2, %i1_5: spatial 8) = {{.*}} {
// CHECK: memref.load %x[%i0_5, %i1_5] : memref<2x8xf32>
// CHECK: memref.load %max[%i0_5, %{{.*}}] : memref<2x1xf32>
// CHECK: arith.subf %{{.*}}, %{{.*}} : f32
// CHECK: math.exp %{{.*}} : f32
// CHECK: memref.load %sum[%i0_5, %{{.*}}] : memref<2x1xf32>
// CHECK: arith.divf %{{.*}}, %{{[^ ]*}} fastmath<arcp> : f32
// CHECK: memref.store %{{.*}}, %r[%i0_5, %i1_5] : memref<2x8xf32>

// -----

// Half is computed in float.
// CHECK-LABEL: tir.func @softmax_0
func.func @log_softmax(%x: tensor<2x8xf16>) -> tensor<2x8xf16> {
  %r = nn.softmax %x {axis = 1 : i64, log} : (tensor<2x8xf16>) -> tensor<2x8xf16>
  func.return %r : tensor<2x8xf16>
}
// CHECK: %max = memref.alloca() : memref<2x1xf32>
// CHECK: %sum = memref.alloca() : memref<2x1xf32>
// CHECK: tir.block "max" (%i0_1: spatial 2, %i1_1: spatial 1, %r0_1: reduce 8) = {{.*}} init [0xff800000 : f32] {
// CHECK: memref.load %max[%i0_1, %{{.*}}] : memref<2x1xf32>
// CHECK: memref.load %x[%i0_1, %r0_1] : memref<2x8xf16>
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK: arith.maximumf %{{.*}}, %{{.*}} fastmath<nnan> : f32
// CHECK: memref.store %{{.*}}, %max[%i0_1, %{{.*}}] : memref<2x1xf32>
// CHECK: tir.block "sum" (%i0_3: spatial 2, %i1_3: spatial 1, %r0_3: reduce 8) = {{.*}} init [0.000000e+00 : f32] {
// CHECK: memref.load %sum[%i0_3, %{{.*}}] : memref<2x1xf32>
// CHECK: memref.load %x[%i0_3, %r0_3] : memref<2x8xf16>
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK: memref.load %max[%i0_3, %{{.*}}] : memref<2x1xf32>
// CHECK: arith.subf %{{.*}}, %{{.*}} : f32
// CHECK: math.exp %{{.*}} : f32
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: memref.store %{{.*}}, %sum[%i0_3, %{{.*}}] : memref<2x1xf32>
// CHECK: tir.block "out" (%i0_5: spatial 2, %i1_5: spatial 8) = {{.*}} {
// CHECK: memref.load %x[%i0_5, %i1_5] : memref<2x8xf16>
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK: memref.load %max[%i0_5, %{{.*}}] : memref<2x1xf32>
// CHECK: arith.subf %{{.*}}, %{{.*}} : f32
// CHECK: memref.load %sum[%i0_5, %{{.*}}] : memref<2x1xf32>
// CHECK: math.log %{{.*}} : f32
// CHECK: arith.subf %{{.*}}, %{{.*}} : f32
// CHECK: arith.truncf %{{.*}} : f32 to f16
// CHECK: memref.store %{{.*}}, %r[%i0_5, %i1_5] : memref<2x8xf16>
