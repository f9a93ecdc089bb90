// RUN: clopt %s | clopt | filecheck %s
// RUN: clopt %s --print-op-generic | clopt | filecheck %s

vta.stream @instructions #vta.config<1x16_i8w8a32_15_15_18_17> attributes {a = 1 : i64} {
  %x = vta.buffer "x" : !vta.dram<act, 1024>
  %y = vta.buffer "y" : !vta.dram<act, 1024>
  %w = vta.constant "w_0123456789abcdef" : !vta.dram<wgt, 9>
  %u = vta.uop_table [(0, 0, 0), (0, 1, 1)]
  vta.insn.load %u[0] to uop[0] size [1, 2] stride 2
  vta.insn.load dram[2309737967] to inp[291] size [4, 5] stride 16 pads [1, 2, 3, 4] push_next
  vta.insn.load %w[0] to wgt[0] size [1, 9] stride 9 pop_next push_next {b = 1 : i64}
  vta.insn.load %x[2] to acc8[1] size [1, 4] stride 4
  vta.insn.gemm reset uops [0, 1] iterations [4, 16] dst [16, 1]
  vta.insn.gemm uops [0, 2] iterations [14, 7] dst [14, 1] src [16, 1] wgt [0, 9] pop_prev push_prev
  vta.insn.alu shr imm -8 uops [1, 2] iterations [4, 196] dst [196, 1] src [196, 1]
  vta.insn.alu add uops [0, 1] push_next
  vta.insn.alu mul unused_imm 7 reset uops [0, 1]
  vta.insn.store out[7] to %y[256] size [2, 8] stride 32 pop_prev push_prev
  vta.insn.load dram[0] to uop[0] size [0, 0] stride 0 pop_prev pop_next
  vta.insn.finish
}

// CHECK:      vta.stream @instructions #vta.config<1x16_i8w8a32_15_15_18_17> attributes {a = 1 : i64} {
// CHECK-NEXT:   %x = vta.buffer "x" : !vta.dram<act, 1024>
// CHECK-NEXT:   %y = vta.buffer "y" : !vta.dram<act, 1024>
// CHECK-NEXT:   %w = vta.constant "w_0123456789abcdef" : !vta.dram<wgt, 9>
// CHECK-NEXT:   %u = vta.uop_table [(0, 0, 0), (0, 1, 1)]
// CHECK-NEXT:   vta.insn.load %u[0] to uop[0] size [1, 2] stride 2
// CHECK-NEXT:   vta.insn.load dram[2309737967] to inp[291] size [4, 5] stride 16 pads [1, 2, 3, 4] push_next
// CHECK-NEXT:   vta.insn.load %w[0] to wgt[0] size [1, 9] stride 9 pop_next push_next {b = 1 : i64}
// CHECK-NEXT:   vta.insn.load %x[2] to acc8[1] size [1, 4] stride 4
// CHECK-NEXT:   vta.insn.gemm reset uops [0, 1] iterations [4, 16] dst [16, 1]
// CHECK-NEXT:   vta.insn.gemm uops [0, 2] iterations [14, 7] dst [14, 1] src [16, 1] wgt [0, 9] pop_prev push_prev
// CHECK-NEXT:   vta.insn.alu shr imm -8 uops [1, 2] iterations [4, 196] dst [196, 1] src [196, 1]
// CHECK-NEXT:   vta.insn.alu add uops [0, 1] push_next
// CHECK-NEXT:   vta.insn.alu mul unused_imm 7 reset uops [0, 1]
// CHECK-NEXT:   vta.insn.store out[7] to %y[256] size [2, 8] stride 32 pop_prev push_prev
// CHECK-NEXT:   vta.insn.load dram[0] to uop[0] size [0, 0] stride 0 pop_prev pop_next
// CHECK-NEXT:   vta.insn.finish
// CHECK-NEXT: }
