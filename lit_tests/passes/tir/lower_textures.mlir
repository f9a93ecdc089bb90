// RUN: clopt %s -p tir-lower-textures --split-input-file --verify-diagnostics | filecheck %s

// A border of zeros: what x says is left to the sampler; y is merged of channel blocks and rows, so
// the test of the row chooses it. Nothing of that depends on the column.
// CHECK-LABEL: @border(
// CHECK:             %[[h:.*]] = affine.apply affine_map<(d0, d1) -> (((d0 + d1) + -1))> (%h, %kh)
// CHECK-NEXT:        %[[c8:.*]] = arith.constant 8 : index
// CHECK-NEXT:        %[[above:.*]] = arith.cmpi sge, %[[h]], %c0 : index
// CHECK-NEXT:        %[[below:.*]] = arith.cmpi slt, %[[h]], %[[c8]] : index
// CHECK-NEXT:        %[[x:.*]] = affine.apply affine_map<(d0, d1) -> (((d0 + d1) + -1))> (%w, %kw)
// CHECK-NEXT:        %[[y:.*]] = affine.apply affine_map<(d0, d1, d2) -> (((((d1 * 8) + d0) + d2) + -1))> (%h, %c, %kh)
// CHECK-NEXT:        %[[row:.*]] = arith.andi %[[above]], %[[below]] : i1
// CHECK-NEXT:        %[[out:.*]] = arith.constant -1 : index
// CHECK-NEXT:        %[[in:.*]] = arith.select %[[row]], %[[y]], %[[out]] : index
// CHECK-NEXT:        %v = tir.texel_read %x[%[[x]], %[[in]]] lane %l border : memref<1x2x8x9x4xf32, #tir.scope<texture, [3]>> -> f32
// CHECK-NEXT:        %[[to:.*]] = affine.apply affine_map<(d0, d1) -> (((d1 * 8) + d0))> (%h, %c)
// CHECK-NEXT:        tir.texel_write %v, %y[%w, %[[to]]] lane %l : f32, memref<1x2x8x9x4xf32, #tir.scope<texture, [3]>>
tir.func @border(%x: memref<1x2x8x9x4xf32, #tir.scope<texture, [3]>>, %y: memref<1x2x8x9x4xf32, #tir.scope<texture, [3]>>) attributes {outputs = array<i64: 1>} {
  %c0 = arith.constant 0 : index
  tir.for global_x %w = 0 to 9 {
    tir.for global_y %h = 0 to 8 {
      tir.for global_z %c = 0 to 2 {
        tir.for serial %kh = 0 to 3 {
          tir.for unrolled %kw = 0 to 3 {
            tir.for vectorized %l = 0 to 4 {
              %i = affine.apply affine_map<(d0, d1) -> (d0 + d1 - 1)> (%h, %kh)
              %j = affine.apply affine_map<(d0, d1) -> (d0 + d1 - 1)> (%w, %kw)
              %c8 = arith.constant 8 : index
              %c9 = arith.constant 9 : index
              %above = arith.cmpi sge, %i, %c0 : index
              %below = arith.cmpi slt, %i, %c8 : index
              %a = arith.andi %above, %below : i1
              %right = arith.cmpi sge, %j, %c0 : index
              %b = arith.andi %a, %right : i1
              %left = arith.cmpi slt, %j, %c9 : index
              %inside = arith.andi %b, %left : i1
              %v = scf.if %inside -> (f32) {
                %e = memref.load %x[%c0, %c, %i, %j, %l] : memref<1x2x8x9x4xf32, #tir.scope<texture, [3]>>
                scf.yield %e : f32
              } else {
                %z = arith.constant 0.0 : f32
                scf.yield %z : f32
              }
              memref.store %v, %y[%c0, %c, %h, %w, %l] : memref<1x2x8x9x4xf32, #tir.scope<texture, [3]>>
            }
          }
        }
      }
    }
  }
}

// -----

