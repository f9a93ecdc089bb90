// RUN: clopt %s -p 'tir-widen-f16-accumulators{most=8}' --split-input-file | filecheck %s

// Twelve products: six in half, then into the float beside. What reads the sum reads the float.
// CHECK-LABEL: @dot(
// CHECK:      %sum = memref.alloca() : memref<4xf16, #tir.scope<private>>
// CHECK-NEXT: %sum_total = memref.alloca() : memref<4xf32, #tir.scope<private>>
// CHECK-NEXT: tir.for vectorized %i = 0 to 4 {
// CHECK:        memref.store {{.*}}, %sum_total[%i] : memref<4xf32
// CHECK-NEXT:   memref.store {{.*}}, %sum[%i] : memref<4xf16
// CHECK:      tir.for serial %ko = 0 to 2 {
// CHECK-NEXT:   tir.for serial %ki = 0 to 6 {
// CHECK-NEXT:     %k = affine.apply affine_map<(d0, d1) -> (((d0 * 6) + d1))> (%ko, %ki)
// CHECK-NEXT:     tir.for vectorized %i_1 = 0 to 4 {
// CHECK:            memref.load %x[%k, %i_1]
// CHECK:            memref.store {{.*}}, %sum[%i_1]
// CHECK:        tir.for vectorized %i_2 = 0 to 4 {
// CHECK:          [[part:%.*]] = memref.load %sum[%i_2]
// CHECK-NEXT:     [[wide:%.*]] = arith.extf [[part]] : f16 to f32
// CHECK-NEXT:     [[total:%.*]] = memref.load %sum_total[%i_2]
// CHECK-NEXT:     [[new:%.*]] = arith.addf [[total]], [[wide]] : f32
// CHECK-NEXT:     memref.store [[new]], %sum_total[%i_2]
// CHECK-NEXT:     memref.store {{.*}}, %sum[%i_2]
// CHECK:      tir.for vectorized %i_3 = 0 to 4 {
// CHECK-NEXT:   [[s:%.*]] = memref.load %sum_total[%i_3] : memref<4xf32
// CHECK-NEXT:   memref.store [[s]], %y[%i_3] : memref<4xf32>
tir.func @dot(%x: memref<12x4xf16>, %y: memref<4xf32>) attributes {outputs = array<i64: 1>} {
  %sum = memref.alloca() : memref<4xf16, #tir.scope<private>>
  tir.for vectorized %i = 0 to 4 {
    %zero = arith.constant 0.0 : f16
    memref.store %zero, %sum[%i] : memref<4xf16, #tir.scope<private>>
  }
  tir.for serial %k = 0 to 12 {
    tir.for vectorized %i = 0 to 4 {
      %s = memref.load %sum[%i] : memref<4xf16, #tir.scope<private>>
      %v = memref.load %x[%k, %i] : memref<12x4xf16>
      %p = arith.mulf %v, %v : f16
      %t = arith.addf %s, %p : f16
      memref.store %t, %sum[%i] : memref<4xf16, #tir.scope<private>>
    }
  }
  tir.for vectorized %i = 0 to 4 {
    %s = memref.load %sum[%i] : memref<4xf16, #tir.scope<private>>
    %f = arith.extf %s : f16 to f32
    memref.store %f, %y[%i] : memref<4xf32>
  }
}

// -----

// A loop that is to stay one is not cut: every iteration passes its four products on.
// CHECK-LABEL: @rolled(
// CHECK:      tir.for rolled %kh = 0 to 5 {
// CHECK-NEXT:   tir.for unrolled %kw = 0 to 4 {
// CHECK:        }
// CHECK:        arith.extf
// CHECK:      tir.for {{.*}}
tir.func @rolled(%x: memref<5x4xf16>, %y: memref<1xf32>) attributes {outputs = array<i64: 1>} {
  %c0 = arith.constant 0 : index
  %sum = memref.alloca() : memref<1xf16, #tir.scope<private>>
  %zero = arith.constant 0.0 : f16
  memref.store %zero, %sum[%c0] : memref<1xf16, #tir.scope<private>>
  tir.for rolled %kh = 0 to 5 {
    tir.for unrolled %kw = 0 to 4 {
      %s = memref.load %sum[%c0] : memref<1xf16, #tir.scope<private>>
      %v = memref.load %x[%kh, %kw] : memref<5x4xf16>
      %t = arith.addf %s, %v : f16
      memref.store %t, %sum[%c0] : memref<1xf16, #tir.scope<private>>
    }
  }
  tir.for serial %i = 0 to 1 {
    %s = memref.load %sum[%c0] : memref<1xf16, #tir.scope<private>>
    %f = arith.extf %s : f16 to f32
    memref.store %f, %y[%c0] : memref<1xf32>
  }
}

// -----

// Eight products are few.
// CHECK-LABEL: @short(
// CHECK-NOT: f32, #tir.scope<private>
tir.func @short(%x: memref<8xf16>, %y: memref<1xf16>) attributes {outputs = array<i64: 1>} {
  %c0 = arith.constant 0 : index
  %sum = memref.alloca() : memref<1xf16, #tir.scope<private>>
  %zero = arith.constant 0.0 : f16
  memref.store %zero, %sum[%c0] : memref<1xf16, #tir.scope<private>>
  tir.for serial %k = 0 to 8 {
    %s = memref.load %sum[%c0] : memref<1xf16, #tir.scope<private>>
    %v = memref.load %x[%k] : memref<8xf16>
    %t = arith.addf %s, %v : f16
    memref.store %t, %sum[%c0] : memref<1xf16, #tir.scope<private>>
  }
  %r = memref.load %sum[%c0] : memref<1xf16, #tir.scope<private>>
  memref.store %r, %y[%c0] : memref<1xf16>
}

