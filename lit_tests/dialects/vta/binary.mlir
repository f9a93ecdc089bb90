// RUN: clopt %s | clopt | filecheck %s
// RUN: clopt %s --print-op-generic | clopt | filecheck %s

// A graph of encoded instructions, and its one command on the queue: tensors, then scratch.

// CHECK: vta.binary @add(%x: !vta.dram<act, 4>, %r: !vta.dram<act, 4>) -> (%y: !vta.dram<act, 4>) scratch (%t: !vta.dram<act, 8>) #vta.config<1x16_i8w8a32_15_15_18_17> multiply_adds 1024 instructions "i_0123456789abcdef"[12] relocations "r_0123456789abcdef"[12] uops "u_0123456789abcdef"[2] weights "w_0123456789abcdef"[1] biases "b_0123456789abcdef"[1] {note = "residual"}
vta.binary @add(%x: !vta.dram<act, 4>, %r: !vta.dram<act, 4>) -> (%y: !vta.dram<act, 4>)
  scratch (%t: !vta.dram<act, 8>) #vta.config<1x16_i8w8a32_15_15_18_17> multiply_adds 1024
  instructions "i_0123456789abcdef"[12] relocations "r_0123456789abcdef"[12]
  uops "u_0123456789abcdef"[2] weights "w_0123456789abcdef"[1] biases "b_0123456789abcdef"[1]
  {note = "residual"}

// CHECK-NEXT: vta.binary @relu(%x: !vta.dram<act, 4>) -> (%y: !vta.dram<act, 4>) #vta.config<1x16_i8w8a32_15_15_18_17> multiply_adds 0 instructions "i_1123456789abcdef"[5] relocations "r_1123456789abcdef"[5] uops "u_1123456789abcdef"[1]
vta.binary @relu(%x: !vta.dram<act, 4>) -> (%y: !vta.dram<act, 4>)
  #vta.config<1x16_i8w8a32_15_15_18_17> multiply_adds 0 instructions "i_1123456789abcdef"[5]
  relocations "r_1123456789abcdef"[5] uops "u_1123456789abcdef"[1]

cl.program @main(%x: memref<4x1x16xi8> {cl.name = "x"}, %y: memref<64xi8> {cl.name = "y"}) inputs 1 {
  %a = cl.alloc : memref<64xi8>
  %t = cl.alloc : memref<8x1x16xi8>
  %pads = cl.alloc : memref<1376256xi8>
  // CHECK: cl.enqueue_offload @relu[0] (%x) -> (%a, %pads)
  cl.enqueue_offload @relu[0] (%x) -> (%a, %pads) : memref<4x1x16xi8>, memref<64xi8>, memref<1376256xi8>
  // CHECK: cl.enqueue_offload @add[0] (%a, %x) -> (%y, %t, %pads)
  cl.enqueue_offload @add[0] (%a, %x) -> (%y, %t, %pads) : memref<64xi8>, memref<4x1x16xi8>, memref<64xi8>, memref<8x1x16xi8>, memref<1376256xi8>
  cl.return
}