// Where row and column are coordinates of their own, nothing is asked. Halves are widened as before.
// CHECK-LABEL: @own_coordinates(
// CHECK-NOT:     arith.cmpi
// CHECK:         %[[y:.*]] = affine.apply affine_map<(d0) -> ((d0 + -1))> (%h)
// CHECK-NEXT:    %[[half:.*]] = tir.texel_read %x[%w, %[[y]], %c] lane %l border : memref<2x8x9x4xf16, #tir.scope<texture, [1, 2]>> -> f16
// CHECK-NEXT:    %v = arith.extf %[[half]] : f16 to f32
// CHECK-NEXT:    tir.texel_write %v, %y[%w, %h, %c] lane %l
tir.func @own_coordinates(%x: memref<2x8x9x4xf16, #tir.scope<texture, [1, 2]>>, %y: memref<2x8x9x4xf32, #tir.scope<texture, [1, 2]>>) attributes {outputs = array<i64: 1>} {
  tir.for global_x %w = 0 to 9 {
    tir.for global_y %h = 0 to 8 {
      tir.for global_z %c = 0 to 2 {
        tir.for vectorized %l = 0 to 4 {
          %c0 = arith.constant 0 : index
          %i = affine.apply affine_map<(d0) -> (d0 - 1)> (%h)
          %inside = arith.cmpi sge, %i, %c0 : index
          %v = scf.if %inside -> (f32) {
            %e = memref.load %x[%c, %i, %w, %l] : memref<2x8x9x4xf16, #tir.scope<texture, [1, 2]>>
            %f = arith.extf %e : f16 to f32
            scf.yield %f : f32
          } else {
            %z = arith.constant 0.0 : f32
            scf.yield %z : f32
          }
          memref.store %v, %y[%c, %h, %w, %l] : memref<2x8x9x4xf32, #tir.scope<texture, [1, 2]>>
        }
      }
    }
  }
}

// -----

// A layer has no border: one of the array is read, and the row says that it does not count.
// CHECK-LABEL: @layers(
// CHECK:         %[[layer:.*]] = affine.apply affine_map<(d0) -> ((d0 + -1))> (%c)
// CHECK:         %[[inside:.*]] = arith.cmpi sge, %[[layer]], %c0 : index
// CHECK-NEXT:    %[[there:.*]] = arith.select %[[inside]], %[[layer]], %c0 : index
// CHECK-NEXT:    %[[out:.*]] = arith.constant -1 : index
// CHECK-NEXT:    %[[y:.*]] = arith.select %[[inside]], %h, %[[out]] : index
// CHECK-NEXT:    %v = tir.texel_read %x[%w, %[[y]], %[[there]]] lane %l border
tir.func @layers(%x: memref<2x8x9x4xf32, #tir.scope<texture, [1, 2]>>, %y: memref<2x8x9x4xf32, #tir.scope<texture, [1, 2]>>) attributes {outputs = array<i64: 1>} {
  tir.for global_x %w = 0 to 9 {
    tir.for global_y %h = 0 to 8 {
      tir.for global_z %c = 0 to 2 {
        tir.for vectorized %l = 0 to 4 {
          %c0 = arith.constant 0 : index
          %i = affine.apply affine_map<(d0) -> (d0 - 1)> (%c)
          %inside = arith.cmpi sge, %i, %c0 : index
          %v = scf.if %inside -> (f32) {
            %e = memref.load %x[%i, %h, %w, %l] : memref<2x8x9x4xf32, #tir.scope<texture, [1, 2]>>
            scf.yield %e : f32
          } else {
            %z = arith.constant 0.0 : f32
            scf.yield %z : f32
          }
          memref.store %v, %y[%c, %h, %w, %l] : memref<2x8x9x4xf32, #tir.scope<texture, [1, 2]>>
        }
      }
    }
  }
}

// -----

// A border of anything else is chosen after the read.
// CHECK-LABEL: @lowest(
// CHECK:         %[[inside:.*]] = arith.cmpi sge
// CHECK-NEXT:    %[[lowest:.*]] = arith.constant 0xff800000 : f32
// CHECK-NEXT:    %[[e:.*]] = tir.texel_read %x[%i, %h] lane %l border
// CHECK-NEXT:    %v = arith.select %[[inside]], %[[e]], %[[lowest]] : f32
tir.func @lowest(%x: memref<8x9x4xf32, #tir.scope<texture, [1]>>, %y: memref<8x9x4xf32, #tir.scope<texture, [1]>>) attributes {outputs = array<i64: 1>} {
  tir.for global_x %w = 0 to 9 {
    tir.for global_y %h = 0 to 8 {
      tir.for vectorized %l = 0 to 4 {
        %c0 = arith.constant 0 : index
        %i = affine.apply affine_map<(d0) -> (d0 - 1)> (%w)
        %inside = arith.cmpi sge, %i, %c0 : index
        %v = scf.if %inside -> (f32) {
          %e = memref.load %x[%h, %i, %l] : memref<8x9x4xf32, #tir.scope<texture, [1]>>
          scf.yield %e : f32
        } else {
          %z = arith.constant 0xFF800000 : f32
          scf.yield %z : f32
        }
        memref.store %v, %y[%h, %w, %l] : memref<8x9x4xf32, #tir.scope<texture, [1]>>
      }
    }
  }
}

