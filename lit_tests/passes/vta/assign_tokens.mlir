// RUN: clopt %s -p vta-assign-tokens | filecheck %s
// RUN: clopt %s -p vta-assign-tokens | clopt -p verify | filecheck %s

// The load of the second layer waits for the store of the first, which no stage beside it knows: a
// vta.nop passes the token on. What is loaded behind it needs no token of its own, nor does the
// first multiplication wait for both of its loads.
// CHECK-LABEL: vta.program @chain
// CHECK:         vta.load %x[0] to inp[0] size [1, 4]
// CHECK-NEXT:    [[loaded:%.*]] = vta.load %w[0] to wgt[0] size [1, 1] signal(l2c)
// CHECK-NEXT:    vta.gemm reset
// CHECK-NEXT:    [[m:%.*]] = vta.gemm uops [(0, 0, 0)] loops [(4, 1, 1, 0)] wait([[loaded]]) signal(c2s)
// CHECK-NEXT:    [[s:%.*]] = vta.store out[0] to %y[0] size [1, 4] wait([[m]]) signal(s2c)
// CHECK-NEXT:    [[n:%.*]] = vta.nop compute wait([[s]]) signal(c2l)
// CHECK-NEXT:    vta.load %y[0] to inp[0] size [1, 4] wait([[n]])
// CHECK-NEXT:    [[again:%.*]] = vta.load %w[0] to wgt[0] size [1, 1] signal(l2c)
// CHECK-NEXT:    [[k:%.*]] = vta.gemm uops [(0, 0, 0)] loops [(4, 1, 1, 0)] wait([[again]]) signal(c2s)
// CHECK-NEXT:    [[t:%.*]] = vta.store out[0] to %x[0] size [1, 4] wait([[k]]) signal(s2c)
// CHECK-NEXT:    vta.finish wait([[t]])
vta.program @chain #vta.config<1x16_i8w8a32_15_15_18_17> {
  %x = vta.buffer "x" : !vta.dram<act, 4>
  %y = vta.buffer "y" : !vta.dram<act, 4>
  %w = vta.constant "w_0123456789abcdef" : !vta.dram<wgt, 1>
  vta.load %x[0] to inp[0] size [1, 4]
  vta.load %w[0] to wgt[0] size [1, 1]
  vta.gemm reset uops [(0, 0, 0)] loops [(4, 1, 0, 0)]
  vta.gemm uops [(0, 0, 0)] loops [(4, 1, 1, 0)]
  vta.store out[0] to %y[0] size [1, 4]
  vta.load %y[0] to inp[0] size [1, 4]
  vta.load %w[0] to wgt[0] size [1, 1]
  vta.gemm uops [(0, 0, 0)] loops [(4, 1, 1, 0)]
  vta.store out[0] to %x[0] size [1, 4]
  vta.finish
}

// Other elements need no tokens: the second tile is loaded while the first is multiplied.
// CHECK-LABEL: vta.program @apart
// CHECK:         vta.load %w[0] to wgt[0] size [1, 1]
// CHECK-NEXT:    [[a:%.*]] = vta.load %x[0] to inp[0] size [1, 4] signal(l2c)
// CHECK-NEXT:    vta.gemm reset
// CHECK-NEXT:    vta.gemm uops [(0, 0, 0)] loops [(4, 1, 1, 0)] wait([[a]])
// CHECK-NEXT:    [[b:%.*]] = vta.load %x[4] to inp[4] size [1, 4] signal(l2c)
// CHECK-NEXT:    [[m:%.*]] = vta.gemm uops [(0, 4, 0)] loops [(4, 1, 1, 0)] wait([[b]]) signal(c2s)
// CHECK-NEXT:    [[s:%.*]] = vta.store out[0] to %y[0] size [1, 4] wait([[m]]) signal(s2c)
// CHECK-NEXT:    vta.finish wait([[s]])
vta.program @apart #vta.config<1x16_i8w8a32_15_15_18_17> {
  %x = vta.buffer "x" : !vta.dram<act, 8>
  %y = vta.buffer "y" : !vta.dram<act, 4>
  %w = vta.constant "w_0123456789abcdef" : !vta.dram<wgt, 1>
  vta.load %w[0] to wgt[0] size [1, 1]
  vta.load %x[0] to inp[0] size [1, 4]
  vta.gemm reset uops [(0, 0, 0)] loops [(4, 1, 0, 0)]
  vta.gemm uops [(0, 0, 0)] loops [(4, 1, 1, 0)]
  vta.load %x[4] to inp[4] size [1, 4]
  vta.gemm uops [(0, 4, 0)] loops [(4, 1, 1, 0)]
  vta.store out[0] to %y[0] size [1, 4]
  vta.finish
}
