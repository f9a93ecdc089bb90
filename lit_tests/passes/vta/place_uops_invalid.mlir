// RUN: clopt %s --verify-diagnostics -p vta-place-uops

// expected-error @unknown {{The program @p places only some of its micro-ops}}

vta.program @p #vta.config<1x16_i8w8a32_15_15_18_17> {
  vta.load_uops [(0, 0, 0)] to uop[7]
  vta.gemm reset uops [(0, 0, 0)] at 7
  vta.gemm reset uops [(1, 0, 0)]
  vta.finish
}