// -----

// An image1d_buffer has no sampler, so no border: some texel is read.
// CHECK-LABEL: @one_dimension(
// CHECK:         %[[inside:.*]] = arith.cmpi sge, %i, %c0 : index
// CHECK-NEXT:    %[[zero:.*]] = arith.constant 0 : i32
// CHECK-NEXT:    %[[at:.*]] = arith.select %[[inside]], %i, %c0 : index
// CHECK-NEXT:    %[[e:.*]] = tir.texel_read %x[%[[at]]] lane %l : memref<9x4xi32, #tir.scope<texture, []>> -> i32
// CHECK-NEXT:    %v = arith.select %[[inside]], %[[e]], %[[zero]] : i32
tir.func @one_dimension(%x: memref<9x4xi32, #tir.scope<texture, []>>, %y: memref<9x4xi32, #tir.scope<texture, []>>) attributes {outputs = array<i64: 1>} {
  tir.for global_x %w = 0 to 9 {
    tir.for vectorized %l = 0 to 4 {
      %c0 = arith.constant 0 : index
      %i = affine.apply affine_map<(d0) -> (d0 - 1)> (%w)
      %inside = arith.cmpi sge, %i, %c0 : index
      %v = scf.if %inside -> (i32) {
        %e = memref.load %x[%i, %l] : memref<9x4xi32, #tir.scope<texture, []>>
        scf.yield %e : i32
      } else {
        %z = arith.constant 0 : i32
        scf.yield %z : i32
      }
      memref.store %v, %y[%w, %l] : memref<9x4xi32, #tir.scope<texture, []>>
    }
  }
}

// -----

// A padded grid writes under a guard, which is what proves the write.
// CHECK-LABEL: @guarded(
// CHECK:         %w = affine.apply affine_map<(d0, d1) -> (((d0 * 4) + d1))> (%wo, %wi)
// CHECK:         scf.if
// CHECK-NEXT:      tir.for vectorized %l = 0 to 4
// CHECK-NEXT:        tir.texel_write %{{.*}}, %y[%w, %c] lane %l
tir.func @guarded(%y: memref<2x13x4xf32, #tir.scope<texture, [1]>>) attributes {outputs = array<i64: 0>} {
  %v = arith.constant 1.0 : f32
  tir.for global_x %wo = 0 to 8 {
    tir.for global_y %c = 0 to 16 {
      tir.for unrolled %wi = 0 to 4 {
        %w = affine.apply affine_map<(d0, d1) -> (d0 * 4 + d1)> (%wo, %wi)
        %c2 = arith.constant 2 : index
        %c13 = arith.constant 13 : index
        %a = arith.cmpi slt, %w, %c13 : index
        %b = arith.cmpi slt, %c, %c2 : index
        %inside = arith.andi %a, %b : i1
        scf.if %inside {
          tir.for vectorized %l = 0 to 4 {
            %at = affine.apply affine_map<(d0, d1) -> (d0 * 4 + d1)> (%wo, %wi)
            memref.store %v, %y[%c, %at, %l] : memref<2x13x4xf32, #tir.scope<texture, [1]>>
          }
          scf.yield
        }
      }
    }
  }
}

// -----

// Without images, and without a target that uses textures, a last axis of 4 is no texel.
// CHECK-LABEL: @plain(
// CHECK:         memref.load
// CHECK-NEXT:    memref.store
tir.func @plain(%x: memref<9x4xf32>, %y: memref<9x4xf32>) attributes {outputs = array<i64: 1>} {
  tir.for global_x %w = 0 to 9 {
    tir.for vectorized %l = 0 to 4 {
      %v = memref.load %x[%w, %l] : memref<9x4xf32>
      memref.store %v, %y[%w, %l] : memref<9x4xf32>
    }
  }
}

// -----

