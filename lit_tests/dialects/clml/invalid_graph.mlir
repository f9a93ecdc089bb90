// RUN: clopt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{the version must be 1 to 5, not 0}}
clml.graph @g(%x: !clml.tensor<1x4x6x6xf32, nchw>) -> !clml.tensor<1x4x6x6xf32, nchw> version 0 arithmetic fp32 {
  %y = clml.activation relu %x : (!clml.tensor<1x4x6x6xf32, nchw>) -> !clml.tensor<1x4x6x6xf32, nchw>
  clml.return %y : !clml.tensor<1x4x6x6xf32, nchw>
}

// -----

// expected-error@+1 {{the version must be 1 to 5, not 6}}
clml.graph @g(%x: !clml.tensor<1x4x6x6xf32, nchw>) -> !clml.tensor<1x4x6x6xf32, nchw> version 6 arithmetic fp32 {
  %y = clml.activation relu %x : (!clml.tensor<1x4x6x6xf32, nchw>) -> !clml.tensor<1x4x6x6xf32, nchw>
  clml.return %y : !clml.tensor<1x4x6x6xf32, nchw>
}

// -----

// expected-error@+1 {{clml.clip requires version 2 of CLML, but the graph is for version 1}}
clml.graph @g(%x: !clml.tensor<1x4x6x6xf32, nchw>) -> !clml.tensor<1x4x6x6xf32, nchw> version 1 arithmetic fp32 {
  %y = clml.clip %x {minimum = 0.0 : f64, maximum = 1.0 : f64} : (!clml.tensor<1x4x6x6xf32, nchw>) -> !clml.tensor<1x4x6x6xf32, nchw>
  clml.return %y : !clml.tensor<1x4x6x6xf32, nchw>
}

// -----

// expected-error@+1 {{clml.batch_norm requires version 3 of CLML, but the graph is for version 2}}
clml.graph @g(%x: !clml.tensor<1x4x6x6xf32, nchw>) -> !clml.tensor<1x4x6x6xf32, nchw> version 2 arithmetic fp32 {
  %c = clml.constant "c" : !clml.tensor<1x4x1x1xf32, optimal, parameter>
  %o = clml.copy %x : !clml.tensor<1x4x6x6xf32, nchw> -> !clml.tensor<1x4x6x6xf32, optimal>
  %b = clml.batch_norm %o, %c, %c, %c, %c {epsilon = 1.0e-05 : f64} : (!clml.tensor<1x4x6x6xf32, optimal>, !clml.tensor<1x4x1x1xf32, optimal, parameter>, !clml.tensor<1x4x1x1xf32, optimal, parameter>, !clml.tensor<1x4x1x1xf32, optimal, parameter>, !clml.tensor<1x4x1x1xf32, optimal, parameter>) -> !clml.tensor<1x4x6x6xf32, optimal>
  %y = clml.copy %b : !clml.tensor<1x4x6x6xf32, optimal> -> !clml.tensor<1x4x6x6xf32, nchw>
  clml.return %y : !clml.tensor<1x4x6x6xf32, nchw>
}

// -----

// expected-error@+1 {{clml.conv_batch_norm requires version 3 of CLML, but the graph is for version 2}}
clml.graph @g(%x: !clml.tensor<1x4x6x6xf32, nchw>) -> !clml.tensor<1x4x6x6xf32, nchw> version 2 arithmetic fp32 {
  %w = clml.constant "w" : !clml.tensor<4x4x1x1xf32, optimal, parameter>
  %c = clml.constant "c" : !clml.tensor<1x4x1x1xf32, optimal, parameter>
  %o = clml.copy %x : !clml.tensor<1x4x6x6xf32, nchw> -> !clml.tensor<1x4x6x6xf32, optimal>
  %b = clml.conv_batch_norm %o, %w, %c, %c, %c, %c {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, epsilon = 1.0e-05 : f64} : (!clml.tensor<1x4x6x6xf32, optimal>, !clml.tensor<4x4x1x1xf32, optimal, parameter>, !clml.tensor<1x4x1x1xf32, optimal, parameter>, !clml.tensor<1x4x1x1xf32, optimal, parameter>, !clml.tensor<1x4x1x1xf32, optimal, parameter>, !clml.tensor<1x4x1x1xf32, optimal, parameter>) -> !clml.tensor<1x4x6x6xf32, optimal>
  %y = clml.copy %b : !clml.tensor<1x4x6x6xf32, optimal> -> !clml.tensor<1x4x6x6xf32, nchw>
  clml.return %y : !clml.tensor<1x4x6x6xf32, nchw>
}

