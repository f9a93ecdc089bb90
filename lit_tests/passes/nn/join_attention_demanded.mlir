// More scores than the cache holds are computed apart, unless a choice demands otherwise.
// RUN: clopt %s --target 'pocl vector_width=8 l2_cache_bytes=512' -p nn-join-attention -t choices | filecheck %s --check-prefix=USUAL
// RUN: clopt %s --target 'pocl vector_width=8 l2_cache_bytes=512' -p nn-join-attention -t choices | sed s/apart/joined/ > %t && clopt %s --target 'pocl vector_width=8 l2_cache_bytes=512' --choices %t -p nn-join-attention | filecheck %s

// USUAL: # weighted
// USUAL-NEXT: attention {{[0-9a-f]+}} apart

// CHECK: nn.attention_scores
// CHECK-NOT: nn.softmax
func.func @scores(%q: tensor<9x4xf32>, %k: tensor<20x4xf32>, %v: tensor<20x6xf32>) -> tensor<9x6xf32> {
  %s = nn.matmul %q, %k {transpose_b} : (tensor<9x4xf32>, tensor<20x4xf32>) -> tensor<9x20xf32>
  %p = nn.softmax %s {axis = 1 : i64} : (tensor<9x20xf32>) -> tensor<9x20xf32>
  %y = nn.matmul %p, %v : (tensor<9x20xf32>, tensor<20x6xf32>) -> tensor<9x6xf32> loc("weighted")
  func.return %y : tensor<9x6xf32>
}
