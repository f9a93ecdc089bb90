// RUN: clopt %s --target pocl -t opencl-c | filecheck %s
// RUN: clopt %s --target nvidia -t opencl-c | filecheck %s --check-prefix=GPU
// RUN: clopt %s --target "adreno-740 fp64=true" -t opencl-c | filecheck %s --check-prefix=SHORT

// A CPU gets a function for each width of vectors, whatever the number of its calls. A wide vector
// is one argument, since the function calls no builtin. Doubles have the builtin.
// CHECK:      // e^x by arithmetic alone.
// CHECK-NEXT: static float vector_exp(const float x) {
// CHECK:      // e^x by arithmetic alone.
// CHECK-NEXT: static float16 vector_exp16(const float16 x) {
// CHECK-NEXT:     // Beyond these ends
// CHECK-NEXT:     const float16 low = x > 89.0f ? (float16)(89.0f) : x;
// CHECK:          const int16 bits = as_int16(shifted) - 0x4b400000, half_bits = bits >> 1;
// CHECK-NOT:  static
// GPU-NOT:    static
// A GPU whose own function is long gets a shorter one.
// SHORT:      static float short_exp(const float x) {
// SHORT:          p *= as_float((as_int(shifted) << 23) + 0x3f000000);
tir.func @scalars(%x: memref<8xf32>, %d: memref<8xf64>, %y: memref<8xf32>) attributes {outputs = array<i64: 1, 2>} {
  tir.for global_x %i = 0 to 8 {
    %v = memref.load %x[%i] : memref<8xf32>
    %a = math.exp %v : f32
    %b = math.exp %a : f32
    %w = memref.load %d[%i] : memref<8xf64>
    %c = math.exp %w : f64
    memref.store %b, %y[%i] : memref<8xf32>
    memref.store %c, %d[%i] : memref<8xf64>
  }
}

// CHECK: __kernel void scalars(
// CHECK: vector_exp(vector_exp(x[i]))
// CHECK: d[i] = exp(d[i]);
// GPU:   exp(exp(x[i]))
// SHORT: short_exp(short_exp(x[i]))

tir.func @vectors(%x: memref<16xf32>, %y: memref<16xf32>) attributes {outputs = array<i64: 1>} {
  tir.for vectorized %j = 0 to 16 {
    %v = memref.load %x[%j] : memref<16xf32>
    %a = math.exp %v : f32
    memref.store %a, %y[%j] : memref<16xf32>
  }
}

// CHECK: __kernel void vectors(
// CHECK: vstore16(vector_exp16(vload16(0, x)), 0, y);
