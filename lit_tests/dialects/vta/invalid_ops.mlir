// RUN: clopt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{VTA requires int8 inputs and weights and int32 sums, not widths of 4, 8, 32 bits}}
vta.program @p #vta.config<1x16_i4w8a32_15_15_18_17> {
  vta.finish
}

// -----

// expected-error @+1 {{of ALU would take 68 bits}}
vta.program @p #vta.config<1x16_i8w8a32_15_15_16_18> {
  vta.finish
}

// -----

// expected-error @+1 {{a program must end with vta.finish}}
vta.program @p #vta.config<1x16_i8w8a32_15_15_18_17> {
  clml.return
}

// -----

// expected-error @+1 {{arith.constant is not an operation of a VTA program}}
vta.program @p #vta.config<1x16_i8w8a32_15_15_18_17> {
  %c = arith.constant 0 : i32
  vta.finish
}

// -----

// expected-error @+1 {{two buffers or constants have the key "x"}}
vta.program @p #vta.config<1x16_i8w8a32_15_15_18_17> {
  %x = vta.buffer "x" : !vta.dram<act, 4>
  %y = vta.constant "x" : !vta.dram<wgt, 4>
  vta.finish
}

// -----

// expected-error @+1 {{a buffer must have at least one element, not 0}}
%x = vta.buffer "x" : !vta.dram<act, 0>

// -----

// expected-error @+1 {{micro-ops must be part of the program, not of a buffer}}
%x = vta.buffer "x" : !vta.dram<uop, 4>

// -----

// expected-error @+1 {{a constant must be of kind wgt or acc, not act}}
%x = vta.constant "x" : !vta.dram<act, 4>

// -----

// expected-error @+2 {{vta.load requires a buffer of act, not !vta.dram<wgt, 4>}}
%w = vta.constant "w" : !vta.dram<wgt, 4>
vta.load %w[0] to inp[0] size [1, 4]

// -----

// expected-error @+2 {{the scratchpad must be inp or wgt or acc, not out}}
%x = vta.buffer "x" : !vta.dram<act, 4>
vta.load %x[0] to out[0] size [1, 4]

// -----

// expected-error @+2 {{the scratchpad must be acc, not inp}}
%x = vta.buffer "x" : !vta.dram<act, 4>
vta.load_acc8 %x[0] to inp[0] size [1, 4]

// -----

// expected-error @+2 {{VTA can pad inputs and sums, not wgt}}
%w = vta.constant "w" : !vta.dram<wgt, 4>
vta.load %w[0] to wgt[0] size [1, 4] pads [0, 0, 0, 1]

// -----

// expected-error @+2 {{pads must be four amounts, not 2}}
%x = vta.buffer "x" : !vta.dram<act, 4>
vta.load %x[0] to inp[0] size [1, 4] pads [1, 1]

// -----

// expected-error @+2 {{VTA can pad inputs and sums, not out}}
%x = vta.buffer "x" : !vta.dram<act, 4>
vta.store out[0] to %x[0] size [1, 4] pads [0, 0, 1, 1]

// -----

// expected-error @+2 {{a size must be rows and elements per row}}
%x = vta.buffer "x" : !vta.dram<act, 4>
vta.load %x[0] to inp[0] size [4]

// -----

// expected-error @+1 {{it must have micro-ops to load}}
vta.load_uops [] to uop[0]

// -----

// expected-error @+1 {{it must have micro-ops to run}}
vta.gemm uops []

// -----

// expected-error @+1 {{it must have at most 2 loops, not 3}}
vta.gemm uops [(0, 0, 0)] loops [(2, 0, 0, 0), (2, 0, 0, 0), (2, 0, 0, 0)]

// -----

// expected-error @+1 {{expected 3 numbers}}
vta.gemm uops [(0, 0)]

// -----

// expected-error @+1 {{the ALU has no weights}}
vta.alu add uops [(0, 0, 1)]

// -----

// expected-error @+1 {{the end of a program must not signal tokens}}
vta.finish signal(c2l)

// -----

// expected-error @+1 {{this value must be defined above}}
vta.gemm uops [(0, 0, 0)] wait(%later)
