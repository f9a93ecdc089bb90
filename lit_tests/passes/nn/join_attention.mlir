// RUN: clopt %s --target 'pocl vector_width=8' -p nn-join-attention --split-input-file | filecheck %s
// RUN: clopt %s --target nvidia -p nn-join-attention --split-input-file | filecheck %s --check-prefix=GPU
// RUN: clopt %s --target 'pocl vector_width=16' -p nn-join-attention --split-input-file | filecheck %s --check-prefix=WIDE
// RUN: clopt %s --target 'pocl vector_width=8 l2_cache_bytes=512' -p nn-join-attention --split-input-file | filecheck %s --check-prefix=SMALL

// GPU-NOT: nn.attention
// Fewer queries than lanes, or more scores than the cache holds.
// WIDE-NOT: nn.attention
// SMALL-NOT: nn.attention

// Of a joint projection the kernel reads its parts, and it writes the heads side by side.
// CHECK-LABEL: @heads
// CHECK: [[y:%.*]] = nn.fused %p, %mask : (tensor<3x1x2x9x4xf32>, tensor<1x1x1x9xf32>) -> tensor<1x9x2x4xf32>
// CHECK: nn.slice {{.*}}starts = array<i64: 0, 0, 0, 0, 0>
// CHECK: nn.slice {{.*}}starts = array<i64: 1, 0, 0, 0, 0>
// CHECK: nn.slice {{.*}}starts = array<i64: 2, 0, 0, 0, 0>
// CHECK: [[s:%.*]] = nn.attention_scores
// CHECK: nn.binary mul [[s]],
// CHECK: [[a:%.*]] = nn.binary add
// CHECK: [[o:%.*]] = nn.attention [[a]],
// CHECK: nn.transpose [[o]]
// CHECK-NOT: nn.softmax
func.func @heads(%p: tensor<3x1x2x9x4xf32>, %mask: tensor<1x1x1x9xf32>) -> tensor<1x9x8xf32> {
  %scale = nn.constant dense<0.5> : tensor<f32>
  %0 = nn.slice %p {starts = array<i64: 0, 0, 0, 0, 0>, steps = array<i64: 1, 1, 1, 1, 1>, sizes = array<i64: 1, 1, 2, 9, 4>} : (tensor<3x1x2x9x4xf32>) -> tensor<1x1x2x9x4xf32>
  %q = nn.reshape %0 {shape = array<i64: 1, 2, 9, 4>} : (tensor<1x1x2x9x4xf32>) -> tensor<1x2x9x4xf32>
  %1 = nn.slice %p {starts = array<i64: 1, 0, 0, 0, 0>, steps = array<i64: 1, 1, 1, 1, 1>, sizes = array<i64: 1, 1, 2, 9, 4>} : (tensor<3x1x2x9x4xf32>) -> tensor<1x1x2x9x4xf32>
  %k = nn.reshape %1 {shape = array<i64: 1, 2, 9, 4>} : (tensor<1x1x2x9x4xf32>) -> tensor<1x2x9x4xf32>
  %2 = nn.slice %p {starts = array<i64: 2, 0, 0, 0, 0>, steps = array<i64: 1, 1, 1, 1, 1>, sizes = array<i64: 1, 1, 2, 9, 4>} : (tensor<3x1x2x9x4xf32>) -> tensor<1x1x2x9x4xf32>
  %v = nn.reshape %2 {shape = array<i64: 1, 2, 9, 4>} : (tensor<1x1x2x9x4xf32>) -> tensor<1x2x9x4xf32>
  %s = nn.matmul %q, %k {transpose_b} : (tensor<1x2x9x4xf32>, tensor<1x2x9x4xf32>) -> tensor<1x2x9x9xf32>
  %t = nn.binary mul %s, %scale : (tensor<1x2x9x9xf32>, tensor<f32>) -> tensor<1x2x9x9xf32>
  %u = nn.binary add %t, %mask : (tensor<1x2x9x9xf32>, tensor<1x1x1x9xf32>) -> tensor<1x2x9x9xf32>
  %w = nn.softmax %u {axis = 3 : i64} : (tensor<1x2x9x9xf32>) -> tensor<1x2x9x9xf32>
  %o = nn.matmul %w, %v : (tensor<1x2x9x9xf32>, tensor<1x2x9x4xf32>) -> tensor<1x2x9x4xf32>
  %m = nn.transpose %o {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x2x9x4xf32>) -> tensor<1x9x2x4xf32>
  %y = nn.reshape %m {shape = array<i64: 1, 9, 8>} : (tensor<1x9x2x4xf32>) -> tensor<1x9x8xf32>
  func.return %y : tensor<1x9x8xf32>
}

