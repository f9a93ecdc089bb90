// RUN: clopt %s -p cl-take-turns,verify --target "pocl launch_microseconds=9 turn_microseconds=1" --split-input-file | filecheck %s
// RUN: clopt %s -p cl-take-turns,verify --target "pocl launch_microseconds=8" --split-input-file | filecheck %s --check-prefix OFF
// RUN: clopt %s -p cl-take-turns,verify --target "pocl launch_microseconds=8.5 turn_microseconds=1" --split-input-file | filecheck %s --check-prefix OFF
// RUN: clopt %s -p cl-take-turns,verify --target "pocl launch_microseconds=9 turn_microseconds=1" --split-input-file -t opencl-c | filecheck %s --check-prefix C

// Without a measured turn, or where a launch takes hardly longer, each kernel is launched.
// OFF-NOT: tir.turn
// OFF-NOT: _until_

// Kernels take turns with the memory that the plan gave them, whose bytes may serve several values.
// A large kernel is launched alone, and a kernel that also takes turns is copied for that.
// CHECK-LABEL: tir.func @twice(
// CHECK-LABEL: tir.func @twice_alone(
// CHECK-LABEL: tir.func @clear_turns(%turns: memref<1x2x16xi32>) attributes {outputs = array<i64: 0>
// CHECK:         tir.for vectorized
// CHECK:           memref.store %{{.*}}, %turns[
// CHECK-LABEL: tir.func @negated(
// CHECK-LABEL: tir.func @twice_until_negated(%turns: memref<2x16xi32>, %x: memref<13xf32>, %y: memref<13xf32>, %y_1: memref<13xf32>, %y_2: memref<13xf32>)
// CHECK-SAME:    outputs = array<i64: 0, 2, 3, 4>, comment = "twice; negated", global_size = array<i64: 2>, local_size = array<i64: 1>}
// CHECK-NEXT:    tir.turn @twice(%x, %y) : memref<13xf32>, memref<13xf32>
// CHECK-NEXT:    tir.turn @twice(%y, %y_1) : memref<13xf32>, memref<13xf32>
// CHECK-NEXT:    tir.turn @negated(%y_1, %y_2) : memref<13xf32>, memref<13xf32>
// CHECK-NEXT:  }
// CHECK-LABEL: cl.program @chain
// CHECK:         %turns = cl.alloc : memref<1x2x16xi32>
// CHECK-NEXT:    cl.enqueue_kernel @clear_turns(%turns)
// CHECK:         [[counters:%.*]] = cl.view %turns[0] : memref<1x2x16xi32> to memref<2x16xi32>
// CHECK-NEXT:    cl.enqueue_kernel @twice_until_negated([[counters]], %x, %a, %b, %c)
// CHECK:         cl.enqueue_kernel @large(%c, %d)
// CHECK-NEXT:    cl.enqueue_kernel @twice_alone(%d, %y)