// -----

// expected-error@+1 {{clml.conv_batch_norm_activation requires version 3 of CLML, but the graph is for version 1}}
clml.graph @g(%x: !clml.tensor<1x4x6x6xf32, nchw>) -> !clml.tensor<1x4x6x6xf32, nchw> version 1 arithmetic fp32 {
  %w = clml.constant "w" : !clml.tensor<4x4x1x1xf32, optimal, parameter>
  %c = clml.constant "c" : !clml.tensor<1x4x1x1xf32, optimal, parameter>
  %o = clml.copy %x : !clml.tensor<1x4x6x6xf32, nchw> -> !clml.tensor<1x4x6x6xf32, optimal>
  %b = clml.conv_batch_norm_activation relu %o, %w, %c, %c, %c, %c {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, epsilon = 1.0e-05 : f64} : (!clml.tensor<1x4x6x6xf32, optimal>, !clml.tensor<4x4x1x1xf32, optimal, parameter>, !clml.tensor<1x4x1x1xf32, optimal, parameter>, !clml.tensor<1x4x1x1xf32, optimal, parameter>, !clml.tensor<1x4x1x1xf32, optimal, parameter>, !clml.tensor<1x4x1x1xf32, optimal, parameter>) -> !clml.tensor<1x4x6x6xf32, optimal>
  %y = clml.copy %b : !clml.tensor<1x4x6x6xf32, optimal> -> !clml.tensor<1x4x6x6xf32, nchw>
  clml.return %y : !clml.tensor<1x4x6x6xf32, nchw>
}

// -----

// expected-error@+1 {{arithmetic fp16 requires f16, but the graph has a tensor of f32}}
clml.graph @g(%x: !clml.tensor<1x4x6x6xf32, nchw>) -> !clml.tensor<1x4x6x6xf32, nchw> version 3 arithmetic fp16 {
  %y = clml.activation relu %x : (!clml.tensor<1x4x6x6xf32, nchw>) -> !clml.tensor<1x4x6x6xf32, nchw>
  clml.return %y : !clml.tensor<1x4x6x6xf32, nchw>
}

// -----

// expected-error@+1 {{arithmetic fp16_acc32 requires f16, but the graph has a tensor of f32}}
clml.graph @g(%x: !clml.tensor<1x4x6x6xf32, nchw>) -> !clml.tensor<1x4x6x6xf32, nchw> version 3 arithmetic fp16_acc32 {
  %y = clml.activation relu %x : (!clml.tensor<1x4x6x6xf32, nchw>) -> !clml.tensor<1x4x6x6xf32, nchw>
  clml.return %y : !clml.tensor<1x4x6x6xf32, nchw>
}

// -----

