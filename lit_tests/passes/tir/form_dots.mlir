// RUN: clopt %s --target "pocl vector_width=16 dot_product=plain" -p tir-form-dots | filecheck %s
// RUN: clopt %s --target "pocl vector_width=16 dot_product=plain" -p tir-form-dots -t opencl-c | filecheck %s --check-prefix SOURCE
// RUN: clopt %s --target "pocl vector_width=16 dot_product=asm" -p tir-form-dots -t opencl-c | filecheck %s --check-prefix ASM
// RUN: clopt %s --target "intel-cpu vector_width=16 dot_product=intrinsic" -p tir-form-dots -t opencl-c | filecheck %s --check-prefix INTRINSIC
// RUN: clopt %s --target nvidia -p tir-form-dots -t opencl-c | filecheck %s --check-prefix PTX
// RUN: clopt %s --target "adreno-740 texture=prefer dot_product=khr" -p tir-form-dots -t opencl-c | filecheck %s --check-prefix KHR
// RUN: clopt %s --target pocl -p tir-form-dots | filecheck %s --check-prefix OFF

// OFF-NOT: tir.dot

// Four terms of x are neighbours, and four for each lane of w.
// CHECK-LABEL: @dots(
// CHECK:      tir.for serial %k
// CHECK-NEXT: tir.for vectorized %[[LANE:.*]] = 0 to 16 {
// CHECK-NEXT:   %[[FIRST:.*]] = arith.constant 0 : index
// CHECK:        %[[AT:.*]] = affine.apply affine_map<(d0, d1) -> (((d0 * 4) + d1))> (%k, %[[FIRST]])
// CHECK-NEXT:   %[[A:.*]] = tir.load_quad %x[%[[AT]]] : memref<8xi8>
// CHECK-NEXT:   %[[B:.*]] = tir.load_quad %w[%k, %[[LANE]], %[[FIRST]]] : memref<2x16x4xi8>
// CHECK-NEXT:   %[[BEFORE:.*]] = memref.load %sum[%[[LANE]]]
// CHECK-NEXT:   %[[AFTER:.*]] = tir.dot %[[BEFORE]], %[[A]], %[[B]]
// CHECK-NEXT:   memref.store %[[AFTER]], %sum[%[[LANE]]]
// SOURCE: dot_bytes16(const int16 sum, const int16 a, const int16 b)
// SOURCE: const int16 w0 = vload16(0, (__global const int *)(w + k * 64));
// SOURCE-NEXT: sum = dot_bytes16(sum, (int16)(*(__global const int *)(x + k * 4)), w0);
// ASM: static int16 vpdpbusd16(int16 sum, const int16 a, const int16 b) {
// ASM: __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
// INTRINSIC: __asm("llvm.x86.avx512.vpdpbusd.512");
tir.func @dots(%x: memref<8xi8>, %w: memref<2x16x4xi8>, %y: memref<16xi32>) attributes {outputs = array<i64: 2>, global_size = array<i64: 1>} {
  %sum = memref.alloca() : memref<16xi32, #tir.scope<private>>
  tir.for vectorized %lane = 0 to 16 {
    %zero = arith.constant 0 : i32
    memref.store %zero, %sum[%lane] : memref<16xi32, #tir.scope<private>>
  }
  tir.for serial %k = 0 to 2 {
    tir.for vectorized %lane = 0 to 16 {
      tir.for unrolled %q = 0 to 4 {
        %at = affine.apply affine_map<(d0, d1) -> (d0 * 4 + d1)> (%k, %q)
        %0 = memref.load %x[%at] : memref<8xi8>
        %1 = memref.load %w[%k, %lane, %q] : memref<2x16x4xi8>
        %2 = arith.extui %0 : i8 to i32
        %3 = arith.extsi %1 : i8 to i32
        %4 = arith.muli %2, %3 : i32
        %5 = memref.load %sum[%lane] : memref<16xi32, #tir.scope<private>>
        %6 = arith.addi %5, %4 : i32
        memref.store %6, %sum[%lane] : memref<16xi32, #tir.scope<private>>
      }
    }
  }
  tir.for vectorized %lane = 0 to 16 {
    %total = memref.load %sum[%lane] : memref<16xi32, #tir.scope<private>>
    memref.store %total, %y[%lane] : memref<16xi32>
  }
}

// Both factors signed, and an operand whose first byte is no multiple of four: both loops stay.
// CHECK-LABEL: @others(
// CHECK-NOT: tir.dot
tir.func @others(%x: memref<8xi8>, %w: memref<8xi8>, %y: memref<2xi32>) attributes {outputs = array<i64: 2>, global_size = array<i64: 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tir.for unrolled %q = 0 to 4 {
    %0 = memref.load %x[%q] : memref<8xi8>
    %1 = memref.load %w[%q] : memref<8xi8>
    %2 = arith.extsi %0 : i8 to i32
    %3 = arith.extsi %1 : i8 to i32
    %4 = arith.muli %2, %3 : i32
    %5 = memref.load %y[%c0] : memref<2xi32>
    %6 = arith.addi %5, %4 : i32
    memref.store %6, %y[%c0] : memref<2xi32>
  }
  tir.for unrolled %q = 0 to 4 {
    %at = affine.apply affine_map<(d0) -> (d0 + 1)> (%q)
    %0 = memref.load %x[%at] : memref<8xi8>
    %1 = memref.load %w[%q] : memref<8xi8>
    %2 = arith.extui %0 : i8 to i32
    %3 = arith.extsi %1 : i8 to i32
    %4 = arith.muli %2, %3 : i32
    %5 = memref.load %y[%c1] : memref<2xi32>
    %6 = arith.addi %5, %4 : i32
    memref.store %6, %y[%c1] : memref<2xi32>
  }
}

