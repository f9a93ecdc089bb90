// RUN: clopt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{tensor<?xf32> has a dynamic dimension; nn requires static shapes}}
%r = nn.constant #nn.weight<"w_0", ""> : tensor<?xf32>

// -----

// expected-error@+1 {{f80 is not an element type of nn tensors}}
%r = nn.constant #nn.weight<"w_0", ""> : tensor<4xf80>
