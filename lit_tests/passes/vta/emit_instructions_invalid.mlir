// RUN: clopt %s --split-input-file --verify-diagnostics -p vta-emit-instructions

// expected-error @unknown {{In the program @p, vta.gemm has no address of its micro-ops: run vta-place-uops before}}

vta.program @p #vta.config<1x16_i8w8a32_15_15_18_17> {
  vta.gemm reset uops [(0, 0, 0)]
  vta.finish
}

// -----

// expected-error @unknown {{The program @p has several stages and no tokens: run vta-assign-tokens before}}

vta.program @p #vta.config<1x16_i8w8a32_15_15_18_17> {
  %x = vta.buffer "x" : !vta.dram<act, 64>
  vta.load %x[0] to inp[0] size [1, 8]
  vta.finish
}
