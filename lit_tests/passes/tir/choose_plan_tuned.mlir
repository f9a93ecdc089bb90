// RUN: clopt %s -p 'tir-choose-plan{tuning="%S/Inputs/choose_plan_tuned.jsonl" device="A processor" driver="1.0"}' | filecheck %s
// RUN: clopt %s -p tir-choose-plan --tuning %S/Inputs/choose_plan_tuned.jsonl 2>&1 | filecheck %s --check-prefix=ELSEWHERE

// The plan that is the fastest by the database, on the device that runs it.
// CHECK-NOT: clopt.remarks
// CHECK: plan = #tir.plan<"cpu-elementwise", 1, {local_size = [1, 1, 1], width = 4, chunk = 1}>

// On another device it is a starting point.
// ELSEWHERE: remark: 1 kernel has a plan measured on A processor, driver 1.0; run clopt-tune to
// ELSEWHERE: width = 4, chunk = 1}>
builtin.module attributes {cl.target = #cl.target<"cpu", {}>} {
tir.func @copy(%x: memref<64xf32>, %y: memref<64xf32>) attributes {outputs = array<i64: 1>} {
  tir.for parallel %i = 0 to 64 {
    tir.block "copy" (%vi: spatial 64) = affine_map<(d0) -> (d0)> (%i) {
      %a = memref.load %x[%vi] : memref<64xf32>
      memref.store %a, %y[%vi] : memref<64xf32>
    }
  }
}
}
