// RUN: clopt %s -p nn-fuse,nn-to-cl,nn-to-tir --split-input-file | filecheck %s

// A negative index counts from the end; then it is kept inside of the axis.
// CHECK-LABEL: tir.func @gather_0
func.func @gather(%x: tensor<9x4xf32>, %i: tensor<5xi64>) -> tensor<5x4xf32> {
  %r = nn.gather %x, %i {axis = 0 : i64} : (tensor<9x4xf32>, tensor<5xi64>) -> tensor<5x4xf32>
  func.return %r : tensor<5x4xf32>
}
// CHECK: tir.block "out" (%i0_1: spatial 5, %i1_1: spatial 4) = {{.*}} {
// CHECK: memref.load %i[%i0_1] : memref<5xi64>
// CHECK: arith.trunci %{{.*}} : i64 to i32
// CHECK: arith.cmpi slt, %{{.*}}, %{{.*}} : i32
// CHECK: arith.addi %{{.*}}, %{{.*}} : i32
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : i32
// CHECK: arith.maxsi %{{.*}}, %{{.*}} : i32
// CHECK: arith.minsi %{{.*}}, %{{.*}} : i32
// CHECK: arith.index_cast %{{.*}} : i32 to index
// CHECK: memref.load %x[%{{.*}}, %i1_1] : memref<9x4xf32>
// CHECK: memref.store %{{.*}}, %r[%i0_1, %i1_1] : memref<5x4xf32>

// -----

// CHECK-LABEL: tir.func @gather_elements_0
func.func @gather_elements(%x: tensor<9xf32>, %i: tensor<5xui8>) -> tensor<5xf32> {
  %r = nn.gather_elements %x, %i {axis = 0 : i64} : (tensor<9xf32>, tensor<5xui8>) -> tensor<5xf32>
  func.return %r : tensor<5xf32>
}
// CHECK: tir.block "out" (%i0_1: spatial 5) = {{.*}} {
// CHECK: memref.load %i[%i0_1] : memref<5xi8>
// CHECK: arith.extui %{{.*}} : i8 to i32
// CHECK: arith.maxsi %{{.*}}, %{{.*}} : i32
// CHECK: arith.minsi %{{.*}}, %{{.*}} : i32
// CHECK: arith.index_cast %{{.*}} : i32 to index
// CHECK: memref.load %x[%{{.*}}] : memref<9xf32>
// CHECK: memref.store %{{.*}}, %r[%i0_1] : memref<5xf32>

// -----

// The last dimension of the indices spells the position.
// CHECK-LABEL: tir.func @gather_nd_0
func.func @gather_nd(%x: tensor<3x4x5xf32>, %i: tensor<6x2xi32>) -> tensor<6x5xf32> {
  %r = nn.gather_nd %x, %i {batch_dims = 0 : i64} : (tensor<3x4x5xf32>, tensor<6x2xi32>) -> tensor<6x5xf32>
  func.return %r : tensor<6x5xf32>
}
// CHECK: tir.block "out" (%i0_1: spatial 6, %i1_1: spatial 5) = {{.*}} {
// CHECK: memref.load %i[%i0_1, %{{.*}}] : memref<6x2xi32>
// CHECK: arith.cmpi slt, %{{.*}}, %{{.*}} : i32
// CHECK: arith.addi %{{.*}}, %{{.*}} : i32
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : i32
// CHECK: arith.maxsi %{{.*}}, %{{.*}} : i32
// CHECK: arith.minsi %{{.*}}, %{{.*}} : i32
// CHECK: arith.index_cast %{{.*}} : i32 to index
// CHECK: memref.load %i[%i0_1, %{{.*}}] : memref<6x2xi32>
// CHECK: arith.cmpi slt, %{{.*}}, %{{.*}} : i32
// CHECK: arith.addi %{{.*}}, %{{.*}} : i32
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : i32
// CHECK: arith.maxsi %{{.*}}, %{{.*}} : i32
// CHECK: arith.minsi %{{.*}}, %{{.*}} : i32
// CHECK: arith.index_cast %{{.*}} : i32 to index
// CHECK: memref.load %x[%{{.*}}, %{{.*}}, %i1_1] : memref<3x4x5xf32>
// CHECK: memref.store %{{.*}}, %r[%i0_1, %i1_1] : memref<6x5xf32>

