// RUN: clopt %s -p 'nn-choose{facts="clml=prefer clml_version=3"}' --split-input-file | filecheck %s
// RUN: clopt %s -p 'nn-choose{facts="clml=prefer clml_version=1"}' --split-input-file | filecheck %s --check-prefix=OLD
// RUN: clopt %s -p 'nn-choose{facts="clml=prefer clml_version=3" minimum=3}' --explain --split-input-file -o %t 2>&1 | filecheck %s --check-prefix=FEW

// What is not CLML's lies between two parts: two graphs, though an edge leads from one to the other.
// %b is not read by what is between, and could be in either; it is in one.
// CHECK: clml.graph @clml_0
// CHECK: clml.activation relu
// CHECK: clml.activation tanh
// CHECK: clml.return [[a:%.*]], [[b:%.*]] :
// CHECK: clml.graph @clml_1
// CHECK: clml.binary add
// CHECK-NEXT: clml.binary add
// CHECK: func.func @around
// CHECK-NEXT: [[r:%.*]], [[s:%.*]] = clml.call @clml_0(%x)
// CHECK-NEXT: [[t:%.*]] = nn.unary erf [[r]]
// CHECK-NEXT: clml.call @clml_1([[t]], [[r]], [[s]])
// FEW: CLML in around: 0 of 5 operations in 0 graphs
// FEW: a graph of 2 operations is smaller than the minimum of 3
func.func @around(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %a = nn.unary relu %x : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %e = nn.unary erf %a : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %b = nn.unary tanh %a : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %c = nn.binary add %e, %a : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  %d = nn.binary add %c, %b : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  func.return %d : tensor<1x4xf32>
}

// -----

// One graph, though something else stands between its operations in the text: nothing leads from
// one part to the other through it. It is called once all that it reads is there.
// CHECK: clml.graph @clml_0(%x: {{.*}}, %e: {{.*}})
// CHECK-NOT: clml.graph
// CHECK: func.func @beside
// CHECK-NEXT: [[e:%.*]] = nn.unary erf %y
// CHECK-NEXT: [[r:%.*]], [[s:%.*]] = clml.call @clml_0(%x, [[e]])
// CHECK-NEXT: [[f:%.*]] = nn.unary erf [[r]]
// CHECK-NEXT: func.return [[s]], [[f]]
func.func @beside(%x: tensor<1x4xf32>, %y: tensor<1x4xf32>) -> (tensor<1x4xf32>, tensor<1x4xf32>) {
  %a = nn.unary relu %x : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %f = nn.unary erf %a : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %e = nn.unary erf %y : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %c = nn.binary add %e, %a : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  func.return %c, %f : tensor<1x4xf32>, tensor<1x4xf32>
}

// -----

// Both read one tensor, which one graph copies once to the layout that both want.
// CHECK: clml.graph @clml_0
// CHECK: clml.copy %x
// CHECK-NOT: clml.copy %x
// CHECK: clml.pool max
// CHECK: clml.pool average
// CHECK-NOT: clml.graph
// CHECK: func.func @siblings
func.func @siblings(%x: tensor<1x4x8x8xf32>) -> (tensor<1x4xf32>, tensor<1x4xf32>) {
  %a = nn.reduce max %x {axes = array<i64: 2, 3>} : (tensor<1x4x8x8xf32>) -> tensor<1x4xf32>
  %b = nn.reduce mean %x {axes = array<i64: 2, 3>} : (tensor<1x4x8x8xf32>) -> tensor<1x4xf32>
  func.return %a, %b : tensor<1x4xf32>, tensor<1x4xf32>
}

// -----

