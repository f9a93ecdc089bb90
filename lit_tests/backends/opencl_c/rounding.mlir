// RUN: clopt %s --target 'generic-gpu builtins=true' -t opencl-c | filecheck %s
// RUN: clopt %s --target 'generic-gpu correctly_rounded_division=true' -t opencl-c | filecheck %s --check-prefix=OPTION

// A device that does not round correctly gets functions that correct its results, for each width.
// CHECK: // a / b, rounded correctly.
// CHECK-NEXT: static float rounded_divide(const float a, const float b) {
// CHECK: }
// CHECK-EMPTY:
// CHECK-NEXT: // a / b, rounded correctly.
// CHECK-NEXT: static float4 rounded_divide4(const float4 a, const float4 b) {
// CHECK: // The square root, rounded correctly.
// CHECK-NEXT: static float8 rounded_sqrt8(const float8 x) {
// CHECK-NOT: static

// OPTION-NOT: static

// Fast-math flags leave the last bits to the device, and a quotient by a power of two is a product.
tir.func @scalars(%x: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = array<i64: 1>} {
  tir.for global_x %i = 0 to 8 {
    %v = memref.load %x[%i] : memref<8xf32>
    %three = arith.constant 3.0 : f32
    %quarter = arith.constant -0.25 : f32
    %a = arith.divf %v, %three : f32
    %b = arith.divf %a, %quarter : f32
    %c = arith.divf %b, %three fastmath<arcp> : f32
    %d = math.sqrt %c fastmath<afn> : f32
    memref.store %d, %y[%i] : memref<8xf32>
  }
}

// CHECK: __kernel void scalars({{.*}}) {
// CHECK-NEXT: const int i = get_global_id(0);
// CHECK-NEXT: y[i] = sqrt(rounded_divide(x[i], 3.0f) * -4.0f / 3.0f);
// OPTION: __kernel void scalars({{.*}}) {
// OPTION-NEXT: // Build with -cl-fp32-correctly-rounded-divide-sqrt where the device takes it.
// OPTION-NEXT: const int i = get_global_id(0);
// OPTION-NEXT: y[i] = sqrt(x[i] / 3.0f / -0.25f / 3.0f);

// A wide vector is divided in two parts, as builtins are called.
tir.func @vectors(%x: memref<16xf32>, %s: memref<4xf32>, %y: memref<16xf32>)
    attributes {outputs = array<i64: 2>} {
  tir.for vectorized %j = 0 to 16 {
    %v = memref.load %x[%j] : memref<16xf32>
    %r = math.sqrt %v : f32
    memref.store %r, %y[%j] : memref<16xf32>
  }
  tir.for vectorized %j = 0 to 4 {
    %one = arith.constant 1.0 : f32
    %v = memref.load %s[%j] : memref<4xf32>
    %q = arith.divf %one, %v : f32
    memref.store %q, %y[%j] : memref<16xf32>
  }
}

// CHECK: const float16 v = vload16(0, x);
// CHECK-NEXT: vstore16((float16)(rounded_sqrt8(v.lo), rounded_sqrt8(v.hi)), 0, y);
// CHECK-NEXT: vstore4(rounded_divide4((float4)(1.0f), vload4(0, s)), 0, y);

// A softmax or a norm has no operation that asks for correct rounding.
tir.func @smooth(%x: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = array<i64: 1>} {
  tir.for global_x %i = 0 to 8 {
    %v = memref.load %x[%i] : memref<8xf32>
    %q = arith.divf %v, %v fastmath<arcp> : f32
    memref.store %q, %y[%i] : memref<8xf32>
  }
}

// CHECK: __kernel void smooth(
// CHECK-NOT: rounded
// OPTION: __kernel void smooth(
// OPTION-NOT: Build with
