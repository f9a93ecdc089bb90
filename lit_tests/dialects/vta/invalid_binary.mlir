// RUN: clopt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{it has instructions, and as many relocations}}
vta.binary @g(%x: !vta.dram<act, 4>) -> (%y: !vta.dram<act, 4>) #vta.config<1x16_i8w8a32_15_15_18_17> multiply_adds 0 instructions "i"[5] relocations "r"[4]

// -----

// expected-error @+1 {{it returns at least one tensor, and has at most 16 in all, not 0 and 1}}
vta.binary @g(%x: !vta.dram<act, 4>) -> () #vta.config<1x16_i8w8a32_15_15_18_17> multiply_adds 0 instructions "i"[5] relocations "r"[5]

// -----

// expected-error @+1 {{its tensors are !vta.dram<act, …>, not !vta.dram<wgt, 4>}}
vta.binary @g(%x: !vta.dram<wgt, 4>) -> (%y: !vta.dram<act, 4>) #vta.config<1x16_i8w8a32_15_15_18_17> multiply_adds 0 instructions "i"[5] relocations "r"[5]

// -----

// expected-error @+1 {{an array has at least one element, or is left out}}
vta.binary @g() -> (%y: !vta.dram<act, 4>) #vta.config<1x16_i8w8a32_15_15_18_17> multiply_adds 0 instructions "i"[5] relocations "r"[5] uops "u"[0]

// -----

// expected-error @+1 {{its arrays are instructions, relocations, uops, weights, biases, each at most once, in order}}
"vta.binary"() <{sym_name = "g", config = #vta.config<1x16_i8w8a32_15_15_18_17>, multiply_adds = 0 : i64, tensor_counts = array<i64: 0, 1, 0>, array_names = ["relocations", "instructions"], array_keys = ["r", "i"], array_counts = array<i64: 5, 5>}> ({
^bb0(%y: !vta.dram<act, 4>):
}) : () -> ()

// -----

// expected-error @+1 {{tensor_counts are inputs, outputs and scratch, that is all}}
"vta.binary"() <{sym_name = "g", config = #vta.config<1x16_i8w8a32_15_15_18_17>, multiply_adds = 0 : i64, tensor_counts = array<i64: 1, 1, 0>, array_names = ["instructions", "relocations"], array_keys = ["r", "i"], array_counts = array<i64: 5, 5>}> ({
^bb0(%y: !vta.dram<act, 4>):
}) : () -> ()

// -----

builtin.module {
  vta.binary @g() -> (%y: !vta.dram<act, 4>) #vta.config<1x16_i8w8a32_15_15_18_17> multiply_adds 0 instructions "i"[5] relocations "r"[5]
  // expected-error @+1 {{cl.enqueue_offload @g[0] is given 0 memories to read and 1 to write, but vta.binary has 0 non-constant tensors to read and 2 to write, 1 of them scratch}}
  cl.program @main(%y: memref<64xi8> {cl.name = "y"}) inputs 0 {
    cl.enqueue_offload @g[0] () -> (%y) : memref<64xi8>
    cl.return
  }
}
