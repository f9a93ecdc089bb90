// RUN: clopt %s -p nn-fuse,nn-to-cl,nn-to-tir --split-input-file | filecheck %s

// A reshape inside of a kernel is index arithmetic: dimension 0 stays, the others are linearised and
// split again. (Between kernels a reshape is a view.)
// CHECK-LABEL: tir.func @reshape_0
func.func @reshape(%x: tensor<9x4x6xf32>) -> tensor<9x3x8xf32> {
  %r = nn.fused %x : (tensor<9x4x6xf32>) -> tensor<9x3x8xf32> {
  ^bb0(%a: tensor<9x4x6xf32>):
    %b = nn.reshape %a {shape = array<i64: 9, 3, 8>} : (tensor<9x4x6xf32>) -> tensor<9x3x8xf32>
    nn.yield %b : tensor<9x3x8xf32>
  }
  func.return %r : tensor<9x3x8xf32>
}
// CHECK: tir.block "out" (%i0_1: spatial 9, %i1_1: spatial 3, %i2_1: spatial 8) = {{.*}} {
// CHECK: affine.apply affine_map<(d0, d1) -> ((((d0 * 8) + d1) floordiv 6))> (%i1_1, %i2_1)
// CHECK: affine.apply affine_map<(d0, d1) -> ((((d0 * 8) + d1) mod 6))> (%i1_1, %i2_1)
// CHECK: memref.load %a[%i0_1, %{{.*}}, %{{.*}}] : memref<9x4x6xf32>
// CHECK: memref.store %{{.*}}, %b[%i0_1, %i1_1, %i2_1] : memref<9x3x8xf32>

// -----