// A graph has the arithmetic of most of its commands that add up, of as many the more accurate one;
// the others have their own, and what adds up nothing needs none.
// CHECK: clml.graph @clml_0({{.*}}f16, nchw>) -> {{.*}} arithmetic fp16 {
// CHECK: clml.activation tanh {{%[^{]*}} :
// CHECK: clml.conv {{.*}}pads = array<i64: 0, 0, 0, 0>} :
// CHECK-NEXT: clml.conv {{.*}}pads = array<i64: 0, 0, 0, 0>} :
// CHECK-NEXT: clml.conv {{.*}}pads = array<i64: 0, 0, 0, 0>, arithmetic = #clml<arithmetic fp16_acc32>} :
// CHECK-NEXT: clml.pool max {{.*}}pads = array<i64: 0, 0, 0, 0>} :
// CHECK-NOT: clml.graph
// CHECK: func.func @halves
func.func @halves(%x: tensor<1x4x8x8xf16>) -> tensor<1x4x1x1xf16> {
  %w = nn.constant dense<1.0> : tensor<4x4x1x1xf16>
  %t = nn.unary tanh %x : (tensor<1x4x8x8xf16>) -> tensor<1x4x8x8xf16>
  %a = nn.conv %t, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, accumulate = f16} : (tensor<1x4x8x8xf16>, tensor<4x4x1x1xf16>) -> tensor<1x4x8x8xf16>
  %b = nn.conv %a, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, accumulate = f16} : (tensor<1x4x8x8xf16>, tensor<4x4x1x1xf16>) -> tensor<1x4x8x8xf16>
  %c = nn.conv %b, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x4x8x8xf16>, tensor<4x4x1x1xf16>) -> tensor<1x4x8x8xf16>
  %d = nn.reduce max %c {axes = array<i64: 2, 3>, keepdims} : (tensor<1x4x8x8xf16>) -> tensor<1x4x1x1xf16>
  func.return %d : tensor<1x4x1x1xf16>
}

// -----

// CHECK: clml.graph @clml_0({{.*}}f16, nchw>) -> {{.*}} arithmetic fp16_acc32 {
// CHECK: clml.conv {{.*}}pads = array<i64: 0, 0, 0, 0>, arithmetic = #clml<arithmetic fp16>} :
// CHECK-NEXT: clml.pool average {{.*}}pads = array<i64: 0, 0, 0, 0>} :
// CHECK-NOT: clml.graph
// CHECK: func.func @average_of_halves
func.func @average_of_halves(%x: tensor<1x4x8x8xf16>) -> tensor<1x4x1x1xf16> {
  %w = nn.constant dense<1.0> : tensor<4x4x1x1xf16>
  %a = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, accumulate = f16} : (tensor<1x4x8x8xf16>, tensor<4x4x1x1xf16>) -> tensor<1x4x8x8xf16>
  %c = nn.reduce mean %a {axes = array<i64: 2, 3>, keepdims} : (tensor<1x4x8x8xf16>) -> tensor<1x4x1x1xf16>
  func.return %c : tensor<1x4x1x1xf16>
}

// -----