// A packed buffer: its one coordinate counts texels. The scalar load is none of a texel.
// CHECK-LABEL: @packed(
// CHECK:         %[[inside:.*]] = arith.cmpi slt, %i,
// CHECK-NEXT:    %[[zero:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:    %[[texel:.*]] = affine.apply affine_map<(d0, d1) -> ((((d1 * 9) + d0) + 1))> (%w, %h)
// CHECK-NEXT:    %[[first:.*]] = arith.constant 0 : index
// CHECK-NEXT:    %[[at:.*]] = arith.select %[[inside]], %[[texel]], %[[first]] : index
// CHECK-NEXT:    %[[e:.*]] = tir.texel_read %x[%[[at]]] lane %l : memref<8x9x4xf32> -> f32
// CHECK-NEXT:    %v = arith.select %[[inside]], %[[e]], %[[zero]] : f32
// CHECK-NEXT:    %b = memref.load %bias[%h, %c3] : memref<8x4xf32>
// CHECK:         tir.texel_write %{{.*}}, %y[%{{.*}}] lane %l : f32, memref<8x9x4xf32>
module attributes {cl.target = #cl.target<"phone", {images = true, texture = "prefer"}>} {
  tir.func @packed(%x: memref<8x9x4xf32>, %bias: memref<8x4xf32>, %y: memref<8x9x4xf32>) attributes {outputs = array<i64: 2>} {
    %c3 = arith.constant 3 : index
    tir.for global_x %w = 0 to 9 {
      tir.for global_y %h = 0 to 8 {
        tir.for vectorized %l = 0 to 4 {
          %c9 = arith.constant 9 : index
          %i = affine.apply affine_map<(d0) -> (d0 + 1)> (%w)
          %inside = arith.cmpi slt, %i, %c9 : index
          %v = scf.if %inside -> (f32) {
            %e = memref.load %x[%h, %i, %l] : memref<8x9x4xf32>
            scf.yield %e : f32
          } else {
            %z = arith.constant 0.0 : f32
            scf.yield %z : f32
          }
          %b = memref.load %bias[%h, %c3] : memref<8x4xf32>
          %s = arith.addf %v, %b : f32
          memref.store %s, %y[%h, %w, %l] : memref<8x9x4xf32>
        }
      }
    }
  }
}

// -----

// expected-error@unknown {{@beyond (the node): cannot read the texture x, whose coordinate x cannot be proved to be below 9 (it may be 1 to 9); give the value another layout, or compile for a target with texture = "off"}}
tir.func @beyond(%x: memref<9x4xf32, #tir.scope<texture, []>>, %y: memref<9x4xf32, #tir.scope<texture, []>>) attributes {outputs = array<i64: 1>, comment = "the node"} {
  tir.for global_x %w = 0 to 9 {
    tir.for vectorized %l = 0 to 4 {
      %i = affine.apply affine_map<(d0) -> (d0 + 1)> (%w)
      %v = memref.load %x[%i, %l] : memref<9x4xf32, #tir.scope<texture, []>>
      memref.store %v, %y[%w, %l] : memref<9x4xf32, #tir.scope<texture, []>>
    }
  }
}

// -----

// expected-error@unknown {{@unguarded: cannot write the texture y, whose coordinate y cannot be proved to be below 2 (it may be 0 to 15)}}
tir.func @unguarded(%y: memref<2x13x4xf32, #tir.scope<texture, [1]>>) attributes {outputs = array<i64: 0>} {
  %v = arith.constant 1.0 : f32
  tir.for global_x %w = 0 to 13 {
    tir.for global_y %c = 0 to 16 {
      tir.for vectorized %l = 0 to 4 {
        memref.store %v, %y[%c, %w, %l] : memref<2x13x4xf32, #tir.scope<texture, [1]>>
      }
    }
  }
}

// -----

// expected-error@unknown {{@lane: cannot write the texture y, whose texels are not fully written by one loop of 4 lanes}}
tir.func @lane(%y: memref<13x4xf32, #tir.scope<texture, []>>) attributes {outputs = array<i64: 0>} {
  %v = arith.constant 1.0 : f32
  %c3 = arith.constant 3 : index
  tir.for global_x %w = 0 to 13 {
    tir.for vectorized %l = 0 to 4 {
      %inside = arith.cmpi slt, %l, %c3 : index
      scf.if %inside {
        memref.store %v, %y[%w, %l] : memref<13x4xf32, #tir.scope<texture, []>>
        scf.yield
      }
    }
  }
}

// -----

// expected-error@unknown {{@both reads and writes the texture y, but an image of OpenCL C 1.2 is either read or written by a kernel}}
tir.func @both(%y: memref<13x4xf32, #tir.scope<texture, []>>) attributes {outputs = array<i64: 0>} {
  tir.for global_x %w = 0 to 13 {
    tir.for vectorized %l = 0 to 4 {
      %v = memref.load %y[%w, %l] : memref<13x4xf32, #tir.scope<texture, []>>
      memref.store %v, %y[%w, %l] : memref<13x4xf32, #tir.scope<texture, []>>
    }
  }
}

// -----

