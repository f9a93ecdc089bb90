// RUN: clopt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{a stream must end with vta.insn.finish}}
vta.stream @s #vta.config<1x16_i8w8a32_15_15_18_17> {
  vta.finish
}

// -----

// expected-error @+1 {{vta.nop is not an operation of a VTA stream}}
vta.stream @s #vta.config<1x16_i8w8a32_15_15_18_17> {
  vta.nop load
  vta.insn.finish
}

// -----

// expected-error @+1 {{a stream must have one table of micro-ops, not 2}}
vta.stream @s #vta.config<1x16_i8w8a32_15_15_18_17> {
  %u = vta.uop_table [(0, 0, 0)]
  %v = vta.uop_table [(0, 0, 0)]
  vta.insn.finish
}

// -----

// expected-error @+1 {{two buffers or constants have the key "x"}}
vta.stream @s #vta.config<1x16_i8w8a32_15_15_18_17> {
  %x = vta.buffer "x" : !vta.dram<act, 4>
  %y = vta.buffer "x" : !vta.dram<act, 4>
  vta.insn.finish
}

// -----

// expected-error @+1 {{a table must have at least one micro-op}}
%u = vta.uop_table []

// -----

// expected-error @+1 {{a table of 1 micro-ops cannot have the type !vta.dram<uop, 2>}}
%u = "vta.uop_table"() <{uops = #vta.uops<[(0, 0, 0)]>}> : () -> !vta.dram<uop, 2>

// -----

// expected-error @+2 {{wgt cannot be loaded from or stored to a buffer of act}}
%x = vta.buffer "x" : !vta.dram<act, 4>
vta.insn.load %x[0] to wgt[0] size [1, 1] stride 1

// -----

// expected-error @+2 {{vta.insn.gemm must not have a buffer in DRAM}}
%x = vta.buffer "x" : !vta.dram<act, 4>
"vta.insn.gemm"(%x) : (!vta.dram<act, 4>) -> ()

// -----

// expected-error @+1 {{expected 2 numbers}}
vta.insn.load dram[0] to wgt[0] size [1] stride 1