// A cast stands between graphs of floats and of halves.
// CHECK: clml.graph @clml_0({{.*}}f32, nchw>) -> {{.*}} arithmetic fp32 {
// CHECK: clml.graph @clml_1({{.*}}f16, nchw>) -> {{.*}} arithmetic fp16_acc32 {
// CHECK: func.func @casts
// CHECK-NEXT: clml.call @clml_0
// CHECK-NEXT: nn.cast
// CHECK-NEXT: clml.call @clml_1
func.func @casts(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf16> {
  %a = nn.unary tanh %x : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %b = nn.cast %a {to = f16} : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf16>
  %c = nn.unary relu %b : (tensor<1x4x8x8xf16>) -> tensor<1x4x8x8xf16>
  func.return %c : tensor<1x4x8x8xf16>
}

// -----

// Reshapes at the border are views outside, whatever their shape; the graph takes and gives what
// they see.
// CHECK: clml.graph @clml_0(%a: !clml.tensor<1x4x8x8xf32, nchw>) -> !clml.tensor<1x4x8x8xf32, nchw>
// CHECK-NEXT: clml.activation relu %a
// CHECK: func.func @views
// CHECK-NEXT: [[a:%.*]] = nn.reshape %x
// CHECK-NEXT: [[b:%.*]] = clml.call @clml_0([[a]])
// CHECK-NEXT: nn.reshape [[b]]
func.func @views(%x: tensor<2x16x8xf32>) -> tensor<2x2x8x4x2xf32> {
  %a = nn.reshape %x {shape = array<i64: 1, 4, 8, 8>} : (tensor<2x16x8xf32>) -> tensor<1x4x8x8xf32>
  %b = nn.unary relu %a : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %c = nn.reshape %b {shape = array<i64: 2, 2, 8, 4, 2>} : (tensor<1x4x8x8xf32>) -> tensor<2x2x8x4x2xf32>
  func.return %c : tensor<2x2x8x4x2xf32>
}

// -----

// A value and another shape of it leave a graph as one tensor.
// CHECK: clml.graph @clml_0
// CHECK: clml.return [[t:%.*]], [[u:%.*]] :
// CHECK: [[r:%.*]], [[s:%.*]] = clml.call @clml_0(%x) : (tensor<1x4x8x8xf32>) -> (tensor<1x4x1x1xf32>, tensor<1x4xf32>)
// CHECK-NEXT: [[v:%.*]] = nn.reshape [[r]]
// CHECK-NEXT: func.return [[r]], [[v]], [[s]]
func.func @names(%x: tensor<1x4x8x8xf32>) -> (tensor<1x4x1x1xf32>, tensor<1x4xf32>, tensor<1x4xf32>) {
  %a = nn.reduce max %x {axes = array<i64: 2, 3>, keepdims} : (tensor<1x4x8x8xf32>) -> tensor<1x4x1x1xf32>
  %b = nn.reshape %a {shape = array<i64: 1, 4>} : (tensor<1x4x1x1xf32>) -> tensor<1x4xf32>
  %c = nn.unary relu %b : (tensor<1x4xf32>) -> tensor<1x4xf32>
  func.return %a, %b, %c : tensor<1x4x1x1xf32>, tensor<1x4xf32>, tensor<1x4xf32>
}

// -----

// Version 1 has no clip, and versions below 3 no epsilon: a sum with a constant that was broadcast.
// OLD: func.func @names
// OLD: clml.graph @clml_0{{.*}} version 1
// OLD-NEXT: [[c:%.*]] = clml.constant "{{.*}}" : !clml.tensor<1x4x2x2xf32, nchw, parameter>
// OLD-NEXT: clml.binary add %x, [[c]]
// OLD: func.func @old
// OLD: nn.clip
// CHECK: clml.graph @clml_0{{.*}} version 3
// CHECK: clml.batch_norm
// CHECK: clml.clip
func.func @old(%x: tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> {
  %c = nn.constant dense<[[[1.0]], [[2.0]], [[3.0]], [[4.0]]]> : tensor<4x1x1xf32>
  %a = nn.binary add %x, %c : (tensor<1x4x2x2xf32>, tensor<4x1x1xf32>) -> tensor<1x4x2x2xf32>
  %b = nn.clip %a {low = -1.0 : f32, high = 1.0 : f32} : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
  func.return %b : tensor<1x4x2x2xf32>
}

// -----

// A result that something else reads, too, is no part of what follows it.
// CHECK: [[y:%.*]] = clml.conv %x_1
// CHECK-NEXT: [[z:%.*]] = clml.activation relu [[y]]
// CHECK: clml.binary add [[y]], [[z]]
// CHECK-NOT: clml.graph
// CHECK: func.func @shared
func.func @shared(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %w = nn.constant dense<1.0> : tensor<4x4x1x1xf32>
  %y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  %z = nn.unary relu %y : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %r = nn.binary add %y, %z : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  func.return %r : tensor<1x4x8x8xf32>
}

// -----

// Names that the module has are left alone, and so are functions that call graphs already.
// CHECK: clml.graph @clml_0
// CHECK: clml.graph @clml_1
// CHECK: func.func @taken
// CHECK-NEXT: [[a:%.*]] = clml.call @clml_0(%x)
// CHECK-NEXT: [[b:%.*]] = clml.call @clml_1([[a]])
clml.graph @clml_0(%x: !clml.tensor<1x4x1x1xf32, nchw>) -> !clml.tensor<1x4x1x1xf32, nchw> version 1 arithmetic fp32 {
  %y = clml.activation relu %x : (!clml.tensor<1x4x1x1xf32, nchw>) -> !clml.tensor<1x4x1x1xf32, nchw>
  clml.return %y : !clml.tensor<1x4x1x1xf32, nchw>
}
func.func @taken(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %a = clml.call @clml_0(%x) : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %b = nn.unary tanh %a : (tensor<1x4xf32>) -> tensor<1x4xf32>
  func.return %b : tensor<1x4xf32>
}
