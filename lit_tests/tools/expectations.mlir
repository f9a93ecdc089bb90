// RUN: clopt %s --split-input-file --verify-diagnostics

// MLIR's spelling: spaces are free.
func.func @space(%x: i32) -> i32 {
  // expected-error @+1 {{operand is used with type i64}}
  %a = arith.addi %x, %x : i64
  func.return %x : i32
}

// -----

func.func @before(%x: i32) -> i32 {
  %a = arith.addi %x, %x : i64
  // expected-error @-1{{operand is used with type i64}}
  func.return %x : i32
}

// -----

// `above` and `below` pass over other expectations.
func.func @above(%x: i32) -> i32 {
  %a = arith.addi %x, %x : i64
  // expected-error @above {{operand is used with type i64}}
  func.return %x : i32
}

// -----

func.func @below(%x: i32) -> i32 {
  // expected-error@below {{operand is used with type i64}}
  %a = arith.addi %x, %x : i64
  func.return %x : i32
}

// -----

// An empty text is a part of every sentence.
func.func @empty(%x: i32) -> i32 {
  %a = arith.addi %x, %x : i64 // expected-error {{}}
  func.return %x : i32
}

// -----

func.func @pattern(%x: i32) -> i32 {
  // expected-error-re @+1 {{type i64, but {{.*}} with type i{{[0-9]+}}}}
  %a = arith.addi %x, %x : i64
  func.return %x : i32
}
