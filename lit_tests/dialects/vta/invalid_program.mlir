// RUN: clopt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{operation 0 (vta.load_acc8) reaches element 2048 of ACC_8BIT, which has 2048}}
vta.program @p #vta.config<1x16_i8w8a32_15_15_18_17> {
  %x = vta.buffer "x" : !vta.dram<act, 64>
  %y = vta.buffer "y" : !vta.dram<act, 64>
  %w = vta.constant "w" : !vta.dram<wgt, 4>
  vta.load_acc8 %x[0] to acc[2041] size [1, 8]
  vta.finish
}

// -----

// expected-error @+1 {{operation 0 (vta.load) reaches element 64 of "x", which has 64}}
vta.program @p #vta.config<1x16_i8w8a32_15_15_18_17> {
  %x = vta.buffer "x" : !vta.dram<act, 64>
  %y = vta.buffer "y" : !vta.dram<act, 64>
  %w = vta.constant "w" : !vta.dram<wgt, 4>
  %a = vta.load %x[57] to inp[0] size [1, 8] signal(l2c)
  vta.finish wait(%a)
}

// -----

// expected-error @+1 {{operation 0 (vta.load) reaches element 71 of "x", which has 64}}
vta.program @p #vta.config<1x16_i8w8a32_15_15_18_17> {
  %x = vta.buffer "x" : !vta.dram<act, 64>
  %y = vta.buffer "y" : !vta.dram<act, 64>
  %w = vta.constant "w" : !vta.dram<wgt, 4>
  %a = vta.load %x[0] to inp[0] size [2, 8] stride 64 signal(l2c)
  vta.finish wait(%a)
}

// -----

// expected-error @+1 {{operation 0 (vta.gemm) reaches element 2054 of ACC, which has 2048}}
vta.program @p #vta.config<1x16_i8w8a32_15_15_18_17> {
  %x = vta.buffer "x" : !vta.dram<act, 64>
  %y = vta.buffer "y" : !vta.dram<act, 64>
  %w = vta.constant "w" : !vta.dram<wgt, 4>
  vta.gemm reset uops [(2040, 0, 0)] loops [(8, 2, 0, 0)]
  vta.finish
}

// -----

// expected-error @+1 {{The field iter_in of instruction 0 (GEMM) is 16384}}
vta.program @p #vta.config<1x16_i8w8a32_15_15_18_17> {
  %x = vta.buffer "x" : !vta.dram<act, 64>
  %y = vta.buffer "y" : !vta.dram<act, 64>
  %w = vta.constant "w" : !vta.dram<wgt, 4>
  vta.gemm reset uops [(0, 0, 0)] loops [(16384, 0, 0, 0)]
  vta.finish
}

// -----

// expected-error @+1 {{The field dst of micro-op 0 is 2048}}
vta.program @p #vta.config<1x16_i8w8a32_15_15_18_17> {
  %x = vta.buffer "x" : !vta.dram<act, 64>
  %y = vta.buffer "y" : !vta.dram<act, 64>
  %w = vta.constant "w" : !vta.dram<wgt, 4>
  vta.gemm reset uops [(2048, 0, 0)]
  vta.finish
}

// -----

// expected-error @+1 {{operation 0 (vta.gemm) runs micro-op 4, but UOP has 4}}
vta.program @p #vta.config<1x16_i8w8a32_4_15_18_17> {
  %x = vta.buffer "x" : !vta.dram<act, 64>
  %y = vta.buffer "y" : !vta.dram<act, 64>
  %w = vta.constant "w" : !vta.dram<wgt, 4>
  vta.gemm reset uops [(0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, 0), (4, 0, 0)]
  vta.finish
}

// -----

// expected-error @+1 {{operation 1 (vta.gemm) runs micro-ops that were not loaded to 1}}
vta.program @p #vta.config<1x16_i8w8a32_15_15_18_17> {
  %x = vta.buffer "x" : !vta.dram<act, 64>
  %y = vta.buffer "y" : !vta.dram<act, 64>
  %w = vta.constant "w" : !vta.dram<wgt, 4>
  vta.load_uops [(0, 0, 0), (1, 0, 0)] to uop[0]
  vta.gemm reset uops [(0, 0, 0)] at 1
  vta.finish
}

// -----

