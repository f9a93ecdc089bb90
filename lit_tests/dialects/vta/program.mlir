// RUN: clopt %s | clopt | filecheck %s
// RUN: clopt %s --print-op-generic | clopt | filecheck %s

vta.program @tiles #vta.config<1x16_i8w8a32_15_15_18_17> write_to_read 1 attributes {a = 1 : i64} {
  %x = vta.buffer "x" : !vta.dram<act, 1024>
  %y = vta.buffer "y" : !vta.dram<act, 256>
  %w = vta.constant "w_0123456789abcdef" : !vta.dram<wgt, 9>
  %b = vta.constant "b_0123456789abcdef" : !vta.dram<acc, 1>
  %i = vta.load %x[128] to inp[0] size [2, 4] stride 56 pads [1, 0, 1, 1] signal(l2c)
  %j = vta.load %w[0] to wgt[0] size [1, 9] signal(l2c)
  vta.load_uops [(0, 0, 0), (0, 1, 1)] to uop[0]
  vta.gemm reset uops [(0, 0, 0)] loops [(4, 1, 0, 0)]
  %m, %k = vta.gemm uops [(0, 0, 0), (0, 1, 1)] loops [(4, 1, 1, 0), (2, 0, 6, 3)] at 0 wait(%i, %j) signal(c2l, c2l)
  %n = vta.nop load wait(%m, %k) signal(l2c)
  vta.load %b[0] to acc[8] size [1, 1]
  vta.load_acc8 %x[0] to acc[9] size [1, 4]
  vta.alu add uops [(0, 8, 0)] loops [(4, 1, 1, 0)]
  %s = vta.alu shr imm -8 uops [(0, 0, 0)] loops [(4, 1, 1, 0)] signal(c2s) {b = 1 : i64}
  %t = vta.store out[0] to %y[0] size [1, 4] wait(%s) signal(s2c)
  vta.finish wait(%t, %n)
}

// CHECK:      vta.program @tiles #vta.config<1x16_i8w8a32_15_15_18_17> write_to_read 1 attributes {a = 1 : i64} {
// CHECK-NEXT:   %x = vta.buffer "x" : !vta.dram<act, 1024>
// CHECK-NEXT:   %y = vta.buffer "y" : !vta.dram<act, 256>
// CHECK-NEXT:   %w = vta.constant "w_0123456789abcdef" : !vta.dram<wgt, 9>
// CHECK-NEXT:   %b = vta.constant "b_0123456789abcdef" : !vta.dram<acc, 1>
// CHECK-NEXT:   %i = vta.load %x[128] to inp[0] size [2, 4] stride 56 pads [1, 0, 1, 1] signal(l2c)
// CHECK-NEXT:   %j = vta.load %w[0] to wgt[0] size [1, 9] signal(l2c)
// CHECK-NEXT:   vta.load_uops [(0, 0, 0), (0, 1, 1)] to uop[0]
// CHECK-NEXT:   vta.gemm reset uops [(0, 0, 0)] loops [(4, 1, 0, 0)]
// CHECK-NEXT:   %m, %k = vta.gemm uops [(0, 0, 0), (0, 1, 1)] loops [(4, 1, 1, 0), (2, 0, 6, 3)] at 0 wait(%i, %j) signal(c2l, c2l)
// CHECK-NEXT:   %n = vta.nop load wait(%m, %k) signal(l2c)
// CHECK-NEXT:   vta.load %b[0] to acc[8] size [1, 1]
// CHECK-NEXT:   vta.load_acc8 %x[0] to acc[9] size [1, 4]
// CHECK-NEXT:   vta.alu add uops [(0, 8, 0)] loops [(4, 1, 1, 0)]
// CHECK-NEXT:   %s = vta.alu shr imm -8 uops [(0, 0, 0)] loops [(4, 1, 1, 0)] signal(c2s) {b = 1 : i64}
// CHECK-NEXT:   %t = vta.store out[0] to %y[0] size [1, 4] wait(%s) signal(s2c)
// CHECK-NEXT:   vta.finish wait(%t, %n)
// CHECK-NEXT: }
