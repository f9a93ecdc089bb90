// RUN: clopt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{it must have instructions and one relocation per instruction}}
vta.binary @g(%x: !vta.dram<act, 4>) -> (%y: !vta.dram<act, 4>) #vta.config<1x16_i8w8a32_15_15_18_17> multiply_adds 0 instructions "i"[5] relocations "r"[4]

// -----

// expected-error @+1 {{it must return at least one tensor and have at most 16, not 0 and 1}}
vta.binary @g(%x: !vta.dram<act, 4>) -> () #vta.config<1x16_i8w8a32_15_15_18_17> multiply_adds 0 instructions "i"[5] relocations "r"[5]

// -----

// expected-error @+1 {{its tensors must be !vta.dram<act, …>, not !vta.dram<wgt, 4>}}
vta.binary @g(%x: !vta.dram<wgt, 4>) -> (%y: !vta.dram<act, 4>) #vta.config<1x16_i8w8a32_15_15_18_17> multiply_adds 0 instructions "i"[5] relocations "r"[5]

// -----

// expected-error @+1 {{an array must not be empty; omit it instead}}
vta.binary @g() -> (%y: !vta.dram<act, 4>) #vta.config<1x16_i8w8a32_15_15_18_17> multiply_adds 0 instructions "i"[5] relocations "r"[5] uops "u"[0]

// -----

// expected-error @+1 {{its arrays must be instructions, relocations, uops, weights, biases, each at most once, in order}}
"vta.binary"() <{sym_name = "g", config = #vta.config<1x16_i8w8a32_15_15_18_17>, multiply_adds = 0 : i64, tensor_counts = array<i64: 0, 1, 0>, array_names = ["relocations", "instructions"], array_keys = ["r", "i"], array_counts = array<i64: 5, 5>}> ({
^bb0(%y: !vta.dram<act, 4>):
}) : () -> ()

// -----

// expected-error @+1 {{tensor_counts must be the numbers of inputs, outputs and scratch tensors}}
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