// -----

// Keys that lie in columns are turned; a choice between scores and a number is a function of them.
// CHECK-LABEL: @masked
// CHECK: [[k:%.*]] = nn.transpose {{.*}} {perm = array<i64: 1, 0>} : (tensor<4x20xf32>) -> tensor<20x4xf32>
// CHECK: [[s:%.*]] = nn.attention_scores {{.*}}, [[k]] :
// CHECK: [[t:%.*]] = nn.where {{.*}}, [[s]],
// CHECK: nn.attention [[t]]
func.func @masked(%q: tensor<9x4xf32>, %k: tensor<4x20xf32>, %v: tensor<20x6xf32>, %m: tensor<9x20xi1>) -> tensor<9x6xf32> {
  %least = nn.constant dense<-1.0e9> : tensor<f32>
  %s = nn.matmul %q, %k : (tensor<9x4xf32>, tensor<4x20xf32>) -> tensor<9x20xf32>
  %t = nn.where %m, %s, %least : (tensor<9x20xi1>, tensor<9x20xf32>, tensor<f32>) -> tensor<9x20xf32>
  %w = nn.softmax %t {axis = 1 : i64} : (tensor<9x20xf32>) -> tensor<9x20xf32>
  %y = nn.matmul %w, %v : (tensor<9x20xf32>, tensor<20x6xf32>) -> tensor<9x6xf32>
  func.return %y : tensor<9x6xf32>
}

// -----

// Weights that something else reads, too, have to be in memory, and so have scores.
// CHECK-LABEL: @read
// CHECK-NOT: nn.attention
func.func @read(%q: tensor<9x4xf32>, %k: tensor<9x4xf32>, %v: tensor<9x6xf32>) -> (tensor<9x6xf32>, tensor<9x9xf32>, tensor<9x6xf32>, tensor<9x9xf32>) {
  %s = nn.matmul %q, %k {transpose_b} : (tensor<9x4xf32>, tensor<9x4xf32>) -> tensor<9x9xf32>
  %w = nn.softmax %s {axis = 1 : i64} : (tensor<9x9xf32>) -> tensor<9x9xf32>
  %y = nn.matmul %w, %v : (tensor<9x9xf32>, tensor<9x6xf32>) -> tensor<9x6xf32>
  %r = nn.matmul %k, %q {transpose_b} : (tensor<9x4xf32>, tensor<9x4xf32>) -> tensor<9x9xf32>
  %x = nn.softmax %r {axis = 1 : i64} : (tensor<9x9xf32>) -> tensor<9x9xf32>
  %z = nn.matmul %x, %v : (tensor<9x9xf32>, tensor<9x6xf32>) -> tensor<9x6xf32>
  func.return %y, %w, %z, %r : tensor<9x6xf32>, tensor<9x9xf32>, tensor<9x6xf32>, tensor<9x9xf32>
}

// -----

// A softmax over queries, and one on the right of a product.
// CHECK-LABEL: @others
// CHECK-NOT: nn.attention
func.func @others(%q: tensor<9x4xf32>, %k: tensor<9x4xf32>, %v: tensor<9x9xf32>) -> (tensor<9x9xf32>, tensor<9x9xf32>) {
  %s = nn.matmul %q, %k {transpose_b} : (tensor<9x4xf32>, tensor<9x4xf32>) -> tensor<9x9xf32>
  %w = nn.softmax %s {axis = 0 : i64} : (tensor<9x9xf32>) -> tensor<9x9xf32>
  %y = nn.matmul %w, %v : (tensor<9x9xf32>, tensor<9x9xf32>) -> tensor<9x9xf32>
  %r = nn.matmul %k, %q {transpose_b} : (tensor<9x4xf32>, tensor<9x4xf32>) -> tensor<9x9xf32>
  %x = nn.softmax %r {axis = 1 : i64} : (tensor<9x9xf32>) -> tensor<9x9xf32>
  %z = nn.matmul %v, %x : (tensor<9x9xf32>, tensor<9x9xf32>) -> tensor<9x9xf32>
  func.return %y, %z : tensor<9x9xf32>, tensor<9x9xf32>
}

// -----

