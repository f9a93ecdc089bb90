// RUN: clopt %s -p vta-lower-layers{threads=1} | filecheck %s
// RUN: clopt %s -p vta-lower-layers | filecheck %s --check-prefix=TWO
// RUN: clopt %s -p vta-lower-layers,verify,vta-assign-tokens,verify | filecheck %s --check-prefix=TOKENS

// The window's pads are those of the load; its nine elements are micro-ops in loops over rows and
// columns. The bias includes what rounds the sum. The addition, which alone reads the convolution,
// runs before that is stored.
// CHECK-LABEL: vta.program @block #vta.config<1x16_i8w8a32_15_15_18_17> write_to_read 4 {
// CHECK-NEXT:    [[x:%.*]] = vta.buffer "input0" : !vta.dram<act, 64>
// CHECK-NEXT:    [[z:%.*]] = vta.buffer "input1" : !vta.dram<act, 64>
// CHECK-NEXT:    [[y:%.*]] = vta.buffer "output0" : !vta.dram<act, 64>
// CHECK-NEXT:    [[b:%.*]] = vta.constant "w_{{.*}}" : !vta.dram<acc, 1>
// CHECK-NEXT:    [[w:%.*]] = vta.constant "w_{{.*}}" : !vta.dram<wgt, 9>
// CHECK-NEXT:    vta.gemm reset uops [(0, 0, 0)] loops [(64, 1, 0, 0)]
// CHECK-NEXT:    vta.load [[x]][0] to inp[0] size [8, 8] pads [1, 1, 1, 1]
// CHECK-NEXT:    vta.load [[w]][0] to wgt[0] size [1, 9]
// CHECK-NEXT:    vta.gemm uops [(0, 0, 0), (1, 1, 0), (2, 2, 0){{.*}}(7, 29, 8)] loops [(8, 8, 10, 0)]
// CHECK-NEXT:    vta.load [[b]][0] to acc[128] size [1, 1]
// CHECK-NEXT:    vta.alu add uops [(0, 128, 0)] loops [(64, 1, 0, 0)]
// CHECK-NEXT:    vta.alu shr imm 8 uops [(0, 0, 0)] loops [(64, 1, 1, 0)]
// CHECK-NEXT:    vta.alu max imm 0
// CHECK-NEXT:    vta.alu min imm 127
// CHECK-NEXT:    vta.alu shr imm -2
// CHECK-NEXT:    vta.load_acc8 [[z]][0] to acc[64] size [1, 64]
// CHECK-NEXT:    vta.alu shr imm -1 uops [(64, 64, 0)]
// CHECK-NEXT:    vta.alu add uops [(0, 64, 0)] loops [(64, 1, 1, 0)]
// CHECK-NEXT:    vta.alu add imm 2
// CHECK-NEXT:    vta.alu shr imm 2
// CHECK-NEXT:    vta.alu max imm -128
// CHECK-NEXT:    vta.alu min imm 127
// CHECK-NEXT:    vta.store out[0] to [[y]][0] size [1, 64]
// CHECK-NEXT:    vta.finish

// TOKENS-LABEL: vta.program @block
// TOKENS:         vta.finish wait(
vta.graph @block(%x: tensor<1x3x8x8xi8>, %z: tensor<1x4x8x8xi8>) -> tensor<1x4x8x8xi8> #vta.config<1x16_i8w8a32_15_15_18_17> {
  %w = nn.constant dense<1> : tensor<4x3x3x3xi8>
  %b = nn.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %y = vta.conv %x, %w, %b {pads = array<i64: 1, 1, 1, 1>, shift = 8 : i64, low = 0 : i64} : (tensor<1x3x8x8xi8>, tensor<4x3x3x3xi8>, tensor<4xi32>) -> tensor<1x4x8x8xi8>
  %s = vta.add %y, %z {left_shifts = array<i64: 2, 1>, shift = 2 : i64} : (tensor<1x4x8x8xi8>, tensor<1x4x8x8xi8>) -> tensor<1x4x8x8xi8>
  vta.return %s : tensor<1x4x8x8xi8>
}

// A layer that two others read is stored. One window of stride 2 loads every second row only. An
// immediate rounds where there is no bias.
// CHECK-LABEL: vta.program @branches
// CHECK:         vta.alu max imm -5 uops [(0, 0, 0)] loops [(16, 1, 1, 0)]
// CHECK-NEXT:    vta.alu min imm 5
// CHECK-NEXT:    vta.store out[0] to [[c:%[0-9]+]][0] size [1, 16]
// CHECK:         vta.load [[c]][0] to inp[0] size [2, 3] stride 8
// CHECK-NOT:     vta.load_acc8
// CHECK:         vta.alu add imm 4
// CHECK-NEXT:    vta.alu shr imm 3
// CHECK:         vta.load_acc8 [[c]][0] to acc[0] size [1, 16]
// CHECK-NEXT:    vta.alu mul imm 3
// CHECK-NEXT:    vta.alu add imm -7
// CHECK-NEXT:    vta.alu add imm 1
// CHECK-NEXT:    vta.alu shr imm 1
vta.graph @branches(%x: tensor<1x16x4x4xi8>) -> (tensor<1x16x2x2xi8>, tensor<1x16x4x4xi8>) #vta.config<1x16_i8w8a32_15_15_18_17> {
  %w = nn.constant dense<1> : tensor<16x16x1x1xi8>
  %c = vta.scale %x {low = -5 : i64, high = 5 : i64} : (tensor<1x16x4x4xi8>) -> tensor<1x16x4x4xi8>
  %y = vta.conv %c, %w {strides = array<i64: 2, 2>, shift = 3 : i64} : (tensor<1x16x4x4xi8>, tensor<16x16x1x1xi8>) -> tensor<1x16x2x2xi8>
  %s = vta.scale %c {multiplier = 3 : i64, offset = -7 : i64, shift = 1 : i64} : (tensor<1x16x4x4xi8>) -> tensor<1x16x4x4xi8>
  vta.return %y, %s : tensor<1x16x2x2xi8>, tensor<1x16x4x4xi8>
}

