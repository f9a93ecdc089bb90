// RUN: clopt %s -p nn-fuse,nn-to-cl,nn-to-tir --split-input-file | filecheck %s

// Twice the size: the index is halved, nothing else remains.
// CHECK-LABEL: tir.func @resize_0
func.func @nearest(%x: tensor<8xf32>) -> tensor<16xf32> {
  %r = nn.resize nearest %x {coordinate_mode = #nn<coordinate_mode asymmetric>, nearest_mode = #nn<nearest_mode floor>, scales = array<f64: 2.0>, sizes = array<i64: 16>} : (tensor<8xf32>) -> tensor<16xf32>
  func.return %r : tensor<16xf32>
}
// CHECK: tir.block "out" (%i0_1: spatial 16) = {{.*}} {
// CHECK: affine.apply affine_map<(d0) -> ((d0 floordiv 2))> (%i0_1)
// CHECK: memref.load %x[%{{.*}}] : memref<8xf32>
// CHECK: memref.store %{{.*}}, %r[%i0_1] : memref<16xf32>

// -----

// The coordinate (i + 1/2) / 2 - 1/2 is (2 i - 1) / 4: floor and fraction come from integers.
// CHECK-LABEL: tir.func @resize_0
func.func @linear(%x: tensor<8xf32>) -> tensor<16xf32> {
  %r = nn.resize linear %x {coordinate_mode = #nn<coordinate_mode half_pixel>, scales = array<f64: 2.0>, sizes = array<i64: 16>} : (tensor<8xf32>) -> tensor<16xf32>
  func.return %r : tensor<16xf32>
}
// CHECK: tir.block "out" (%i0_1: spatial 16) = {{.*}} {
// CHECK: affine.apply affine_map<(d0) -> (((((d0 + 1) mod 2) * 2) + 1))> (%i0_1)
// CHECK: arith.index_cast %{{.*}} : index to i32
// CHECK: arith.sitofp %{{.*}} : i32 to f32
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK: arith.subf %{{.*}}, %{{.*}} : f32
// CHECK: affine.apply affine_map<(d0) -> ((((d0 + 1) floordiv 2) + -1))> (%i0_1)
// CHECK: arith.index_cast %{{.*}} : index to i32
// CHECK: arith.maxsi %{{.*}}, %{{.*}} : i32
// CHECK: arith.index_cast %{{.*}} : i32 to index
// CHECK: affine.apply affine_map<(d0) -> (((d0 + 1) floordiv 2))> (%i0_1)
// CHECK: arith.index_cast %{{.*}} : index to i32
// CHECK: arith.minsi %{{.*}}, %{{.*}} : i32
// CHECK: arith.index_cast %{{.*}} : i32 to index
// CHECK: memref.load %x[%{{.*}}] : memref<8xf32>
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK: memref.load %x[%{{.*}}] : memref<8xf32>
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: memref.store %{{.*}}, %r[%i0_1] : memref<16xf32>

// -----

// Half the size: every coordinate is 2 i + 1/2, the weights are constants.
// CHECK-LABEL: tir.func @resize_0
func.func @halve(%x: tensor<8xf32>) -> tensor<4xf32> {
  %r = nn.resize linear %x {coordinate_mode = #nn<coordinate_mode half_pixel>, scales = array<f64: 0.5>, sizes = array<i64: 4>} : (tensor<8xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
// CHECK: tir.block "out" (%i0_1: spatial 4) = {{.*}} {
// CHECK: affine.apply affine_map<(d0) -> ((d0 * 2))> (%i0_1)
// CHECK: memref.load %x[%{{.*}}] : memref<8xf32>
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK: affine.apply affine_map<(d0) -> (((d0 * 2) + 1))> (%i0_1)
// CHECK: memref.load %x[%{{.*}}] : memref<8xf32>
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: memref.store %{{.*}}, %r[%i0_1] : memref<4xf32>

// -----

// Four taps; here too the fraction is the same everywhere, so the weights are numbers.
// CHECK-LABEL: tir.func @resize_0
func.func @cubic(%x: tensor<8xf32>) -> tensor<4xf32> {
  %r = nn.resize cubic %x {coordinate_mode = #nn<coordinate_mode half_pixel>, scales = array<f64: 0.5>, sizes = array<i64: 4>} : (tensor<8xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
// CHECK: tir.block "out" (%i0_1: spatial 4) = {{.*}} {
// CHECK: affine.apply affine_map<(d0) -> (((d0 * 2) + -1))> (%i0_1)
// CHECK: arith.index_cast %{{.*}} : index to i32
// CHECK: arith.maxsi %{{.*}}, %{{.*}} : i32
// CHECK: arith.index_cast %{{.*}} : i32 to index
// CHECK: affine.apply affine_map<(d0) -> (((d0 * 2) + 2))> (%i0_1)
// CHECK: arith.index_cast %{{.*}} : index to i32
// CHECK: arith.minsi %{{.*}}, %{{.*}} : i32
// CHECK: arith.index_cast %{{.*}} : i32 to index
// CHECK: memref.load %x[%{{.*}}] : memref<8xf32>
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK: affine.apply affine_map<(d0) -> ((d0 * 2))> (%i0_1)
// CHECK: memref.load %x[%{{.*}}] : memref<8xf32>
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: affine.apply affine_map<(d0) -> (((d0 * 2) + 1))> (%i0_1)
// CHECK: memref.load %x[%{{.*}}] : memref<8xf32>
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: memref.load %x[%{{.*}}] : memref<8xf32>
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: memref.store %{{.*}}, %r[%i0_1] : memref<4xf32>