// expected-error @+1 {{operation 0 (vta.load_acc8) pads rows without elements}}
vta.program @p #vta.config<1x16_i8w8a32_15_15_18_17> {
  %x = vta.buffer "x" : !vta.dram<act, 64>
  %y = vta.buffer "y" : !vta.dram<act, 64>
  %w = vta.constant "w" : !vta.dram<wgt, 4>
  vta.load_acc8 %x[0] to acc[0] size [1, 0] pads [1, 0, 0, 0]
  vta.finish
}

// -----

// expected-error @+1 {{operation 0 (vta.load_acc8) moves no rows}}
vta.program @p #vta.config<1x16_i8w8a32_15_15_18_17> {
  %x = vta.buffer "x" : !vta.dram<act, 64>
  %y = vta.buffer "y" : !vta.dram<act, 64>
  %w = vta.constant "w" : !vta.dram<wgt, 4>
  vta.load_acc8 %x[0] to acc[0] size [0, 8]
  vta.finish
}

// -----

// expected-error @+1 {{operation 1 (vta.alu) shifts by 16, but the amounts are -16 to 15}}
vta.program @p #vta.config<1x16_i8w8a32_15_15_18_17> {
  %x = vta.buffer "x" : !vta.dram<act, 64>
  %y = vta.buffer "y" : !vta.dram<act, 64>
  %w = vta.constant "w" : !vta.dram<wgt, 4>
  vta.load_acc8 %x[0] to acc[0] size [1, 8]
  vta.alu shr imm 16 uops [(0, 0, 0)]
  vta.finish
}

// -----

// expected-error @+1 {{operation 1 (vta.alu) reads a tile 2 micro-ops behind the one that writes it, but the core needs 3}}
vta.program @p #vta.config<1x16_i8w8a32_15_15_18_17> write_to_read 3 {
  %x = vta.buffer "x" : !vta.dram<act, 64>
  %y = vta.buffer "y" : !vta.dram<act, 64>
  %w = vta.constant "w" : !vta.dram<wgt, 4>
  vta.load_acc8 %x[0] to acc[0] size [1, 8]
  vta.alu add imm 1 uops [(0, 0, 0), (1, 0, 0), (0, 0, 0)]
  vta.finish
}

// -----

// The loop wraps: the last micro-op of a turn writes what the first of the next one reads.

// expected-error @+1 {{operation 1 (vta.alu) reads a tile 1 micro-ops behind the one that writes it, but the core needs 2}}
vta.program @p #vta.config<1x16_i8w8a32_15_15_18_17> write_to_read 2 {
  %x = vta.buffer "x" : !vta.dram<act, 64>
  %y = vta.buffer "y" : !vta.dram<act, 64>
  %w = vta.constant "w" : !vta.dram<wgt, 4>
  vta.load_acc8 %x[0] to acc[0] size [1, 8]
  vta.alu add imm 1 uops [(0, 0, 0), (1, 0, 0)] loops [(3, 1, 0, 0)]
  vta.finish
}

// -----

// expected-error @+1 {{operation 0 (vta.load) sends a token that no operation takes}}
vta.program @p #vta.config<1x16_i8w8a32_15_15_18_17> {
  %x = vta.buffer "x" : !vta.dram<act, 64>
  %y = vta.buffer "y" : !vta.dram<act, 64>
  %w = vta.constant "w" : !vta.dram<wgt, 4>
  %a = vta.load %x[0] to inp[0] size [1, 8] signal(l2c)
  vta.finish
}

// -----

// expected-error @+1 {{operation 0 (vta.load) sends a token that 2 take}}
vta.program @p #vta.config<1x16_i8w8a32_15_15_18_17> {
  %x = vta.buffer "x" : !vta.dram<act, 64>
  %y = vta.buffer "y" : !vta.dram<act, 64>
  %w = vta.constant "w" : !vta.dram<wgt, 4>
  %a = vta.load %x[0] to inp[0] size [1, 8] signal(l2c)
  vta.gemm reset uops [(0, 0, 0)] wait(%a)
  vta.finish wait(%a)
}

// -----

// expected-error @+1 {{operation 0 (vta.load) sends a token of c2s, a queue from another stage}}
vta.program @p #vta.config<1x16_i8w8a32_15_15_18_17> {
  %x = vta.buffer "x" : !vta.dram<act, 64>
  %y = vta.buffer "y" : !vta.dram<act, 64>
  %w = vta.constant "w" : !vta.dram<wgt, 4>
  %a = vta.load %x[0] to inp[0] size [1, 8] signal(c2s)
  vta.finish wait(%a)
}

// -----

