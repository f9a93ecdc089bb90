// RUN: clopt %s --target "pocl vector_width=16 dot_product=plain" -p tir-form-dots | filecheck %s
// RUN: clopt %s --target "pocl vector_width=16 dot_product=plain" -p tir-form-dots -t opencl-c | filecheck %s --check-prefix SOURCE
// RUN: clopt %s --target "pocl vector_width=16 dot_product=asm" -p tir-form-dots -t opencl-c | filecheck %s --check-prefix ASM
// RUN: clopt %s --target "intel-cpu vector_width=16 dot_product=intrinsic" -p tir-form-dots -t opencl-c | filecheck %s --check-prefix INTRINSIC
// RUN: clopt %s --target pocl -p tir-form-dots | filecheck %s --check-prefix OFF

// OFF-NOT: tir.dot

// Four terms of x are neighbours, and four for each lane of w.
// CHECK-LABEL: @dots(
// CHECK:      tir.for serial %k
// CHECK-NEXT: tir.for vectorized %[[LANE:.*]] = 0 to 16 {
// CHECK-NEXT:   %[[FIRST:.*]] = arith.constant 0 : index
// CHECK:        %[[AT:.*]] = affine.apply affine_map<(d0, d1) -> (((d0 * 4) + d1))> (%k, %[[FIRST]])
// CHECK:        %[[BEFORE:.*]] = memref.load %sum[%[[LANE]]]
// CHECK-NEXT:   %[[AFTER:.*]] = tir.dot %[[BEFORE]], %x[%[[AT]]], %w[%k, %[[LANE]], %[[FIRST]]] : memref<8xi8>, memref<2x16x4xi8>
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
