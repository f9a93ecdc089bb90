// RUN: clopt %s --split-input-file --verify-diagnostics | filecheck %s
// RUN: not clopt %s --split-input-file 2>&1 | filecheck %s --check-prefix=PLAIN

// CHECK: func.func @good
func.func @good() {
  func.return
}

// -----

// PLAIN: clopt: {{.*}}diagnostics.mlir:14:19: operand is used with type i64
func.func @parse(%x: i32) -> i32 {
  // expected-error@+1 {{operand is used with type i64}}
  %a = arith.addi %x, %x : i64
  func.return %x : i32
}

// -----

// PLAIN-NEXT: %a = arith.addi
// PLAIN-NEXT: {{^ +\^$}}
// PLAIN-NEXT: clopt: {{.*}}diagnostics.mlir:25:3: 'func.return': Expected arguments
func.func @verify(%x: i32) -> i32 {
  %a = arith.addi %x, %x : i32
  func.return  // expected-error {{Expected arguments to have the same types}}
}

// -----

// Errors in one piece do not hide the others.
// CHECK: func.func @also_good
// PLAIN: func.func @also_good
func.func @also_good() {
  func.return
}