// What cannot be proved to lie inside of an image with a sampler is read with it.
// CHECK-LABEL: tir.func @sampled
// CHECK: tir.texel_read %x[{{.*}}] lane %{{.*}} border
tir.func @sampled(%x: memref<2x9x4xf32, #tir.scope<texture, [1]>>, %y: memref<2x9x4xf32, #tir.scope<texture, [1]>>) attributes {outputs = array<i64: 1>} {
  tir.for global_y %h = 0 to 2 {
    tir.for global_x %w = 0 to 9 {
      tir.for vectorized %l = 0 to 4 {
        %i = affine.apply affine_map<(d0) -> (d0 + 1)> (%w)
        %v = memref.load %x[%h, %i, %l] : memref<2x9x4xf32, #tir.scope<texture, [1]>>
        memref.store %v, %y[%h, %w, %l] : memref<2x9x4xf32, #tir.scope<texture, [1]>>
      }
    }
  }
}

// -----

// Two columns of a stride of 2 and three taps are five neighbours in a row that starts at a multiple
// of four, so loops that are unrolled choose the lanes. The border is that of texels, not elements.
// CHECK-LABEL: tir.func @rows
// CHECK:         %[[first:.*]] = affine.apply affine_map<(d0, d1, d2) -> ((((d0 * 4) + (((((d1 * 2) + d2) + 3) floordiv 4) * 4)) + -4))> (%t, %j, %k)
// CHECK-NEXT:    %[[inside:.*]] = arith.cmpi sge, %[[first]], %[[c0:.*]] : index
// CHECK-NEXT:    %[[texel:.*]] = affine.apply affine_map<(d0, d1, d2, d3) -> (((((d0 * 4) + d1) + ((((d2 * 2) + d3) + 3) floordiv 4)) + -1))> (%h, %t, %j, %k)
// CHECK-NEXT:    %[[there:.*]] = arith.select %[[inside]], %[[texel]], %[[c0]] : index
// CHECK-NEXT:    %[[lane:.*]] = affine.apply affine_map<(d0, d1) -> (((((d0 * 2) + d1) + 3) mod 4))> (%j, %k)
// CHECK-NEXT:    %[[read:.*]] = tir.texel_read %x[%[[there]]] lane %[[lane]] : memref<5x16xf32> -> f32
// CHECK-NEXT:    arith.select %[[inside]], %[[read]], %z : f32
module attributes {cl.target = #cl.target<"phone", {device_type = "gpu", texture = "prefer", images = true, texels_of_rows = true}>} {
  tir.func @rows(%x: memref<5x16xf32>, %y: memref<5x4x4xf32>) attributes {outputs = array<i64: 1>} {
    %c0 = arith.constant 0 : index
    tir.for global_y %h = 0 to 5 {
      tir.for global_x %t = 0 to 4 {
        tir.for unrolled %j = 0 to 2 {
          tir.for unrolled %k = 0 to 3 {
            %i = affine.apply affine_map<(d0, d1, d2) -> (d0 * 4 + d1 * 2 + d2 - 1)> (%t, %j, %k)
            %inside = arith.cmpi sge, %i, %c0 : index
            %v = scf.if %inside -> (f32) {
              %e = memref.load %x[%h, %i] : memref<5x16xf32>
              scf.yield %e : f32
            } else {
              %z = arith.constant 0.0 : f32
              scf.yield %z : f32
            }
            memref.store %v, %y[%h, %t, %j] : memref<5x4x4xf32>
          }
        }
      }
    }
  }
}

// -----

// Work-items choose the lanes of these reads, and these use one element of each texel.
// CHECK-LABEL: tir.func @no_texels
// CHECK-NOT: tir.texel_read
module attributes {cl.target = #cl.target<"phone", {device_type = "gpu", texture = "prefer", images = true, texels_of_rows = true}>} {
  tir.func @no_texels(%x: memref<5x32xf32>, %y: memref<5x8x4xf32>) attributes {outputs = array<i64: 1>} {
    tir.for global_y %h = 0 to 5 {
      tir.for global_x %t = 0 to 8 {
        tir.for unrolled %j = 0 to 4 {
          %i = affine.apply affine_map<(d0, d1) -> (d0 * 3 + d1)> (%t, %j)
          %v = memref.load %x[%h, %i] : memref<5x32xf32>
          %k = affine.apply affine_map<(d0, d1) -> (d0 + d1 * 8)> (%t, %j)
          %w = memref.load %x[%h, %k] : memref<5x32xf32>
          %s = arith.addf %v, %w : f32
          memref.store %s, %y[%h, %t, %j] : memref<5x8x4xf32>
        }
      }
    }
  }
}
