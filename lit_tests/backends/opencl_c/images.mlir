// RUN: clopt %s -t opencl-c | filecheck %s
// RUN: clopt %s --target adreno-660 -t opencl-c | filecheck %s --check-prefix ADRENO

// The lanes of a texel share one read; a row outside of the image is -1 and reads zeros. What a loop
// leaves alone of a coordinate has a name outside of it, and what it multiplies is stepped along.
tir.func @columns(%x: memref<8x16x16x4xf32, #tir.scope<texture, [2]>>, %w: memref<8x3x4x4xf32, #tir.scope<texture, []>>, %y: memref<16x16x4xf32, #tir.scope<texture, [1]>>)
    attributes {outputs = array<i64: 2>, global_size = array<i64: 16, 16>} {
  tir.for global_y %h = 0 to 16 {
    tir.for global_x %w0 = 0 to 16 {
      %acc = memref.alloca() : memref<4xf32, #tir.scope<private>>
      %zero = arith.constant 0.0 : f32
      %c0 = arith.constant 0 : index
      %outside = arith.constant -1 : index
      tir.for vectorized %l = 0 to 4 {
        memref.store %zero, %acc[%l] : memref<4xf32, #tir.scope<private>>
      }
      tir.for serial %c = 0 to 8 {
        tir.for rolled %kh = 0 to 3 {
          tir.for unrolled %i = 0 to 4 {
            tir.for vectorized %l = 0 to 4 {
              %at = affine.apply affine_map<(d0, d1) -> (d0 - d1)> (%h, %kh)
              %inside = arith.cmpi sge, %at, %c0 : index
              %line = affine.apply affine_map<(d0, d1, d2) -> (d0 * 16 + d1 - d2)> (%c, %h, %kh)
              %row = arith.select %inside, %line, %outside : index
              %v = tir.texel_read %x[%w0, %row] lane %i border : memref<8x16x16x4xf32, #tir.scope<texture, [2]>> -> f32
              %tap = affine.apply affine_map<(d0, d1, d2) -> ((d0 * 3 + d1) * 4 + d2)> (%c, %kh, %i)
              %u = tir.texel_read %w[%tap] lane %l : memref<8x3x4x4xf32, #tir.scope<texture, []>> -> f32
              %p = arith.mulf %v, %u : f32
              %old = memref.load %acc[%l] : memref<4xf32, #tir.scope<private>>
              %new = arith.addf %old, %p : f32
              memref.store %new, %acc[%l] : memref<4xf32, #tir.scope<private>>
            }
          }
        }
      }
      tir.for unrolled %l = 0 to 4 {
        %r = memref.load %acc[%l] : memref<4xf32, #tir.scope<private>>
        tir.texel_write %r, %y[%w0, %h] lane %l : f32, memref<16x16x4xf32, #tir.scope<texture, [1]>>
      }
    }
  }
}

// CHECK: __kernel void columns(
// CHECK-NEXT:     __read_only image2d_t x,
// CHECK-NEXT:     __read_only image1d_buffer_t w,
// CHECK-NEXT:     __write_only image2d_t y,
// CHECK-NEXT:     const int kh_end) {
// CHECK-NEXT:     const sampler_t border = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
// CHECK-NEXT:     const int h = get_global_id(1);
// CHECK-NEXT:     const int w0 = get_global_id(0);
// CHECK-NEXT:     float4 acc = (float4)(0.0f);
// CHECK-NEXT:     for (int c = 0; c < 8; c++) {
// CHECK-NEXT:         const int row = h + c * 16;
// CHECK-NEXT:         int at = c * 12;
// CHECK-NEXT:         for (int kh = 0; kh < kh_end; kh++, at += 4) {
// CHECK-NEXT:             const float4 x0 = read_imagef(x, border, (int2)(w0, h >= kh ? row - kh : -1));
// CHECK-NEXT:             acc += x0.s0 * read_imagef(w, at);
// CHECK-NEXT:             acc += x0.s1 * read_imagef(w, at + 1);
// CHECK-NEXT:             acc += x0.s2 * read_imagef(w, at + 2);
// CHECK-NEXT:             acc += x0.s3 * read_imagef(w, at + 3);
// CHECK-NEXT:         }
// CHECK-NEXT:     }
// CHECK-NEXT:     write_imagef(y, (int2)(w0, h), acc);
// CHECK-NEXT: }

// ADRENO:     float4 acc = (float4)(0.0f);
// ADRENO-NEXT:     const float column = (float)w0 + 0.5f;
// ADRENO-NEXT:     for (int c = 0; c < 8; c++) {
// ADRENO-NEXT:         const int row = h + c * 16;
// ADRENO-NEXT:         int at = c * 12;
// ADRENO-NEXT:         for (int kh = 0; kh < kh_end; kh++, at += 4) {
// ADRENO-NEXT:             const float4 x0 = read_imagef(x, border,
// ADRENO-NEXT:                     (float2)(column, (float)(h >= kh ? row - kh : -1) + 0.5f));
// ADRENO-NEXT:             acc = mad(read_imagef(w, at), (float4)(x0.s0), acc);
// ADRENO-NEXT:             acc = mad(read_imagef(w, at + 1), (float4)(x0.s1), acc);
// ADRENO-NEXT:             acc = mad(read_imagef(w, at + 2), (float4)(x0.s2), acc);
// ADRENO-NEXT:             acc = mad(read_imagef(w, at + 3), (float4)(x0.s3), acc);
// ADRENO-NEXT:         }
// ADRENO-NEXT:     }
// ADRENO-NEXT:     write_imagef(y, (int2)(w0, h), acc);
// ADRENO-NEXT: }

// A packed buffer is an array of vectors where all accesses are to texels; a lane known at run time
// is an element. Of an image it is a choice.
tir.func @lanes(%x: memref<6x4xf32>, %b: memref<6x4xf32>, %t: memref<6x4xi8, #tir.scope<texture, []>>, %n: memref<6xi32>, %y: memref<6x4xf32>, %z: memref<6xi8>)
    attributes {outputs = array<i64: 4, 5>, global_size = array<i64: 6>} {
  tir.for global_x %i = 0 to 6 {
    %number = memref.load %n[%i] : memref<6xi32>
    %lane = arith.index_cast %number : i32 to index
    %s = tir.texel_read %x[%i] lane %lane : memref<6x4xf32> -> f32
    %before = affine.apply affine_map<(d0) -> (d0 - 1)> (%i)
    %k = tir.texel_read %t[%before] lane %lane border : memref<6x4xi8, #tir.scope<texture, []>> -> i8
    memref.store %k, %z[%i] : memref<6xi8>
    tir.for vectorized %l = 0 to 4 {
      %v = tir.texel_read %b[%i] lane %l : memref<6x4xf32> -> f32
      %r = arith.mulf %v, %s : f32
      tir.texel_write %r, %y[%i] lane %l : f32, memref<6x4xf32>
    }
  }
}

// CHECK: __kernel void lanes(
// CHECK-NEXT:     __global const float *restrict x,
// CHECK-NEXT:     __global const float4 *restrict b,
// CHECK-NEXT:     __read_only image1d_buffer_t t,
// CHECK-NEXT:     __global const int *restrict n,
// CHECK-NEXT:     __global float4 *restrict y,
// CHECK-NEXT:     __global char *restrict z) {
// CHECK-NEXT:     const int i = get_global_id(0);
// CHECK-NEXT:     const int number = n[i];
// CHECK-NEXT:     const int c = i >= 1;
// CHECK-NEXT:     const char4 t0 = c ? convert_char4(read_imagei(t, c ? i - 1 : 0)) : (char4)(0);
// CHECK-NEXT:     z[i] = number < 2 ? (number < 1 ? t0.s0 : t0.s1) : number < 3 ? t0.s2 : t0.s3;
// CHECK-NEXT:     y[i] = b[i] * x[i * 4 + number];
// CHECK-NEXT: }
