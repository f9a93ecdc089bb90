// RUN: clopt %s --split-input-file -p vta-place-uops | filecheck %s

// All micro-ops fit: equal lists share a place, and one load brings them.

vta.program @fits #vta.config<1x16_i8w8a32_15_15_18_17> {
  vta.gemm reset uops [(0, 0, 0)] loops [(4, 1, 0, 0)]
  vta.gemm reset uops [(4, 0, 0), (5, 0, 0)]
  vta.alu max imm 0 uops [(0, 0, 0)] loops [(4, 1, 1, 0)]
  vta.finish
}

// CHECK:      vta.program @fits #vta.config<1x16_i8w8a32_15_15_18_17> {
// CHECK-NEXT:   vta.load_uops [(0, 0, 0), (4, 0, 0), (5, 0, 0)] to uop[0]
// CHECK-NEXT:   vta.gemm reset uops [(0, 0, 0)] loops [(4, 1, 0, 0)] at 0
// CHECK-NEXT:   vta.gemm reset uops [(4, 0, 0), (5, 0, 0)] at 1
// CHECK-NEXT:   vta.alu max imm 0 uops [(0, 0, 0)] loops [(4, 1, 1, 0)] at 0
// CHECK-NEXT:   vta.finish
// CHECK-NEXT: }

// -----

// The scratchpad has room for four: the third list takes the place of the first, which is loaded
// again behind the list that is still there.

vta.program @ring #vta.config<1x16_i8w8a32_4_15_18_17> {
  vta.gemm reset uops [(0, 0, 0), (1, 0, 0)]
  vta.gemm reset uops [(2, 0, 0)]
  vta.gemm reset uops [(3, 0, 0), (4, 0, 0)]
  vta.gemm reset uops [(2, 0, 0)]
  vta.gemm reset uops [(0, 0, 0), (1, 0, 0)]
  vta.gemm reset uops [(3, 0, 0), (4, 0, 0)]
  vta.finish
}

// CHECK:      vta.program @ring #vta.config<1x16_i8w8a32_4_15_18_17> {
// CHECK-NEXT:   vta.load_uops [(0, 0, 0), (1, 0, 0)] to uop[0]
// CHECK-NEXT:   vta.gemm reset uops [(0, 0, 0), (1, 0, 0)] at 0
// CHECK-NEXT:   vta.load_uops [(2, 0, 0)] to uop[2]
// CHECK-NEXT:   vta.gemm reset uops [(2, 0, 0)] at 2
// CHECK-NEXT:   vta.load_uops [(3, 0, 0), (4, 0, 0)] to uop[0]
// CHECK-NEXT:   vta.gemm reset uops [(3, 0, 0), (4, 0, 0)] at 0
// CHECK-NEXT:   vta.gemm reset uops [(2, 0, 0)] at 2
// CHECK-NEXT:   vta.load_uops [(0, 0, 0), (1, 0, 0)] to uop[2]
// CHECK-NEXT:   vta.gemm reset uops [(0, 0, 0), (1, 0, 0)] at 2
// CHECK-NEXT:   vta.gemm reset uops [(3, 0, 0), (4, 0, 0)] at 0
// CHECK-NEXT:   vta.finish
// CHECK-NEXT: }

// -----

// A program with places stays as it is.

vta.program @placed #vta.config<1x16_i8w8a32_15_15_18_17> {
  vta.load_uops [(0, 0, 0)] to uop[7]
  vta.gemm reset uops [(0, 0, 0)] at 7
  vta.finish
}

// CHECK:      vta.program @placed #vta.config<1x16_i8w8a32_15_15_18_17> {
// CHECK-NEXT:   vta.load_uops [(0, 0, 0)] to uop[7]
// CHECK-NEXT:   vta.gemm reset uops [(0, 0, 0)] at 7
// CHECK-NEXT:   vta.finish
// CHECK-NEXT: }