// The four bytes of x lie together in a border: a texel of them is read, or zero.
// CHECK-LABEL: @border(
// CHECK:      tir.for vectorized %[[LANE:.*]] = 0 to 4 {
// CHECK:        %[[INSIDE:.*]] = arith.cmpi sge, %h
// CHECK:        %[[A:.*]] = scf.if %[[INSIDE]] -> (i32) {
// CHECK-NEXT:     %[[QUAD:.*]] = tir.load_quad %x[
// CHECK-NEXT:     scf.yield %[[QUAD]] : i32
// CHECK-NEXT:   } else {
// CHECK-NEXT:     %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK-NEXT:     scf.yield %[[ZERO]] : i32
// CHECK:        tir.dot %{{.*}}, %[[A]], %{{.*}}
// PTX: static int4 dp4a4(const int4 sum, const int4 a, const int4 b) {
// PTX-NEXT: int s0 = sum.s0;
// PTX-NEXT: asm volatile("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(s0) : "r"(a.s0), "r"(b.s0));
// PTX: return (int4)(s0, s1, s2, s3);
// PTX: __kernel void border(
// PTX: const int4 w0 = *(__global const int4 *)(w);
// PTX: const int x0 = *(__global const int *)(x + (inside ? at - 4 : 0));
// PTX-NEXT: sum = dp4a4(sum, (int4)(inside ? x0 : 0), w0);
// KHR: #pragma OPENCL EXTENSION cl_khr_integer_dot_product : enable
// KHR: const int s0 = sum.s0 + dot_4x8packed_us_int(as_uint(a.s0), as_uint(b.s0));
tir.func @border(%x: memref<2x4xi8>, %w: memref<4x4xi8>, %y: memref<4xi32>) attributes {outputs = array<i64: 2>, global_size = array<i64: 1>} {
  %sum = memref.alloca() : memref<4xi32, #tir.scope<private>>
  tir.for vectorized %lane = 0 to 4 {
    %zero = arith.constant 0 : i32
    memref.store %zero, %sum[%lane] : memref<4xi32, #tir.scope<private>>
  }
  tir.for serial %h = 0 to 3 {
    tir.for vectorized %lane = 0 to 4 {
      tir.for unrolled %q = 0 to 4 {
        %one = arith.constant 1 : index
        %inside = arith.cmpi sge, %h, %one : index
        %0 = scf.if %inside -> (i8) {
          %at = affine.apply affine_map<(d0) -> (d0 - 1)> (%h)
          %a = memref.load %x[%at, %q] : memref<2x4xi8>
          scf.yield %a : i8
        } else {
          %b = arith.constant 0 : i8
          scf.yield %b : i8
        }
        %1 = memref.load %w[%lane, %q] : memref<4x4xi8>
        %2 = arith.extui %0 : i8 to i32
        %3 = arith.extsi %1 : i8 to i32
        %4 = arith.muli %2, %3 : i32
        %5 = memref.load %sum[%lane] : memref<4xi32, #tir.scope<private>>
        %6 = arith.addi %5, %4 : i32
        memref.store %6, %sum[%lane] : memref<4xi32, #tir.scope<private>>
      }
    }
  }
  tir.for vectorized %lane = 0 to 4 {
    %total = memref.load %sum[%lane] : memref<4xi32, #tir.scope<private>>
    memref.store %total, %y[%lane] : memref<4xi32>
  }
}

// A border within the four bytes, and one that gives another number than zero: the loops stay.
// CHECK-LABEL: @other_borders(
// CHECK-NOT: tir.dot
tir.func @other_borders(%x: memref<8xi8>, %w: memref<4xi8>, %y: memref<2xi32>) attributes {outputs = array<i64: 2>, global_size = array<i64: 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tir.for unrolled %q = 0 to 4 {
    %inside = arith.cmpi sge, %q, %c1 : index
    %0 = scf.if %inside -> (i8) {
      %a = memref.load %x[%q] : memref<8xi8>
      scf.yield %a : i8
    } else {
      %b = arith.constant 0 : i8
      scf.yield %b : i8
    }
    %1 = memref.load %w[%q] : memref<4xi8>
    %2 = arith.extui %0 : i8 to i32
    %3 = arith.extsi %1 : i8 to i32
    %4 = arith.muli %2, %3 : i32
    %5 = memref.load %y[%c0] : memref<2xi32>
    %6 = arith.addi %5, %4 : i32
    memref.store %6, %y[%c0] : memref<2xi32>
  }
  tir.for serial %h = 0 to 2 {
    tir.for unrolled %q = 0 to 4 {
      %inside = arith.cmpi sge, %h, %c1 : index
      %0 = scf.if %inside -> (i8) {
        %a = memref.load %x[%q] : memref<8xi8>
        scf.yield %a : i8
      } else {
        %b = arith.constant 7 : i8
        scf.yield %b : i8
      }
      %1 = memref.load %w[%q] : memref<4xi8>
      %2 = arith.extui %0 : i8 to i32
      %3 = arith.extsi %1 : i8 to i32
      %4 = arith.muli %2, %3 : i32
      %5 = memref.load %y[%c1] : memref<2xi32>
      %6 = arith.addi %5, %4 : i32
      memref.store %6, %y[%c1] : memref<2xi32>
    }
  }
}