clml.graph @g(%x: !clml.tensor<1x4x1x1xf32, nchw>) -> !clml.tensor<1x4x1x1xf32, nchw> version 3 arithmetic fp32 {
  // expected-error@+1 {{arithmetic fp16_acc32 requires f16, but the tensors are f32}}
  %y = clml.activation relu %x {arithmetic = #clml<arithmetic fp16_acc32>} : (!clml.tensor<1x4x1x1xf32, nchw>) -> !clml.tensor<1x4x1x1xf32, nchw>
  clml.return %y : !clml.tensor<1x4x1x1xf32, nchw>
}

// -----

// A reshape computes nothing.
clml.graph @g(%x: !clml.tensor<1x4x1x1xf32, nchw>) -> !clml.tensor<1x2x2x1xf32, nchw> version 3 arithmetic fp32 {
  // expected-error@+1 {{property 'arithmetic' is not defined by the operation}}
  %y = "clml.reshape"(%x) <{arithmetic = #clml<arithmetic fp32>}> : (!clml.tensor<1x4x1x1xf32, nchw>) -> !clml.tensor<1x2x2x1xf32, nchw>
  clml.return %y : !clml.tensor<1x2x2x1xf32, nchw>
}

// -----

// expected-error@+1 {{arithmetic fp32 requires f32, but the graph has a tensor of f16}}
clml.graph @g(%x: !clml.tensor<1x4x6x6xf32, nchw>, %h: !clml.tensor<1x4x6x6xf16, nchw>) -> !clml.tensor<1x4x6x6xf32, nchw> version 3 arithmetic fp32 {
  %z = clml.activation relu %h : (!clml.tensor<1x4x6x6xf16, nchw>) -> !clml.tensor<1x4x6x6xf16, nchw>
  %y = clml.activation relu %x : (!clml.tensor<1x4x6x6xf32, nchw>) -> !clml.tensor<1x4x6x6xf32, nchw>
  clml.return %y : !clml.tensor<1x4x6x6xf32, nchw>
}

// -----

// expected-error@+1 {{inputs and outputs of a graph must have the layout nchw, not optimal: insert clml.copy}}
clml.graph @g(%x: !clml.tensor<1x4x6x6xf32, optimal>) -> !clml.tensor<1x4x6x6xf32, nchw> version 3 arithmetic fp32 {
  %y = clml.copy %x : !clml.tensor<1x4x6x6xf32, optimal> -> !clml.tensor<1x4x6x6xf32, nchw>
  clml.return %y : !clml.tensor<1x4x6x6xf32, nchw>
}

// -----

// expected-error@+1 {{inputs and outputs of a graph must have the layout nchw, not optimal: insert clml.copy}}
clml.graph @g(%x: !clml.tensor<1x4x6x6xf32, nchw>) -> !clml.tensor<1x4x6x6xf32, optimal> version 3 arithmetic fp32 {
  %y = clml.copy %x : !clml.tensor<1x4x6x6xf32, nchw> -> !clml.tensor<1x4x6x6xf32, optimal>
  clml.return %y : !clml.tensor<1x4x6x6xf32, optimal>
}

// -----

// expected-error@+1 {{inputs and outputs of a graph must not be parameters}}
clml.graph @g(%x: !clml.tensor<1x4x6x6xf32, nchw>, %p: !clml.tensor<1x4x6x6xf32, nchw, parameter>) -> !clml.tensor<1x4x6x6xf32, nchw> version 3 arithmetic fp32 {
  %y = clml.activation relu %x : (!clml.tensor<1x4x6x6xf32, nchw>) -> !clml.tensor<1x4x6x6xf32, nchw>
  clml.return %y : !clml.tensor<1x4x6x6xf32, nchw>
}

// -----

// An input as a result needs no graph.
// expected-error@+1 {{a graph must return results of its commands}}
clml.graph @g(%x: !clml.tensor<1x4x6x6xf32, nchw>) -> !clml.tensor<1x4x6x6xf32, nchw> version 3 arithmetic fp32 {
  %y = clml.activation relu %x : (!clml.tensor<1x4x6x6xf32, nchw>) -> !clml.tensor<1x4x6x6xf32, nchw>
  clml.return %x : !clml.tensor<1x4x6x6xf32, nchw>
}

// -----

// expected-error@+1 {{a graph must not return a tensor twice}}
clml.graph @g(%x: !clml.tensor<1x4x6x6xf32, nchw>) -> (!clml.tensor<1x4x6x6xf32, nchw>, !clml.tensor<1x4x6x6xf32, nchw>) version 3 arithmetic fp32 {
  %y = clml.activation relu %x : (!clml.tensor<1x4x6x6xf32, nchw>) -> !clml.tensor<1x4x6x6xf32, nchw>
  clml.return %y, %y : !clml.tensor<1x4x6x6xf32, nchw>, !clml.tensor<1x4x6x6xf32, nchw>
}

// -----

// expected-error@+1 {{inputs and outputs of a graph must not be parameters}}
clml.graph @g(%x: !clml.tensor<1x4x6x6xf32, nchw>) -> !clml.tensor<1x4x6x6xf32, nchw, parameter> version 3 arithmetic fp32 {
  %y = clml.constant "c" : !clml.tensor<1x4x6x6xf32, nchw, parameter>
  clml.return %y : !clml.tensor<1x4x6x6xf32, nchw, parameter>
}

// -----

// expected-error@+1 {{a graph must return at least one tensor}}
clml.graph @g(%x: !clml.tensor<1x4x6x6xf32, nchw>) -> () version 3 arithmetic fp32 {
  %y = clml.activation relu %x : (!clml.tensor<1x4x6x6xf32, nchw>) -> !clml.tensor<1x4x6x6xf32, nchw>
  clml.return
}

// -----

// expected-error@+1 {{a graph must end with clml.return}}
clml.graph @g(%x: !clml.tensor<1x4x6x6xf32, nchw>) -> () version 3 arithmetic fp32 {
  %y = clml.activation relu %x : (!clml.tensor<1x4x6x6xf32, nchw>) -> !clml.tensor<1x4x6x6xf32, nchw>
  "test.termop"() : () -> ()
}

// -----

// expected-error@+1 {{test.op is not an operation of CLML}}
clml.graph @g(%x: !clml.tensor<1x4x6x6xf32, nchw>) -> !clml.tensor<1x4x6x6xf32, nchw> version 3 arithmetic fp32 {
  %y = "test.op"(%x) : (!clml.tensor<1x4x6x6xf32, nchw>) -> !clml.tensor<1x4x6x6xf32, nchw>
  clml.return %y : !clml.tensor<1x4x6x6xf32, nchw>
}

// -----

// expected-error@+1 {{the values of a graph must be CLML tensors, not tensor<4xf32>}}
clml.graph @g(%x: !clml.tensor<1x4x6x6xf32, nchw>, %t: tensor<4xf32>) -> !clml.tensor<1x4x6x6xf32, nchw> version 3 arithmetic fp32 {
  %y = clml.activation relu %x : (!clml.tensor<1x4x6x6xf32, nchw>) -> !clml.tensor<1x4x6x6xf32, nchw>
  clml.return %y : !clml.tensor<1x4x6x6xf32, nchw>
}

// -----

// expected-error@+1 {{the returned values have other types}}
clml.graph @g(%x: !clml.tensor<1x4x6x6xf32, nchw>) -> !clml.tensor<1x4x6x6xf16, nchw> version 3 arithmetic fp32 {
  %y = clml.activation relu %x : (!clml.tensor<1x4x6x6xf32, nchw>) -> !clml.tensor<1x4x6x6xf32, nchw>
  clml.return %y : !clml.tensor<1x4x6x6xf32, nchw>
}

// -----

// expected-error@+1 {{the usage of a constant must be parameter, not cnn}}
%c = clml.constant "c" : !clml.tensor<1x4x1x1xf32, optimal>

// -----

clml.graph @g(%x: !clml.tensor<1x4x6x6xf32, nchw>) -> !clml.tensor<1x4x6x6xf32, nchw> version 3 arithmetic fp32 {
  %y = clml.activation relu %x : (!clml.tensor<1x4x6x6xf32, nchw>) -> !clml.tensor<1x4x6x6xf32, nchw>
  clml.return %y : !clml.tensor<1x4x6x6xf32, nchw>
}
func.func @main(%a: tensor<1x4x6x6xf32>) {
  // expected-error@+1 {{the module has no clml.graph @h}}
  %y = clml.call @h(%a) : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  func.return
}

// -----

func.func @main(%a: tensor<1x4x6x6xf32>) {
  // expected-error@+1 {{the module has no clml.graph @main}}
  %y = clml.call @main(%a) : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  func.return
}

// -----

clml.graph @g(%x: !clml.tensor<1x4x6x6xf32, nchw>) -> !clml.tensor<1x4x6x6xf32, nchw> version 3 arithmetic fp32 {
  %y = clml.activation relu %x : (!clml.tensor<1x4x6x6xf32, nchw>) -> !clml.tensor<1x4x6x6xf32, nchw>
  clml.return %y : !clml.tensor<1x4x6x6xf32, nchw>
}
func.func @main(%a: tensor<1x4x6x6xf32>, %b: tensor<1x4x6x6xf32>) {
  // expected-error@+1 {{@g takes 1 tensors; the call has 2}}
  %y = clml.call @g(%a, %b) : (tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  func.return
}

// -----

clml.graph @g(%x: !clml.tensor<1x4x6x6xf32, nchw>) -> !clml.tensor<1x4x6x6xf32, nchw> version 3 arithmetic fp32 {
  %y = clml.activation relu %x : (!clml.tensor<1x4x6x6xf32, nchw>) -> !clml.tensor<1x4x6x6xf32, nchw>
  clml.return %y : !clml.tensor<1x4x6x6xf32, nchw>
}
func.func @main(%a: tensor<1x4x6x6xf32>) {
  // expected-error@+1 {{@g returns 1 tensors; the call has 2}}
  %y, %z = clml.call @g(%a) : (tensor<1x4x6x6xf32>) -> (tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>)
  func.return
}

// -----

clml.graph @g(%x: !clml.tensor<1x4x6x6xf32, nchw>) -> !clml.tensor<1x4x6x6xf32, nchw> version 3 arithmetic fp32 {
  %y = clml.activation relu %x : (!clml.tensor<1x4x6x6xf32, nchw>) -> !clml.tensor<1x4x6x6xf32, nchw>
  clml.return %y : !clml.tensor<1x4x6x6xf32, nchw>
}
func.func @main(%a: tensor<1x4x6x5xf32>) {
  // expected-error@+1 {{@g takes !clml.tensor<1x4x6x6xf32, nchw>, not tensor<1x4x6x5xf32>}}
  %y = clml.call @g(%a) : (tensor<1x4x6x5xf32>) -> tensor<1x4x6x6xf32>
  func.return
}

// -----

clml.graph @g(%x: !clml.tensor<1x4x6x6xf32, nchw>) -> !clml.tensor<1x4x6x6xf32, nchw> version 3 arithmetic fp32 {
  %y = clml.activation relu %x : (!clml.tensor<1x4x6x6xf32, nchw>) -> !clml.tensor<1x4x6x6xf32, nchw>
  clml.return %y : !clml.tensor<1x4x6x6xf32, nchw>
}
func.func @main(%a: tensor<1x4x6x6xf32>) {
  // expected-error@+1 {{@g returns !clml.tensor<1x4x6x6xf32, nchw>, not tensor<1x4x6x6xf16>}}
  %y = clml.call @g(%a) : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf16>
  func.return
}

// -----

clml.graph @g(%x: !clml.tensor<1x4x6x6xf32, nchw>) -> !clml.tensor<1x4x6x6xf32, nchw> version 3 arithmetic fp32 {
  %y = clml.activation relu %x : (!clml.tensor<1x4x6x6xf32, nchw>) -> !clml.tensor<1x4x6x6xf32, nchw>
  clml.return %y : !clml.tensor<1x4x6x6xf32, nchw>
}
func.func @main(%a: tensor<1x4x6x6xf32, #nn.layout<[1 by 4]>>) {
  // expected-error@+1 {{@g takes !clml.tensor<1x4x6x6xf32, nchw>, not tensor<1x4x6x6xf32, #nn.layout<[1 by 4]>>}}
  %y = clml.call @g(%a) : (tensor<1x4x6x6xf32, #nn.layout<[1 by 4]>>) -> tensor<1x4x6x6xf32>
  func.return
}

// -----

// expected-error@+1 {{clml.copy creates an optimal tensor that only copies use, so its size is unknown}}
clml.graph @g(%x: !clml.tensor<1x4x6x6xf32, nchw>) -> !clml.tensor<1x4x6x6xf32, nchw> version 3 arithmetic fp32 {
  %o = clml.copy %x : !clml.tensor<1x4x6x6xf32, nchw> -> !clml.tensor<1x4x6x6xf32, optimal>
  %y = clml.copy %o : !clml.tensor<1x4x6x6xf32, optimal> -> !clml.tensor<1x4x6x6xf32, nchw>
  clml.return %y : !clml.tensor<1x4x6x6xf32, nchw>
}
