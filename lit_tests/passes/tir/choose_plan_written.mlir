// RUN: clopt %s -p nn-fuse,nn-to-cl,nn-to-tir,tir-choose-plan -t plans | filecheck %s

// A line for each kernel: its content, the target, no time yet, the plan.
// CHECK:      {{^}}clopt-plans 1{{$}}
// CHECK-NEXT: {{^}}# @add_0: nn.binary{{$}}
// CHECK-NEXT: {{[0-9a-f]+}} cpu,compute_units=3,vector_registers=16 - #tir.plan<"cpu-elementwise", 1, {local_size = [1, 1, 1], width = 8, chunk = 1}>
// CHECK-NEXT: {{^}}# @matmul_1: nn.matmul{{$}}
// CHECK-NEXT: {{[0-9a-f]+}} cpu,compute_units=3,vector_registers=16 - #tir.plan<"register-tile", 3,
module attributes {cl.target = #cl.target<"cpu", {compute_units = 3 : i64}>} {
  func.func @main(%x: tensor<8x16xf32>, %y: tensor<16x16xf32>) -> tensor<8x16xf32> {
    %s = nn.binary add %x, %x : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %r = nn.matmul %s, %y : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
    func.return %r : tensor<8x16xf32>
  }
}