// -----

// What does not start at zero, or adds to another element than it read, is no such sum.
// CHECK-LABEL: @others(
// CHECK-NOT: memref<{{.*}}xf32
// CHECK:     tir.for serial %k = 0 to 12
tir.func @others(%x: memref<12xf16>, %y: memref<1xf16>) attributes {outputs = array<i64: 1>} {
  %c0 = arith.constant 0 : index
  %sum = memref.alloca() : memref<1xf16, #tir.scope<private>>
  %row = memref.alloca() : memref<13xf16, #tir.scope<private>>
  %one = arith.constant 1.0 : f16
  %zero = arith.constant 0.0 : f16
  memref.store %one, %sum[%c0] : memref<1xf16, #tir.scope<private>>
  memref.store %zero, %row[%c0] : memref<13xf16, #tir.scope<private>>
  tir.for serial %k = 0 to 12 {
    %v = memref.load %x[%k] : memref<12xf16>
    %s = memref.load %sum[%c0] : memref<1xf16, #tir.scope<private>>
    %t = arith.addf %s, %v : f16
    memref.store %t, %sum[%c0] : memref<1xf16, #tir.scope<private>>
    %next = affine.apply affine_map<(d0) -> (d0 + 1)> (%k)
    %r = memref.load %row[%k] : memref<13xf16, #tir.scope<private>>
    %u = arith.addf %r, %v : f16
    memref.store %u, %row[%next] : memref<13xf16, #tir.scope<private>>
  }
  %s = memref.load %sum[%c0] : memref<1xf16, #tir.scope<private>>
  memref.store %s, %y[%c0] : memref<1xf16>
}

// -----

// On devices that add up sums in half, too, 36 products make one; two of them are few.
// CHECK-LABEL: @halves(
// CHECK:      %sum = memref.alloca() : memref<1xf16, #tir.scope<private>>
// CHECK-NEXT: %sum_total = memref.alloca() : memref<1xf16, #tir.scope<private>>
// CHECK:      tir.for rolled %ko = 0 to 2 {
// CHECK-NEXT:   tir.for rolled %ki = 0 to 36 {
// CHECK:          memref.store {{.*}}, %sum[%c0]
// CHECK-NEXT:   }
// CHECK-NEXT:   [[part:%.*]] = memref.load %sum[%c0]
// CHECK-NEXT:   [[total:%.*]] = memref.load %sum_total[%c0]
// CHECK-NEXT:   [[new:%.*]] = arith.addf [[total]], [[part]] : f16
// CHECK-NEXT:   memref.store [[new]], %sum_total[%c0]
// CHECK:      [[s:%.*]] = memref.load %sum_total[%c0]
// CHECK-NEXT: memref.store [[s]], %y[%c0] : memref<1xf16>
//
// 80 such sums are many: a float takes them.
// CHECK-LABEL: @many(
// CHECK:      %sum_total = memref.alloca() : memref<1xf32, #tir.scope<private>>
builtin.module attributes {cl.target = #cl.target<"phone", {fp16 = true, half_totals = true}>} {
  tir.func @halves(%x: memref<72xf16>, %y: memref<1xf16>) attributes {outputs = array<i64: 1>} {
    %c0 = arith.constant 0 : index
    %sum = memref.alloca() : memref<1xf16, #tir.scope<private>>
    %zero = arith.constant 0.0 : f16
    memref.store %zero, %sum[%c0] : memref<1xf16, #tir.scope<private>>
    tir.for rolled %k = 0 to 72 {
      %s = memref.load %sum[%c0] : memref<1xf16, #tir.scope<private>>
      %v = memref.load %x[%k] : memref<72xf16>
      %t = arith.addf %s, %v : f16
      memref.store %t, %sum[%c0] : memref<1xf16, #tir.scope<private>>
    }
    %s = memref.load %sum[%c0] : memref<1xf16, #tir.scope<private>>
    memref.store %s, %y[%c0] : memref<1xf16>
  }
  tir.func @many(%x: memref<2880xf16>, %y: memref<1xf16>) attributes {outputs = array<i64: 1>} {
    %c0 = arith.constant 0 : index
    %sum = memref.alloca() : memref<1xf16, #tir.scope<private>>
    %zero = arith.constant 0.0 : f16
    memref.store %zero, %sum[%c0] : memref<1xf16, #tir.scope<private>>
    tir.for serial %k = 0 to 2880 {
      %s = memref.load %sum[%c0] : memref<1xf16, #tir.scope<private>>
      %v = memref.load %x[%k] : memref<2880xf16>
      %t = arith.addf %s, %v : f16
      memref.store %t, %sum[%c0] : memref<1xf16, #tir.scope<private>>
    }
    %s = memref.load %sum[%c0] : memref<1xf16, #tir.scope<private>>
    memref.store %s, %y[%c0] : memref<1xf16>
  }
}
