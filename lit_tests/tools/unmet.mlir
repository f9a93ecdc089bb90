// RUN: not clopt %s --verify-diagnostics 2>&1 | filecheck %s

// CHECK: unexpected error: {{.*}}unmet.mlir:10:3: 'func.return': Expected arguments
// CHECK: unmet.mlir:8: expected error "something else" was not produced.
// CHECK: unmet.mlir:12: expected error "nothing" was not produced.

func.func @f() -> i32 {
  // expected-error@+2 {{something else}}

  func.return
}
// expected-error@unknown {{nothing}}
