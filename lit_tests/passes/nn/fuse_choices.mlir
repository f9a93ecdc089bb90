// RUN: clopt %s -p nn-fuse --split-input-file | filecheck %s

// Of two equal pairs the second stays apart.
// CHECK:      cl.choices = [#cl.choice<"group", "ae8f813fd15155db#1", "merged", "nn.conv, nn.unary", ["apart"]>, #cl.choice<"group", "ae8f813fd15155db#2", "apart", "nn.conv, nn.unary", ["merged"]>]
// CHECK-LABEL: @numbered
// CHECK-NEXT: [[b:%.*]] = nn.fused %x, %w
// CHECK:        nn.conv
// CHECK-NEXT:   nn.unary relu
// CHECK:      [[c:%.*]] = nn.fused [[b]], %w
// CHECK:        nn.conv
// CHECK-NEXT:   nn.yield
// CHECK:      nn.fused [[c]]
// CHECK:        nn.unary relu
module attributes {cl.choices = [#cl.choice<"group", "ae8f813fd15155db#2", "apart", "", []>]} {
  func.func @numbered(%x: tensor<1x4x6xf32>, %w: tensor<4x4x1xf32>) -> (tensor<1x4x6xf32>, tensor<1x4x6xf32>) {
    %a = nn.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : (tensor<1x4x6xf32>, tensor<4x4x1xf32>) -> tensor<1x4x6xf32>
    %b = nn.unary relu %a : (tensor<1x4x6xf32>) -> tensor<1x4x6xf32>
    %c = nn.conv %b, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : (tensor<1x4x6xf32>, tensor<4x4x1xf32>) -> tensor<1x4x6xf32>
    %d = nn.unary relu %c : (tensor<1x4x6xf32>) -> tensor<1x4x6xf32>
    func.return %b, %d : tensor<1x4x6xf32>, tensor<1x4x6xf32>
  }
}

// -----

// A choice that `nn-choose` left to this pass is no site of its own.
// CHECK:      cl.choices = []
// CHECK-LABEL: @carried
// CHECK-NEXT: [[a:%.*]] = nn.fused %x, %y
// CHECK:        nn.matmul
// CHECK-NEXT:   nn.yield
// CHECK:      nn.fused [[a]]
// CHECK-NEXT: ^bb0
// CHECK-NEXT:   nn.unary relu %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
module attributes {cl.choices = []} {
  func.func @carried(%x: tensor<4x8xf32>, %y: tensor<8x8xf32>) -> tensor<4x8xf32> {
    %a = nn.matmul %x, %y : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %b = nn.unary relu %a {nn.groups = ["apart"]} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    func.return %b : tensor<4x8xf32>
  }
}
