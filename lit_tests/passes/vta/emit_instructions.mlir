// RUN: clopt %s --split-input-file -p vta-emit-instructions | filecheck %s

// Equal lists of micro-ops are one in the table. Tokens beyond the first of a queue cost a
// no-operation: one before %m for %i, one behind it for %k, and one for each wait of the load stage.

vta.program @tiles #vta.config<1x16_i8w8a32_15_15_18_17> attributes {a = 1 : i64} {
  %x = vta.buffer "x" : !vta.dram<act, 1024>
  %y = vta.buffer "y" : !vta.dram<act, 256>
  %w = vta.constant "w_0123456789abcdef" : !vta.dram<wgt, 9>
  %b = vta.constant "b_0123456789abcdef" : !vta.dram<acc, 1>
  %i = vta.load %x[128] to inp[0] size [2, 4] stride 56 pads [1, 0, 1, 1] signal(l2c)
  %j = vta.load %w[0] to wgt[0] size [1, 9] signal(l2c)
  vta.load_uops [(0, 0, 0), (0, 1, 1)] to uop[0]
  vta.gemm reset uops [(0, 0, 0)] loops [(4, 1, 0, 0)] at 0
  %m, %k = vta.gemm uops [(0, 0, 0), (0, 1, 1)] loops [(4, 1, 1, 0), (2, 0, 6, 3)] at 0 wait(%i, %j) signal(c2l, c2l)
  %n = vta.nop load wait(%m, %k) signal(l2c)
  vta.load %b[0] to acc[8] size [1, 1]
  vta.load_acc8 %x[0] to acc[9] size [1, 4]
  vta.load_uops [(0, 8, 0)] to uop[2]
  vta.alu add uops [(0, 8, 0)] loops [(4, 1, 1, 0)] at 2
  vta.load_uops [(0, 0, 0), (0, 1, 1)] to uop[7]
  %s = vta.alu shr imm 8 uops [(0, 0, 0)] loops [(4, 1, 1, 0)] at 7 signal(c2s)
  %t = vta.store out[0] to %y[0] size [1, 4] wait(%s) signal(s2c)
  vta.finish wait(%t, %n)
}

// CHECK:      vta.stream @tiles #vta.config<1x16_i8w8a32_15_15_18_17> attributes {a = 1 : i64} {
// CHECK-NEXT:   %x = vta.buffer "x" : !vta.dram<act, 1024>
// CHECK-NEXT:   %y = vta.buffer "y" : !vta.dram<act, 256>
// CHECK-NEXT:   %w = vta.constant "w_0123456789abcdef" : !vta.dram<wgt, 9>
// CHECK-NEXT:   %b = vta.constant "b_0123456789abcdef" : !vta.dram<acc, 1>
// CHECK-NEXT:   %uops = vta.uop_table [(0, 0, 0), (0, 1, 1), (0, 8, 0)]
// CHECK-NEXT:   vta.insn.load %x[128] to inp[0] size [2, 4] stride 56 pads [1, 0, 1, 1] push_next
// CHECK-NEXT:   vta.insn.load %w[0] to wgt[0] size [1, 9] stride 9 push_next
// CHECK-NEXT:   vta.insn.load %uops[0] to uop[0] size [1, 2] stride 2
// CHECK-NEXT:   vta.insn.gemm reset uops [0, 1] iterations [1, 4] dst [0, 1]
// CHECK-NEXT:   vta.insn.load dram[0] to uop[0] size [0, 0] stride 0 pop_prev
// CHECK-NEXT:   vta.insn.gemm uops [0, 2] iterations [4, 2] dst [1, 0] src [1, 6] wgt [0, 3] pop_prev push_prev
// CHECK-NEXT:   vta.insn.load dram[0] to uop[0] size [0, 0] stride 0 push_prev
// CHECK-NEXT:   vta.insn.load dram[0] to inp[0] size [0, 0] stride 0 pop_next
// CHECK-NEXT:   vta.insn.load dram[0] to inp[0] size [0, 0] stride 0 pop_next push_next
// CHECK-NEXT:   vta.insn.load %b[0] to acc[8] size [1, 1] stride 1
// CHECK-NEXT:   vta.insn.load %x[0] to acc8[9] size [1, 4] stride 4
// CHECK-NEXT:   vta.insn.load %uops[2] to uop[2] size [1, 1] stride 1
// CHECK-NEXT:   vta.insn.alu add uops [2, 3] iterations [1, 4] dst [0, 1] src [0, 1]
// CHECK-NEXT:   vta.insn.load %uops[0] to uop[7] size [1, 2] stride 2
// CHECK-NEXT:   vta.insn.alu shr imm 8 uops [7, 8] iterations [1, 4] dst [0, 1] src [0, 1] push_next
// CHECK-NEXT:   vta.insn.store out[0] to %y[0] size [1, 4] stride 4 pop_prev push_prev
// CHECK-NEXT:   vta.insn.load dram[0] to uop[0] size [0, 0] stride 0 pop_prev pop_next
// CHECK-NEXT:   vta.insn.finish
// CHECK-NEXT: }

// -----

// Without micro-ops there is no table.

vta.program @nothing #vta.config<1x16_i8w8a32_15_15_18_17> {
  vta.finish
}

// CHECK:      vta.stream @nothing #vta.config<1x16_i8w8a32_15_15_18_17> {
// CHECK-NEXT:   vta.insn.finish
// CHECK-NEXT: }
