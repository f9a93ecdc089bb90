// RUN: clopt %s --target pocl | filecheck %s
// RUN: not clopt %s --target pokl 2>&1 | filecheck %s --check-prefix=UNKNOWN

// CHECK: builtin.module attributes {cl.target = #cl.target<"pocl"
// UNKNOWN: There is no target "pokl"; use one of
func.func @main() {
  func.return
}
