// RUN: clopt %s -p nn-fuse,nn-to-cl --split-input-file | filecheck %s

// @exp runs if the condition is true, @sin if it is not. @neg, which both read, always runs, and so
// does @where, which selects.
// CHECK:      nn.kernel @neg_0 {comment = "nn.unary"} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK:      nn.kernel @exp_1 {runs_if = [array<i64: 1, 1>], comment = {{.*}}} : (tensor<4xf32>, tensor<i1>) -> tensor<4xf32>
// CHECK:      nn.kernel @sin_2 {runs_if = [array<i64: 1, 0>], comment = {{.*}}} : (tensor<4xf32>, tensor<i1>) -> tensor<4xf32>
// CHECK:      nn.kernel @where_3 {comment = "nn.where"} : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-LABEL: cl.program @branches
// CHECK:        cl.enqueue_kernel @neg_0(%x, %n)
// CHECK-NEXT:   %a = cl.alloc
// CHECK-NEXT:   cl.enqueue_kernel @exp_1(%n, %c, %a)
// CHECK-NEXT:   %b = cl.alloc
// CHECK-NEXT:   cl.enqueue_kernel @sin_2(%n, %c, %b)
// CHECK-NEXT:   cl.enqueue_kernel @where_3(%c, %a, %b, %0)
func.func @branches(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %n = nn.unary neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %a = nn.unary exp %n : (tensor<4xf32>) -> tensor<4xf32>
  %b = nn.unary sin %n : (tensor<4xf32>) -> tensor<4xf32>
  %w = nn.where %c, %a, %b {lazy} : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %w : tensor<4xf32>
}

// -----

// An operand that is also read elsewhere always runs. One that is computed before the condition
// does, too: its work-items cannot read it.
// CHECK-NOT:   runs_if
// CHECK-LABEL: cl.program @always
func.func @always(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = nn.unary exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %b = nn.unary sin %x : (tensor<4xf32>) -> tensor<4xf32>
  %m = nn.reduce max %x {axes = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  %zero = nn.constant dense<0.0> : tensor<f32>
  %c = nn.compare gt %m, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %w = nn.where %c, %a, %b {lazy} : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %w, %a : tensor<4xf32>, tensor<4xf32>
}

// -----

// The inner condition is computed, and selects, only if the outer one is false.
// CHECK-DAG:   nn.kernel @abs_{{.}} {runs_if = [array<i64: 1, 1>], comment = {{.*}}}
// CHECK-DAG:   nn.kernel @logical_not_{{.}} {runs_if = [array<i64: 1, 0>], comment = {{.*}}}
// CHECK-DAG:   nn.kernel @exp_{{.}} {runs_if = [array<i64: 1, 0>, array<i64: 2, 1>], comment = {{.*}}}
// CHECK-DAG:   nn.kernel @sin_{{.}} {runs_if = [array<i64: 1, 0>, array<i64: 2, 0>], comment = {{.*}}}
// CHECK-DAG:   nn.kernel @where_{{.}} {runs_if = [array<i64: 3, 0>], comment = {{.*}}}
// CHECK-LABEL: cl.program @nested
func.func @nested(%c: tensor<i1>, %b: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %t = nn.unary abs %x : (tensor<4xf32>) -> tensor<4xf32>
  %d = nn.unary logical_not %b : (tensor<i1>) -> tensor<i1>
  %p = nn.unary exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %q = nn.unary sin %x : (tensor<4xf32>) -> tensor<4xf32>
  %e = nn.where %d, %p, %q {lazy} : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %w = nn.where %c, %t, %e {lazy} : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %w : tensor<4xf32>
}

// -----

// Every kernel of a loop runs on the conditions of the loop.
// CHECK:       nn.kernel @add_0 {runs_if = [array<i64: 2, 1>], comment = {{.*}}}
// CHECK-LABEL: cl.program @loop
// CHECK:         cl.repeat 3 {
// CHECK-NEXT:      cl.enqueue_kernel @add_0({{.*}}, %w, %c, {{.*}})
func.func @loop(%c: tensor<i1>, %x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %r = nn.loop @step %x, %w {trips = 8 : i64, carried = 1 : i64, rows = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %s = nn.where %c, %r, %x {lazy} : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %s : tensor<4xf32>
}
func.func private @step(%h: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %a = nn.binary add %h, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %a : tensor<4xf32>
}

// -----

// A loop that carries whether it still runs: each iteration reads the condition that the one before
// it wrote. The kernels that select always run.
// CHECK:       nn.kernel @exp_0 {runs_if = [array<i64: 1, 1>], comment = {{.*}}}
// CHECK:       nn.kernel @lt_1 {runs_if = [array<i64: 1, 1>], comment = {{.*}}}
// CHECK:       nn.kernel @where_2 {comment = {{.*}}}
// CHECK:       nn.kernel @where_3 {comment = {{.*}}}
// CHECK-LABEL: cl.program @stopping
// CHECK:         cl.enqueue_kernel @exp_0(%x, %c, %next)
// CHECK-NEXT:    %less = cl.alloc
// CHECK-NEXT:    cl.enqueue_kernel @lt_1(%next, %c, %less)
// CHECK-NEXT:    cl.enqueue_kernel @where_2(%c, %less, %g)
// CHECK-NEXT:    cl.enqueue_kernel @where_3(%c, %next, %x, %r)
// CHECK:         cl.repeat 3 {
// CHECK-NEXT:      cl.enqueue_kernel @exp_0(%0, %g_1, %next_2)
// CHECK-NEXT:      cl.enqueue_kernel @lt_1(%next_2, %g_1, %less_2)
// CHECK-NEXT:      cl.enqueue_kernel @where_2(%g_1, %less_2, %g)
// CHECK-NEXT:      cl.enqueue_kernel @where_3(%g_1, %next_2, %0, %r)
// CHECK-NEXT:      cl.enqueue_kernel @exp_0(%r, %g, %next_3)
func.func @stopping(%c: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
  %g, %r = nn.loop @step %c, %x {trips = 8 : i64, carried = 2 : i64, rows = 0 : i64} : (tensor<i1>, tensor<f32>) -> (tensor<i1>, tensor<f32>)
  func.return %r : tensor<f32>
}
func.func private @step(%runs: tensor<i1>, %h: tensor<f32>) -> (tensor<i1>, tensor<f32>) {
  %one = nn.constant dense<1.0> : tensor<f32>
  %never = nn.constant dense<false> : tensor<i1>
  %next = nn.unary exp %h : (tensor<f32>) -> tensor<f32>
  %less = nn.compare lt %next, %one : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %going = nn.where %runs, %less, %never {lazy} : (tensor<i1>, tensor<i1>, tensor<i1>) -> tensor<i1>
  %kept = nn.where %runs, %next, %h {lazy} : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
  func.return %going, %kept : tensor<i1>, tensor<f32>
}