// expected-error @+1 {{operation 1 (vta.store) takes a token of l2c, a queue to another stage}}
vta.program @p #vta.config<1x16_i8w8a32_15_15_18_17> {
  %x = vta.buffer "x" : !vta.dram<act, 64>
  %y = vta.buffer "y" : !vta.dram<act, 64>
  %w = vta.constant "w" : !vta.dram<wgt, 4>
  %a = vta.load %x[0] to inp[0] size [1, 8] signal(l2c)
  %b = vta.store out[0] to %y[0] size [1, 8] wait(%a) signal(s2c)
  vta.finish wait(%b)
}

// -----

// expected-error @+1 {{operation 2 (vta.gemm) takes another token of l2c than the one that was sent first}}
vta.program @p #vta.config<1x16_i8w8a32_15_15_18_17> {
  %x = vta.buffer "x" : !vta.dram<act, 64>
  %y = vta.buffer "y" : !vta.dram<act, 64>
  %w = vta.constant "w" : !vta.dram<wgt, 4>
  %a = vta.load %x[0] to inp[0] size [1, 8] signal(l2c)
  %b = vta.load %w[0] to wgt[0] size [1, 4] signal(l2c)
  vta.gemm reset uops [(0, 0, 0)] wait(%b)
  vta.finish wait(%a)
}

// -----

// expected-error @+1 {{operation 2 (vta.finish) does not wait for the last step of the stage load}}
vta.program @p #vta.config<1x16_i8w8a32_15_15_18_17> {
  %x = vta.buffer "x" : !vta.dram<act, 64>
  %y = vta.buffer "y" : !vta.dram<act, 64>
  %w = vta.constant "w" : !vta.dram<wgt, 4>
  %a = vta.load %x[0] to inp[0] size [1, 8] signal(l2c)
  vta.load %w[0] to wgt[0] size [1, 4]
  vta.finish wait(%a)
}

// -----

// A product that does not wait for its weights.

// expected-error @+1 {{operation 3 (vta.gemm) reads element 0 of wgt, which operation 1 writes in another stage, and no tokens order them}}
vta.program @p #vta.config<1x16_i8w8a32_15_15_18_17> {
  %x = vta.buffer "x" : !vta.dram<act, 64>
  %y = vta.buffer "y" : !vta.dram<act, 64>
  %w = vta.constant "w" : !vta.dram<wgt, 4>
  %a = vta.load %x[0] to inp[0] size [1, 8] signal(l2c)
  %b = vta.load %w[0] to wgt[0] size [1, 4] signal(l2c)
  vta.gemm reset uops [(0, 0, 0)] loops [(8, 1, 0, 0)]
  vta.gemm uops [(0, 0, 0)] loops [(8, 1, 1, 0)] wait(%a)
  vta.finish wait(%b)
}

// -----

// A load over inputs that a product may still read.

// expected-error @+1 {{operation 4 (vta.load) writes element 7 of inp, which operation 3 reads in another stage}}
vta.program @p #vta.config<1x16_i8w8a32_15_15_18_17> {
  %x = vta.buffer "x" : !vta.dram<act, 64>
  %y = vta.buffer "y" : !vta.dram<act, 64>
  %w = vta.constant "w" : !vta.dram<wgt, 4>
  %a = vta.load %x[0] to inp[0] size [1, 8] signal(l2c)
  %b = vta.load %w[0] to wgt[0] size [1, 4] signal(l2c)
  vta.gemm reset uops [(0, 0, 0)] loops [(8, 1, 0, 0)]
  vta.gemm uops [(0, 0, 0)] loops [(8, 1, 1, 0)] wait(%a, %b)
  %c = vta.load %x[8] to inp[7] size [1, 8] signal(l2c)
  vta.finish wait(%c)
}

// -----

// Results that change while they may still be stored.

// expected-error @+1 {{operation 3 (vta.alu) writes element 7 of out, which operation 2 reads in another stage}}
vta.program @p #vta.config<1x16_i8w8a32_15_15_18_17> {
  %x = vta.buffer "x" : !vta.dram<act, 64>
  %y = vta.buffer "y" : !vta.dram<act, 64>
  %w = vta.constant "w" : !vta.dram<wgt, 4>
  vta.load_acc8 %x[0] to acc[0] size [1, 8]
  %a = vta.alu max imm 0 uops [(0, 0, 0)] loops [(8, 1, 0, 0)] signal(c2s)
  %b = vta.store out[0] to %y[0] size [1, 8] wait(%a) signal(s2c)
  vta.alu max imm 1 uops [(7, 0, 0)]
  vta.finish wait(%b)
}

// -----

