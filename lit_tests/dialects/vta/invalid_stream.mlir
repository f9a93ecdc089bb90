// RUN: clopt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{a stream ends with vta.insn.finish}}
vta.stream @s #vta.config<1x16_i8w8a32_15_15_18_17> {
  vta.finish
}

// -----

// expected-error @+1 {{vta.nop is no operation of a stream of VTA}}
vta.stream @s #vta.config<1x16_i8w8a32_15_15_18_17> {
  vta.nop load
  vta.insn.finish
}

// -----

// expected-error @+1 {{a stream has one table of micro-ops, not 2}}
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

// expected-error @+1 {{a table has at least one micro-op}}
%u = vta.uop_table []

// -----

// expected-error @+1 {{a table of 1 micro-ops is no !vta.dram<uop, 2>}}
%u = "vta.uop_table"() <{uops = #vta.uops<[(0, 0, 0)]>}> : () -> !vta.dram<uop, 2>

// -----

// expected-error @+2 {{wgt is not loaded from or stored into a buffer of act}}
%x = vta.buffer "x" : !vta.dram<act, 4>
vta.insn.load %x[0] to wgt[0] size [1, 1] stride 1

// -----

// expected-error @+2 {{vta.insn.gemm has no buffer in DRAM}}
%x = vta.buffer "x" : !vta.dram<act, 4>
"vta.insn.gemm"(%x) : (!vta.dram<act, 4>) -> ()

// -----

// expected-error @+1 {{2 numbers belong here}}
vta.insn.load dram[0] to wgt[0] size [1] stride 1
