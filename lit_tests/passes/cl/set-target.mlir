// RUN: clopt %s -p cl-set-target{device=pocl} | filecheck %s
// RUN: clopt %s --target pocl | filecheck %s
// RUN: not clopt %s -p cl-set-target{device=pokl} 2>&1 | filecheck %s --check-prefix=UNKNOWN

// CHECK: builtin.module attributes {cl.target = #cl.target<"pocl"
// UNKNOWN: set-target.mlir: pass cl-set-target: There is no target "pokl"; use one of
func.func @main() {
  func.return
}