// C-LABEL: static void twice(
// C-SAME:      __global const float *restrict x, __global float *restrict y, const int item_x) {
// C:           const int i = item_x;
// C-LABEL: static void negated(
// C:           const int item_x,
// C-NEXT:      const int item_y) {
// C-LABEL: static void wait_for_shares(volatile __global int *finished, const int shares) {
// C:         while (*finished < shares) {
// C:         atomic_add(finished, 0);
// C-LABEL: static int first_item(
// C-LABEL: __kernel void twice_alone(
// C:           get_global_id(0)
// C-LABEL: __kernel void clear_turns(
// C-LABEL: // twice; negated
// C-NEXT:  __attribute__((reqd_work_group_size(1, 1, 1)))
// C-NEXT:  __kernel void twice_until_negated(
// C-NEXT:      volatile __global int *turns,
// C-NEXT:      __global const float *x,
// C-NEXT:      __global float *y,
// C-NEXT:      __global float *[[y0:y[0-9]+]],
// C-NEXT:      __global float *[[y1:y[0-9]+]]) {
// C:           for (int share; (share = atomic_inc(turns)) < 22;) {
// C-NEXT:          if (share < 9) {
// C-NEXT:              const int end = first_item(share + 1, 2, 3, 1);
// C-NEXT:              for (int item = first_item(share, 2, 3, 1); item < end; item++) {
// C-NEXT:                  twice(x, y, item);
// C-NEXT:              }
// C-NEXT:          } else if (share < 18) {
// C-NEXT:              wait_for_shares(turns + 16, 9);
// C-NEXT:              const int end = first_item(share - 9 + 1, 2, 3, 1);
// C-NEXT:              for (int item = first_item(share - 9, 2, 3, 1); item < end; item++) {
// C-NEXT:                  twice(y, [[y0]], item);
// C-NEXT:              }
// C-NEXT:          } else if (share < 22) {
// C-NEXT:              wait_for_shares(turns + 16, 18);
// C-NEXT:              const int item = share - 18;
// C-NEXT:              negated([[y0]], [[y1]], item % 2, item / 2);
// C-NEXT:          }
// C-NEXT:          mem_fence(CLK_GLOBAL_MEM_FENCE);
// C-NEXT:          atomic_inc(turns + 16);
tir.func @twice(%x: memref<13xf32>, %y: memref<13xf32>) attributes {outputs = array<i64: 1>, comment = "twice", global_size = array<i64: 13>, local_size = array<i64: 1>} {
  tir.for global_x %i = 0 to 13 {
    %a = memref.load %x[%i] : memref<13xf32>
    %b = arith.addf %a, %a : f32
    memref.store %b, %y[%i] : memref<13xf32>
  }
}
tir.func @negated(%x: memref<13xf32>, %y: memref<13xf32>) attributes {outputs = array<i64: 1>, comment = "negated", global_size = array<i64: 2, 2>, local_size = array<i64: 1, 1>} {
  tir.for global_y %i = 0 to 2 {
    tir.for global_x %j = 0 to 2 {
      %k = affine.apply affine_map<(d0, d1) -> (d0 * 2 + d1)> (%i, %j)
      %a = memref.load %x[%k] : memref<13xf32>
      %b = arith.negf %a : f32
      memref.store %b, %y[%k] : memref<13xf32>
    }
  }
}
tir.func @large(%x: memref<13xf32>, %y: memref<13xf32>) attributes {outputs = array<i64: 1>, global_size = array<i64: 4>, local_size = array<i64: 1>} {
  tir.for global_x %i = 0 to 4 {
    tir.for serial %j = 0 to 100000000 {
      %a = memref.load %x[%i] : memref<13xf32>
      %b = arith.mulf %a, %a : f32
      memref.store %b, %y[%i] : memref<13xf32>
    }
  }
}
cl.program @chain(%x: memref<13xf32>, %y: memref<13xf32>) inputs 1 {
  %arena = cl.arena : memref<256xi8>
  %a = cl.buffer_view %arena[0] : memref<13xf32>
  cl.enqueue_kernel @twice(%x, %a) : memref<13xf32>, memref<13xf32>
  %b = cl.buffer_view %arena[128] : memref<13xf32>
  cl.enqueue_kernel @twice(%a, %b) : memref<13xf32>, memref<13xf32>
  %c = cl.buffer_view %arena[0] : memref<13xf32>
  cl.enqueue_kernel @negated(%b, %c) : memref<13xf32>, memref<13xf32>
  %d = cl.buffer_view %arena[128] : memref<13xf32>
  cl.enqueue_kernel @large(%c, %d) : memref<13xf32>, memref<13xf32>
  cl.enqueue_kernel @twice(%d, %y) : memref<13xf32>, memref<13xf32>
  cl.return
}

// -----

// Work-groups of several items, and images, cannot take turns.
// CHECK-LABEL: cl.program @groups
// CHECK-NOT:   turns
// CHECK:         cl.enqueue_kernel @pairs(%x, %a)
// CHECK:         cl.enqueue_kernel @pairs(%a, %y)
tir.func @pairs(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = array<i64: 1>, global_size = array<i64: 4>, local_size = array<i64: 2>} {
  tir.for global_x %i = 0 to 4 {
    %a = memref.load %x[%i] : memref<4xf32>
    memref.store %a, %y[%i] : memref<4xf32>
  }
}
cl.program @groups(%x: memref<4xf32>, %y: memref<4xf32>) inputs 1 {
  %a = cl.alloc : memref<4xf32>
  cl.enqueue_kernel @pairs(%x, %a) : memref<4xf32>, memref<4xf32>
  cl.enqueue_kernel @pairs(%a, %y) : memref<4xf32>, memref<4xf32>
  cl.return
}

// -----

// A program for smaller sizes launches fewer work-items of each kernel.
// CHECK-LABEL: cl.program @sizes
// CHECK-NOT:   turns
// CHECK:         cl.enqueue_kernel @twice(%x, %a)
// CHECK:         cl.enqueue_kernel @twice(%a, %y)
builtin.module attributes {cl.range = #cl.range<"n", 1 to 4, ["x", "y"]>} {
  tir.func @twice(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = array<i64: 1>, global_size = array<i64: 4>, local_size = array<i64: 1>} {
    tir.for global_x %i = 0 to 4 {
      %a = memref.load %x[%i] : memref<4xf32>
      %b = arith.addf %a, %a : f32
      memref.store %b, %y[%i] : memref<4xf32>
    }
  }
  cl.program @sizes(%x: memref<4xf32> {cl.name = "x"}, %y: memref<4xf32> {cl.name = "y"}) inputs 1 {
    %a = cl.alloc : memref<4xf32>
    cl.enqueue_kernel @twice(%x, %a) : memref<4xf32>, memref<4xf32>
    cl.enqueue_kernel @twice(%a, %y) : memref<4xf32>, memref<4xf32>
    cl.return
  }
}