// With two threads a tile is loaded into a slot of its own while the one before is multiplied.
// CHECK-LABEL: vta.program @rows
// CHECK:         vta.load {{.*}} to inp[0]
// CHECK-NOT:     vta.load {{.*}} to inp[1{{[0-9]*}}]
// CHECK:         vta.finish
// TWO-LABEL: vta.program @rows
// TWO:         vta.load {{.*}} to inp[0] size
// TWO:         vta.store out[0]
// TWO:         vta.load {{.*}} to inp[{{[1-9][0-9]*}}] size
// TWO:         vta.store out[{{[1-9][0-9]*}}]
// TWO:         vta.finish
vta.graph @rows(%x: tensor<1x16x48x48xi8>) -> tensor<1x16x48x48xi8> #vta.config<1x16_i8w8a32_15_15_18_17> {
  %w = nn.constant dense<1> : tensor<16x16x3x3xi8>
  %y = vta.conv %x, %w {pads = array<i64: 1, 1, 1, 1>, shift = 3 : i64} : (tensor<1x16x48x48xi8>, tensor<16x16x3x3xi8>) -> tensor<1x16x48x48xi8>
  vta.return %y : tensor<1x16x48x48xi8>
}

// Windows beyond the border have fewer elements. Operands of a concatenation are stored in it.
// CHECK-LABEL: vta.program @windows
// CHECK:         vta.buffer "output1"
// CHECK-NEXT:    vta.load_acc8 %0[0] to acc[9] size [1, 36]
// CHECK-NEXT:    vta.gemm reset uops [(0, 0, 0)] loops [(9, 1, 0, 0)]
// CHECK-NEXT:    vta.alu min imm -128 uops [(0, 0, 0)] loops [(9, 1, 1, 0)]
// CHECK-NEXT:    vta.alu max uops [(0, 9, 0)]
// CHECK:         vta.alu max uops [(4, 16, 0), (5, 18, 0), (7, 28, 0), (8, 30, 0)] loops [(3, 0, 6, 0), (3, 0, 1, 0)]
// CHECK-NEXT:    vta.store out[0] to %2[0] size [1, 9]
// CHECK-NEXT:    vta.load_acc8 %1[0] to acc[9] size [1, 36]
// CHECK-NEXT:    vta.gemm reset
// CHECK-NEXT:    vta.alu add uops {{.*}} loops [(2, 0, 6, 0), (2, 0, 1, 0)]
// CHECK-NEXT:    vta.alu mul imm 3
// CHECK-NEXT:    vta.alu add imm 8
// CHECK-NEXT:    vta.alu shr imm 4
// CHECK:         vta.store out[0] to %2[18] size [1, 9]
// CHECK-NEXT:    vta.load_acc8 %2[0] to acc[36] size [1, 9]
// CHECK-NEXT:    vta.gemm reset
// CHECK-NEXT:    vta.alu add uops [(0, 36, 0), (1, 36, 0), (6, 36, 0), (7, 36, 0)] loops [(3, 12, 3, 0), (3, 2, 1, 0)]
// CHECK-NEXT:    vta.store out[0] to %3[0] size [1, 36]
// CHECK:         vta.store out[0] to %2[9] size [1, 9]
// CHECK-NEXT:    vta.finish
vta.graph @windows(%x: tensor<1x16x6x6xi8>, %z: tensor<1x4x6x6xi8>) -> (tensor<1x36x3x3xi8>, tensor<1x16x6x6xi8>) #vta.config<1x16_i8w8a32_15_15_18_17> {
  %m = vta.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 0, 0>} : (tensor<1x16x6x6xi8>) -> tensor<1x16x3x3xi8>
  %a = vta.sum_pool %z {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, multiplier = 3 : i64, shift = 4 : i64} : (tensor<1x4x6x6xi8>) -> tensor<1x4x3x3xi8>
  %u = vta.upsample %m {factors = array<i64: 2, 2>} : (tensor<1x16x3x3xi8>) -> tensor<1x16x6x6xi8>
  %s = vta.scale %m {low = 0 : i64} : (tensor<1x16x3x3xi8>) -> tensor<1x16x3x3xi8>
  %c = vta.concat %m, %s, %a : (tensor<1x16x3x3xi8>, tensor<1x16x3x3xi8>, tensor<1x4x3x3xi8>) -> tensor<1x36x3x3xi8>
  vta.return %c, %u : tensor<1x36x3x3xi8>, tensor<1x16x6x6xi8>
}
