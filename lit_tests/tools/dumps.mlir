// RUN: clopt %s -p canonicalize,dce --print-ir-after-all 2>&1 | filecheck %s
// RUN: clopt %s -p canonicalize,dce --print-ir-after=dce 2>&1 \
// RUN:   | filecheck %s --check-prefix=ONE
// RUN: clopt %s -p canonicalize,dce --dump-dir %t > %t.mlir && cat %t/00-input.mlir \
// RUN:   | filecheck %s --check-prefix=INPUT
// RUN: clopt %s -p canonicalize --time-passes 2>&1 | filecheck %s --check-prefix=TIME
// RUN: clopt %s --elide-larger-than=3 | filecheck %s --check-prefix=ELIDED

// CHECK: // IR after canonicalize
// CHECK-NEXT: builtin.module
// CHECK-NOT: %unused
// CHECK: // IR after dce (unchanged)

// ONE-NOT: IR after canonicalize
// ONE: // IR after dce

// INPUT: %unused = arith.addi

// TIME: step {{.*}} seconds
// TIME: read
// TIME: canonicalize
// TIME: total

// ELIDED: dense_resource<__elided__> : tensor<4xi32>
func.func @f(%x: i32) -> tensor<4xi32> {
  %unused = arith.addi %x, %x : i32
  %c = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  func.return %c : tensor<4xi32>
}