// -----

// The last update that meets a row, found once per row; then the rows are copied.
// CHECK-LABEL: tir.func @scatter_nd_0
func.func @scatter_nd(%x: tensor<9x4xf32>, %i: tensor<5x1xi64>, %u: tensor<5x4xf32>) -> tensor<9x4xf32> {
  %r = nn.scatter_nd none %x, %i, %u : (tensor<9x4xf32>, tensor<5x1xi64>, tensor<5x4xf32>) -> tensor<9x4xf32>
  func.return %r : tensor<9x4xf32>
}
// CHECK: %last_update = memref.alloca() : memref<9xi32>
// CHECK: tir.block "last_update" (%i0_1: spatial 9, %r0_1: reduce 5) = {{.*}} init [-1 : i32] {
// CHECK: memref.load %last_update[%i0_1] : memref<9xi32>
// CHECK: arith.index_cast %r0_1 : index to i32
// CHECK: memref.load %i[%r0_1, %{{.*}}] : memref<5x1xi64>
// CHECK: arith.trunci %{{.*}} : i64 to i32
// CHECK: arith.cmpi slt, %{{.*}}, %{{.*}} : i32
// CHECK: arith.addi %{{.*}}, %{{.*}} : i32
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : i32
// CHECK: arith.index_cast %i0_1 : index to i32
// CHECK: arith.cmpi eq, %{{.*}}, %{{.*}} : i32
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : i32
// CHECK: memref.store %{{.*}}, %last_update[%i0_1] : memref<9xi32>
// CHECK: tir.block "out" (%i0_3: spatial 9, %i1_1: spatial 4) = {{.*}} {
// CHECK: memref.load %last_update[%i0_3] : memref<9xi32>
// CHECK: arith.cmpi sge, %{{.*}}, %{{.*}} : i32
// CHECK: scf.if %{{.*}} -> (f32) {
// CHECK: arith.index_cast %{{.*}} : i32 to index
// CHECK: memref.load %u[%{{.*}}, %i1_1] : memref<5x4xf32>
// CHECK: } else {
// CHECK: memref.load %x[%i0_3, %i1_1] : memref<9x4xf32>
// CHECK: memref.store %{{.*}}, %r[%i0_3, %i1_1] : memref<9x4xf32>

// -----

// The updates that meet an element are added up, then added to it.
// CHECK-LABEL: tir.func @scatter_elements_0
func.func @scatter_elements(%x: tensor<9xi32>, %i: tensor<5xi64>, %u: tensor<5xi32>) -> tensor<9xi32> {
  %r = nn.scatter_elements add %x, %i, %u {axis = 0 : i64} : (tensor<9xi32>, tensor<5xi64>, tensor<5xi32>) -> tensor<9xi32>
  func.return %r : tensor<9xi32>
}
// CHECK: %updates = memref.alloca() : memref<9xi32>
// CHECK: tir.block "updates" (%i0_1: spatial 9, %r0_1: reduce 5) = {{.*}} init [0 : i32] {
// CHECK: memref.load %updates[%i0_1] : memref<9xi32>
// CHECK: memref.load %i[%r0_1] : memref<5xi64>
// CHECK: arith.trunci %{{.*}} : i64 to i32
// CHECK: arith.cmpi slt, %{{.*}}, %{{.*}} : i32
// CHECK: arith.addi %{{.*}}, %{{.*}} : i32
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : i32
// CHECK: arith.index_cast %i0_1 : index to i32
// CHECK: arith.cmpi eq, %{{.*}}, %{{.*}} : i32
// CHECK: scf.if %{{.*}} -> (i32) {
// CHECK: memref.load %u[%r0_1] : memref<5xi32>
// CHECK: arith.addi %{{.*}}, %{{.*}} : i32
// CHECK: } else {
// CHECK: memref.store %{{.*}}, %updates[%i0_1] : memref<9xi32>
// CHECK: tir.block "out" (%i0_3: spatial 9) = {{.*}} {
// CHECK: memref.load %x[%i0_3] : memref<9xi32>
// CHECK: memref.load %updates[%i0_3] : memref<9xi32>
// CHECK: arith.addi %{{.*}}, %{{.*}} : i32
// CHECK: memref.store %{{.*}}, %r[%i0_3] : memref<9xi32>