// Heads of a part are moved by the reads of the kernel. Values whose rows are no rows in memory are
// moved before.
// CHECK-LABEL: @split
// CHECK: [[v:%.*]] = nn.transpose {{.*}} {perm = array<i64: 1, 2, 0>}
// CHECK: nn.fused %p, [[v]] :
// CHECK: nn.slice
// CHECK: nn.transpose {{.*}} {perm = array<i64: 1, 0, 2>}
// CHECK: nn.slice
// CHECK: nn.transpose {{.*}} {perm = array<i64: 1, 2, 0>}
func.func @split(%p: tensor<9x16xf32>, %x: tensor<4x2x10xf32>) -> tensor<2x9x4xf32> {
  %0 = nn.slice %p {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>, sizes = array<i64: 9, 8>} : (tensor<9x16xf32>) -> tensor<9x8xf32>
  %1 = nn.reshape %0 {shape = array<i64: 9, 2, 4>} : (tensor<9x8xf32>) -> tensor<9x2x4xf32>
  %q = nn.transpose %1 {perm = array<i64: 1, 0, 2>} : (tensor<9x2x4xf32>) -> tensor<2x9x4xf32>
  %2 = nn.slice %p {starts = array<i64: 0, 8>, steps = array<i64: 1, 1>, sizes = array<i64: 9, 8>} : (tensor<9x16xf32>) -> tensor<9x8xf32>
  %3 = nn.reshape %2 {shape = array<i64: 9, 2, 4>} : (tensor<9x8xf32>) -> tensor<9x2x4xf32>
  %k = nn.transpose %3 {perm = array<i64: 1, 2, 0>} : (tensor<9x2x4xf32>) -> tensor<2x4x9xf32>
  %4 = nn.slice %x {starts = array<i64: 0, 0, 1>, steps = array<i64: 1, 1, 1>, sizes = array<i64: 4, 2, 9>} : (tensor<4x2x10xf32>) -> tensor<4x2x9xf32>
  %v = nn.transpose %4 {perm = array<i64: 1, 2, 0>} : (tensor<4x2x9xf32>) -> tensor<2x9x4xf32>
  %s = nn.matmul %q, %k : (tensor<2x9x4xf32>, tensor<2x4x9xf32>) -> tensor<2x9x9xf32>
  %w = nn.softmax %s {axis = 2 : i64} : (tensor<2x9x9xf32>) -> tensor<2x9x9xf32>
  %y = nn.matmul %w, %v : (tensor<2x9x9xf32>, tensor<2x9x4xf32>) -> tensor<2x9x4xf32>
  func.return %y : tensor<2x9x4xf32>
}

// -----

// A mask of the rows of the values is applied where they are read; one of single elements is not.
// CHECK-LABEL: @masked_rows
// CHECK: nn.fused %q, %k, %rows, %v
// CHECK: nn.where
// CHECK: nn.attention
// CHECK-LABEL: @masked_elements
// CHECK: nn.where
// CHECK: nn.fused
func.func @masked_rows(%q: tensor<9x4xf32>, %k: tensor<9x4xf32>, %v: tensor<9x6xf32>, %rows: tensor<9x1xi1>) -> tensor<9x6xf32> {
  %s = nn.matmul %q, %k {transpose_b} : (tensor<9x4xf32>, tensor<9x4xf32>) -> tensor<9x9xf32>
  %w = nn.softmax %s {axis = 1 : i64} : (tensor<9x9xf32>) -> tensor<9x9xf32>
  %zero = nn.constant dense<0.0> : tensor<f32>
  %m = nn.where %rows, %v, %zero : (tensor<9x1xi1>, tensor<9x6xf32>, tensor<f32>) -> tensor<9x6xf32>
  %y = nn.matmul %w, %m : (tensor<9x9xf32>, tensor<9x6xf32>) -> tensor<9x6xf32>
  func.return %y : tensor<9x6xf32>
}
func.func @masked_elements(%q: tensor<9x4xf32>, %k: tensor<9x4xf32>, %v: tensor<9x6xf32>, %all: tensor<9x6xi1>) -> tensor<9x6xf32> {
  %s = nn.matmul %q, %k {transpose_b} : (tensor<9x4xf32>, tensor<9x4xf32>) -> tensor<9x9xf32>
  %w = nn.softmax %s {axis = 1 : i64} : (tensor<9x9xf32>) -> tensor<9x9xf32>
  %zero = nn.constant dense<0.0> : tensor<f32>
  %m = nn.where %all, %v, %zero : (tensor<9x6xi1>, tensor<9x6xf32>, tensor<f32>) -> tensor<9x6xf32>
  %y = nn.matmul %w, %m : (tensor<9x9xf32>, tensor<9x6xf32>) -> tensor<9x6xf32>
  func.return %y : tensor<9x6xf32>
}