// CHECK-LABEL: tir.func @transpose_0
func.func @transpose(%x: tensor<2x3x4xf32>) -> tensor<4x2x3xf32> {
  %r = nn.transpose %x {perm = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  func.return %r : tensor<4x2x3xf32>
}
// CHECK: tir.block "out" (%i0_1: spatial 4, %i1_1: spatial 2, %i2_1: spatial 3) = {{.*}} {
// CHECK: memref.load %x[%i1_1, %i2_1, %i0_1] : memref<2x3x4xf32>
// CHECK: memref.store %{{.*}}, %r[%i0_1, %i1_1, %i2_1] : memref<4x2x3xf32>

// -----

// Each operand is stored by itself, without a guard.
// CHECK-LABEL: tir.func @concat_0
func.func @concat(%x: tensor<2x3xf32>, %y: tensor<2x5xf32>) -> tensor<2x8xf32> {
  %r = nn.concat %x, %y {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<2x8xf32>
  func.return %r : tensor<2x8xf32>
}
// CHECK: tir.block "out" (%i0_1: spatial 2, %i1_1: spatial 3) = {{.*}} {
// CHECK: memref.load %x[%i0_1, %i1_1] : memref<2x3xf32>
// CHECK: memref.store %{{.*}}, %r[%i0_1, %i1_1] : memref<2x8xf32>
// CHECK: tir.block "out_2" (%i0_3: spatial 2, %i1_3: spatial 5) = {{.*}} {
// CHECK: memref.load %y[%i0_3, %i1_3] : memref<2x5xf32>
// CHECK: affine.apply affine_map<(d0) -> ((d0 + 3))> (%i1_3)
// CHECK: memref.store %{{.*}}, %r[%i0_3, %{{.*}}] : memref<2x8xf32>

// -----

// A negative step counts down.
// CHECK-LABEL: tir.func @slice_0
func.func @slice(%x: tensor<8xf32>) -> tensor<3xf32> {
  %r = nn.slice %x {starts = array<i64: 6>, steps = array<i64: -2>, sizes = array<i64: 3>} : (tensor<8xf32>) -> tensor<3xf32>
  func.return %r : tensor<3xf32>
}
// CHECK: tir.block "out" (%i0_1: spatial 3) = {{.*}} {
// CHECK: affine.apply affine_map<(d0) -> (((d0 * -2) + 6))> (%i0_1)
// CHECK: memref.load %x[%{{.*}}] : memref<8xf32>
// CHECK: memref.store %{{.*}}, %r[%i0_1] : memref<3xf32>

// -----

// Negative amounts crop, and need no guard on their side.
// CHECK-LABEL: tir.func @pad_0
func.func @pad(%x: tensor<8xf32>) -> tensor<9xf32> {
  %r = nn.pad constant %x {low = array<i64: 2>, high = array<i64: -1>, value = 3.0 : f32} : (tensor<8xf32>) -> tensor<9xf32>
  func.return %r : tensor<9xf32>
}
// CHECK: tir.block "out" (%i0_1: spatial 9) = {{.*}} {
// CHECK: affine.apply affine_map<(d0) -> ((d0 + -2))> (%i0_1)
// CHECK: arith.cmpi sge, %{{.*}}, %{{.*}} : index
// CHECK: scf.if %{{.*}} -> (f32) {
// CHECK: memref.load %x[%{{.*}}] : memref<8xf32>
// CHECK: } else {
// CHECK: memref.store %{{.*}}, %r[%i0_1] : memref<9xf32>

// -----

// The position zigzags: the smaller one of a rising and a falling line.
// CHECK-LABEL: tir.func @pad_0
func.func @reflect(%x: tensor<8xf32>) -> tensor<10xf32> {
  %r = nn.pad reflect %x {low = array<i64: 2>, high = array<i64: 0>} : (tensor<8xf32>) -> tensor<10xf32>
  func.return %r : tensor<10xf32>
}
// CHECK: tir.block "out" (%i0_1: spatial 10) = {{.*}} {
// CHECK: affine.apply affine_map<(d0) -> (((d0 + 12) mod 14))> (%i0_1)
// CHECK: arith.index_cast %{{.*}} : index to i32
// CHECK: affine.apply affine_map<(d0) -> (((((d0 + 12) mod 14) * -1) + 14))> (%i0_1)
// CHECK: arith.index_cast %{{.*}} : index to i32
// CHECK: arith.minsi %{{.*}}, %{{.*}} : i32
// CHECK: arith.index_cast %{{.*}} : i32 to index
// CHECK: memref.load %x[%{{.*}}] : memref<8xf32>
// CHECK: memref.store %{{.*}}, %r[%i0_1] : memref<10xf32>

// -----

// Clamped where the bounds do not decide: here only from below.
// CHECK-LABEL: tir.func @pad_0
func.func @edge(%x: tensor<8xi8>) -> tensor<10xi8> {
  %r = nn.pad edge %x {low = array<i64: 2>, high = array<i64: 0>} : (tensor<8xi8>) -> tensor<10xi8>
  func.return %r : tensor<10xi8>
}
// CHECK: tir.block "out" (%i0_1: spatial 10) = {{.*}} {
// CHECK: affine.apply affine_map<(d0) -> ((d0 + -2))> (%i0_1)
// CHECK: arith.index_cast %{{.*}} : index to i32
// CHECK: arith.maxsi %{{.*}}, %{{.*}} : i32
// CHECK: arith.index_cast %{{.*}} : i32 to index
// CHECK: memref.load %x[%{{.*}}] : memref<8xi8>
// CHECK: memref.store %{{.*}}, %r[%i0_1] : memref<10xi8>

// -----

// The index stays positive, so that mod is the remainder in C too.
// CHECK-LABEL: tir.func @pad_0
func.func @wrap(%x: tensor<8xf32>) -> tensor<11xf32> {
  %r = nn.pad wrap %x {low = array<i64: 3>, high = array<i64: 0>} : (tensor<8xf32>) -> tensor<11xf32>
  func.return %r : tensor<11xf32>
}
// CHECK: tir.block "out" (%i0_1: spatial 11) = {{.*}} {
// CHECK: affine.apply affine_map<(d0) -> (((d0 + 5) mod 8))> (%i0_1)
// CHECK: memref.load %x[%{{.*}}] : memref<8xf32>
// CHECK: memref.store %{{.*}}, %r[%i0_1] : memref<11xf32>

// -----

// CHECK-LABEL: tir.func @expand_0
func.func @expand(%x: tensor<1x3xf32>) -> tensor<2x4x3xf32> {
  %r = nn.expand %x {shape = array<i64: 2, 4, 3>} : (tensor<1x3xf32>) -> tensor<2x4x3xf32>
  func.return %r : tensor<2x4x3xf32>
}
// CHECK: tir.block "out" (%i0_1: spatial 2, %i1_1: spatial 4, %i2_1: spatial 3) = {{.*}} {
// CHECK: memref.load %x[%{{.*}}, %i2_1] : memref<1x3xf32>
// CHECK: memref.store %{{.*}}, %r[%i0_1, %i1_1, %i2_1] : memref<2x4x3xf32>

// -----

// CHECK-LABEL: tir.func @tile_0
func.func @tile(%x: tensor<3xf32>) -> tensor<12xf32> {
  %r = nn.tile %x {repeats = array<i64: 4>} : (tensor<3xf32>) -> tensor<12xf32>
  func.return %r : tensor<12xf32>
}
// CHECK: tir.block "out" (%i0_1: spatial 12) = {{.*}} {
// CHECK: affine.apply affine_map<(d0) -> ((d0 mod 3))> (%i0_1)
// CHECK: memref.load %x[%{{.*}}] : memref<3xf32>
// CHECK: memref.store %{{.*}}, %r[%i0_1] : memref<12xf32>

// -----

// CHECK-LABEL: tir.func @depth_to_space_0
func.func @depth_to_space(%x: tensor<1x8x2x3xf32>) -> tensor<1x2x4x6xf32> {
  %r = nn.depth_to_space dcr %x {block = 2 : i64} : (tensor<1x8x2x3xf32>) -> tensor<1x2x4x6xf32>
  func.return %r : tensor<1x2x4x6xf32>
}
// CHECK: tir.block "out" (%i0_1: spatial 1, %i1_1: spatial 2, %i2_1: spatial 4, %i3_1: spatial 6) = {{.*}} {
// CHECK: affine.apply affine_map<(d0, d1, d2) -> (((((d1 mod 2) * 4) + ((d2 mod 2) * 2)) + d0))> (%i1_1, %i2_1, %i3_1)
// CHECK: affine.apply affine_map<(d0) -> ((d0 floordiv 2))> (%i2_1)
// CHECK: affine.apply affine_map<(d0) -> ((d0 floordiv 2))> (%i3_1)
// CHECK: memref.load %x[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] : memref<1x8x2x3xf32>
// CHECK: memref.store %{{.*}}, %r[%{{.*}}, %i1_1, %i2_1, %i3_1] : memref<1x2x4x6xf32>

// -----

// CHECK-LABEL: tir.func @space_to_depth_0
func.func @space_to_depth(%x: tensor<1x2x4x6xf32>) -> tensor<1x8x2x3xf32> {
  %r = nn.space_to_depth crd %x {block = 2 : i64} : (tensor<1x2x4x6xf32>) -> tensor<1x8x2x3xf32>
  func.return %r : tensor<1x8x2x3xf32>
}
// CHECK: tir.block "out" (%i0_1: spatial 1, %i1_1: spatial 8, %i2_1: spatial 2, %i3_1: spatial 3) = {{.*}} {
// CHECK: affine.apply affine_map<(d0) -> ((d0 floordiv 4))> (%i1_1)
// CHECK: affine.apply affine_map<(d0, d1) -> (((d1 * 2) + ((d0 mod 4) floordiv 2)))> (%i1_1, %i2_1)
// CHECK: affine.apply affine_map<(d0, d1) -> (((d1 * 2) + (d0 mod 2)))> (%i1_1, %i3_1)
// CHECK: memref.load %x[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] : memref<1x2x4x6xf32>
// CHECK: memref.store %{{.*}}, %r[%{{.*}}, %i1_1, %i2_1, %i3_1] : memref<1x8x2x3xf32>
