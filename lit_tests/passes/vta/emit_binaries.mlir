// RUN: clopt %s -p vta-emit-binaries | filecheck %s

// Inputs and outputs are tensors in the order of their numbers; other buffers are one of scratch.

vta.stream @g #vta.config<1x16_i8w8a32_15_15_18_17> attributes {a = 1 : i64} {
  %y = vta.buffer "output0" : !vta.dram<act, 4>
  %t = vta.buffer "layer0" : !vta.dram<act, 6>
  %u = vta.buffer "layer1" : !vta.dram<act, 2>
  %b = vta.buffer "input1" : !vta.dram<act, 5>
  %a = vta.buffer "input0" : !vta.dram<act, 3>
  %uops = vta.uop_table [(0, 0, 0), (1, 1, 0)]
  vta.insn.load %uops[0] to uop[0] size [1, 2] stride 2
  vta.insn.load %a[0] to acc8[0] size [1, 3] stride 3
  vta.insn.gemm uops [0, 2] iterations [3, 1]
  vta.insn.finish
}

// CHECK:      vta.binary @g(%input0: !vta.dram<act, 3>, %input1: !vta.dram<act, 5>) -> (%output0: !vta.dram<act, 4>) scratch (%layers: !vta.dram<act, 8>) #vta.config<1x16_i8w8a32_15_15_18_17> multiply_adds 1536 instructions "w_{{.*}}"[4] relocations "w_{{.*}}"[4] uops "w_{{.*}}"[2] {a = 1 : i64}