// A load of activations that a store may still be writing.

// expected-error @+1 {{operation 3 (vta.load_acc8) reads element 8 of "y", which operation 2 writes in another stage}}
vta.program @p #vta.config<1x16_i8w8a32_15_15_18_17> {
  %x = vta.buffer "x" : !vta.dram<act, 64>
  %y = vta.buffer "y" : !vta.dram<act, 64>
  %w = vta.constant "w" : !vta.dram<wgt, 4>
  vta.load_acc8 %x[0] to acc[0] size [1, 8]
  %a = vta.alu max imm 0 uops [(0, 0, 0)] loops [(8, 1, 0, 0)] signal(c2s)
  %b = vta.store out[0] to %y[2] size [2, 3] stride 6 wait(%a) signal(s2c)
  vta.load_acc8 %y[5] to acc[16] size [1, 4]
  vta.finish wait(%b)
}

// -----

// expected-error @+1 {{operation 1 (vta.gemm) reads element 4 of inp, which was never written}}
vta.program @p #vta.config<1x16_i8w8a32_15_15_18_17> {
  %x = vta.buffer "x" : !vta.dram<act, 64>
  %y = vta.buffer "y" : !vta.dram<act, 64>
  %w = vta.constant "w" : !vta.dram<wgt, 4>
  %a = vta.load %x[0] to inp[0] size [1, 4] signal(l2c)
  vta.gemm uops [(0, 0, 0)] loops [(5, 1, 1, 0)] wait(%a)
  vta.finish
}

// -----

// expected-error @+1 {{operation 0 (vta.alu) reads element 3 of acc, which was never written}}
vta.program @p #vta.config<1x16_i8w8a32_15_15_18_17> {
  %x = vta.buffer "x" : !vta.dram<act, 64>
  %y = vta.buffer "y" : !vta.dram<act, 64>
  %w = vta.constant "w" : !vta.dram<wgt, 4>
  vta.alu max imm 0 uops [(3, 0, 0)]
  vta.finish
}

// -----

// expected-error @+1 {{operation 1 (vta.alu) reads element 9 of acc, which was never written}}
vta.program @p #vta.config<1x16_i8w8a32_15_15_18_17> {
  %x = vta.buffer "x" : !vta.dram<act, 64>
  %y = vta.buffer "y" : !vta.dram<act, 64>
  %w = vta.constant "w" : !vta.dram<wgt, 4>
  vta.load_acc8 %x[0] to acc[0] size [1, 8]
  vta.alu add uops [(0, 9, 0)]
  vta.finish
}

// -----

// expected-error @+1 {{operation 1 (vta.store) stores element 0 of out, which was loaded into acc, which does not change out}}
vta.program @p #vta.config<1x16_i8w8a32_15_15_18_17> {
  %x = vta.buffer "x" : !vta.dram<act, 64>
  %y = vta.buffer "y" : !vta.dram<act, 64>
  %w = vta.constant "w" : !vta.dram<wgt, 4>
  %a = vta.load_acc8 %x[0] to acc[0] size [1, 8] signal(c2s)
  %b = vta.store out[0] to %y[0] size [1, 8] wait(%a) signal(s2c)
  vta.finish wait(%b)
}

// -----

// expected-error @+1 {{operation 1 (vta.store) stores element 0 of out, which was last written by a reset}}
vta.program @p #vta.config<1x16_i8w8a32_15_15_18_17> {
  %x = vta.buffer "x" : !vta.dram<act, 64>
  %y = vta.buffer "y" : !vta.dram<act, 64>
  %w = vta.constant "w" : !vta.dram<wgt, 4>
  %a = vta.gemm reset uops [(0, 0, 0)] signal(c2s)
  %b = vta.store out[0] to %y[0] size [1, 1] wait(%a) signal(s2c)
  vta.finish wait(%b)
}

// -----

// expected-error @+1 {{operation 2 (vta.store) stores element 1 of out, which was never written}}
vta.program @p #vta.config<1x16_i8w8a32_15_15_18_17> {
  %x = vta.buffer "x" : !vta.dram<act, 64>
  %y = vta.buffer "y" : !vta.dram<act, 64>
  %w = vta.constant "w" : !vta.dram<wgt, 4>
  vta.load_acc8 %x[0] to acc[0] size [1, 1]
  %a = vta.alu max imm 0 uops [(0, 0, 0)] signal(c2s)
  %b = vta.store out[0] to %y[0] size [1, 2] wait(%a) signal(s2c)
  vta.finish wait(%b)
}
