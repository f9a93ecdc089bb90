// RUN: clopt %s -p cl-range-launches,verify --split-input-file --verify-diagnostics | filecheck %s

// A work-item computes four rows in registers: the last of the needed groups of rows is computed
// whole. Its reads of later rows count for nothing, so the first kernel computes s0 rows exactly.
// CHECK-LABEL: cl.program @tiles
// CHECK:      cl.enqueue_kernel @double({{.*}}) sizes affine_map<()[s0] -> (16, s0)>
// CHECK-NEXT: cl.enqueue_kernel @sum({{.*}}) sizes affine_map<()[s0] -> ((s0 ceildiv 4))>
module attributes {cl.target = #cl.target<"cpu", {}>, cl.range = #cl.range<"batch", 1 to 12, ["x", "y"]>} {
  tir.func @double(%x: memref<12x16xf32>, %y: memref<12x16xf32>) attributes {outputs = array<i64: 1>, global_size = array<i64: 16, 12>, local_size = array<i64: 1, 1>} {
    tir.for global_y %i = 0 to 12 {
      tir.for global_x %j = 0 to 16 {
        %a = memref.load %x[%i, %j] : memref<12x16xf32>
        %b = arith.addf %a, %a : f32
        memref.store %b, %y[%i, %j] : memref<12x16xf32>
      }
    }
  }
  tir.func @sum(%x: memref<12x16xf32>, %y: memref<12xf32>) attributes {outputs = array<i64: 1>, global_size = array<i64: 3>, local_size = array<i64: 1>} {
    tir.for global_x %i = 0 to 3 {
      %acc = memref.alloca() : memref<4xf32, #tir.scope<private>>
      tir.for unrolled %r = 0 to 4 {
        %zero = arith.constant 0.0 : f32
        memref.store %zero, %acc[%r] : memref<4xf32, #tir.scope<private>>
      }
      tir.for serial %k = 0 to 16 {
        tir.for unrolled %r = 0 to 4 {
          %row = affine.apply affine_map<(d0, d1) -> (d0 * 4 + d1)> (%i, %r)
          %a = memref.load %acc[%r] : memref<4xf32, #tir.scope<private>>
          %b = memref.load %x[%row, %k] : memref<12x16xf32>
          %c = arith.addf %a, %b : f32
          memref.store %c, %acc[%r] : memref<4xf32, #tir.scope<private>>
        }
      }
      tir.for unrolled %r = 0 to 4 {
        %row = affine.apply affine_map<(d0, d1) -> (d0 * 4 + d1)> (%i, %r)
        %a = memref.load %acc[%r] : memref<4xf32, #tir.scope<private>>
        memref.store %a, %y[%row] : memref<12xf32>
      }
    }
  }
  cl.program @tiles(%x: memref<12x16xf32> {cl.name = "x"}, %y: memref<12xf32> {cl.name = "y"}) inputs 1 {
    %t = cl.alloc : memref<12x16xf32>
    cl.enqueue_kernel @double(%x, %t) : memref<12x16xf32>, memref<12x16xf32>
    cl.enqueue_kernel @sum(%t, %y) : memref<12x16xf32>, memref<12xf32>
    cl.return
  }
}

// -----

// The rows in reverse: the first rows of the result need the last ones of %t, so it is needed whole.
// CHECK-LABEL: cl.program @reverse
// CHECK:      cl.enqueue_kernel @copy(%x, %t) : memref
// CHECK-NEXT: cl.enqueue_kernel @reverse_rows(%t, %u) sizes affine_map<()[s0] -> (s0)>
// CHECK-NEXT: cl.enqueue_kernel @copy(%u, %y) sizes affine_map<()[s0] -> (s0)>
module attributes {cl.target = #cl.target<"cpu", {}>, cl.range = #cl.range<"batch", 1 to 8, ["x", "y"]>} {
  tir.func @copy(%x: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = array<i64: 1>, global_size = array<i64: 8>, local_size = array<i64: 1>} {
    tir.for global_x %i = 0 to 8 {
      %a = memref.load %x[%i] : memref<8xf32>
      memref.store %a, %y[%i] : memref<8xf32>
    }
  }
  tir.func @reverse_rows(%x: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = array<i64: 1>, global_size = array<i64: 8>, local_size = array<i64: 1>} {
    tir.for global_x %i = 0 to 8 {
      %j = affine.apply affine_map<(d0) -> (d0 * -1 + 7)> (%i)
      %a = memref.load %x[%j] : memref<8xf32>
      memref.store %a, %y[%i] : memref<8xf32>
    }
  }
  cl.program @reverse(%x: memref<8xf32> {cl.name = "x"}, %y: memref<8xf32> {cl.name = "y"}) inputs 1 {
    %t = cl.alloc : memref<8xf32>
    %u = cl.alloc : memref<8xf32>
    cl.enqueue_kernel @copy(%x, %t) : memref<8xf32>, memref<8xf32>
    cl.enqueue_kernel @reverse_rows(%t, %u) : memref<8xf32>, memref<8xf32>
    cl.enqueue_kernel @copy(%u, %y) : memref<8xf32>, memref<8xf32>
    cl.return
  }
}

// -----

// The units of %t are on its inner axis. The launch that writes them has groups of four work-items,
// and the other one groups of two.
// CHECK-LABEL: cl.program @inner
// CHECK:      cl.enqueue_kernel @turn(%x, %t) sizes affine_map<()[s0] -> (3, ((s0 ceildiv 4) * 4))>
// CHECK-NEXT: cl.enqueue_kernel @turn_back(%t, %y) sizes affine_map<()[s0] -> (((s0 ceildiv 2) * 2))>
module attributes {cl.target = #cl.target<"cpu", {}>, cl.range = #cl.range<"batch", 1 to 8, ["x", "y"]>} {
  tir.func @turn(%x: memref<8x3xf32>, %y: memref<3x8xf32>) attributes {outputs = array<i64: 1>, global_size = array<i64: 3, 8>, local_size = array<i64: 1, 4>} {
    tir.for global_y %i = 0 to 8 {
      tir.for global_x %j = 0 to 3 {
        %a = memref.load %x[%i, %j] : memref<8x3xf32>
        memref.store %a, %y[%j, %i] : memref<3x8xf32>
      }
    }
  }
  tir.func @turn_back(%x: memref<3x8xf32>, %y: memref<8x3xf32>) attributes {outputs = array<i64: 1>, global_size = array<i64: 8>, local_size = array<i64: 2>} {
    tir.for group_x %g = 0 to 4 {
      tir.for local_x %l = 0 to 2 {
        tir.for serial %j = 0 to 3 {
          %i = affine.apply affine_map<(d0, d1) -> (d0 * 2 + d1)> (%g, %l)
          %a = memref.load %x[%j, %i] : memref<3x8xf32>
          memref.store %a, %y[%i, %j] : memref<8x3xf32>
        }
      }
    }
  }
  cl.program @inner(%x: memref<8x3xf32> {cl.name = "x"}, %y: memref<8x3xf32> {cl.name = "y"}) inputs 1 {
    %t = cl.alloc : memref<3x8xf32>
    cl.enqueue_kernel @turn(%x, %t) : memref<8x3xf32>, memref<3x8xf32>
    cl.enqueue_kernel @turn_back(%t, %y) : memref<3x8xf32>, memref<8x3xf32>
    cl.return
  }
}

// -----

// Addresses that a kernel loads are computed in all rows, so that none is outside of the table. The
// values beside them are not.
// CHECK-LABEL: cl.program @lookup
// CHECK:      cl.enqueue_kernel @positions(%x, %t) : memref
// CHECK-NEXT: cl.enqueue_kernel @copy(%v, %u) sizes affine_map<()[s0] -> (s0)>
// CHECK-NEXT: cl.enqueue_kernel @gather(%table, %t, %u, %y) sizes affine_map<()[s0] -> (s0)>
module attributes {cl.target = #cl.target<"cpu", {}>, cl.range = #cl.range<"batch", 1 to 8, ["x", "v", "y"]>} {
  tir.func @positions(%x: memref<8xi32>, %y: memref<8xi32>) attributes {outputs = array<i64: 1>, global_size = array<i64: 8>, local_size = array<i64: 1>} {
    tir.for global_x %i = 0 to 8 {
      %a = memref.load %x[%i] : memref<8xi32>
      memref.store %a, %y[%i] : memref<8xi32>
    }
  }
  tir.func @copy(%x: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = array<i64: 1>, global_size = array<i64: 8>, local_size = array<i64: 1>} {
    tir.for global_x %i = 0 to 8 {
      %a = memref.load %x[%i] : memref<8xf32>
      memref.store %a, %y[%i] : memref<8xf32>
    }
  }
  tir.func @gather(%table: memref<5xf32>, %x: memref<8xi32>, %v: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = array<i64: 3>, global_size = array<i64: 8>, local_size = array<i64: 1>} {
    tir.for global_x %i = 0 to 8 {
      %a = memref.load %x[%i] : memref<8xi32>
      %at = arith.index_cast %a : i32 to index
      %b = memref.load %table[%at] : memref<5xf32>
      %c = memref.load %v[%i] : memref<8xf32>
      %d = arith.addf %b, %c : f32
      memref.store %d, %y[%i] : memref<8xf32>
    }
  }
  cl.program @lookup(%x: memref<8xi32> {cl.name = "x"}, %v: memref<8xf32> {cl.name = "v"}, %y: memref<8xf32> {cl.name = "y"}) inputs 2 {
    %table = cl.constant "table" : memref<5xf32>
    %t = cl.alloc : memref<8xi32>
    %u = cl.alloc : memref<8xf32>
    cl.enqueue_kernel @positions(%x, %t) : memref<8xi32>, memref<8xi32>
    cl.enqueue_kernel @copy(%v, %u) : memref<8xf32>, memref<8xf32>
    cl.enqueue_kernel @gather(%table, %t, %u, %y) : memref<5xf32>, memref<8xi32>, memref<8xf32>, memref<8xf32>
    cl.return
  }
}

// -----

// A private buffer that outlives a loop is read in another iteration than it is written in. An
// output that the range does not list is needed whole.
// CHECK-LABEL: cl.program @shifted
// CHECK:      cl.enqueue_kernel @copy(%x, %t) : memref
// CHECK-NEXT: cl.enqueue_kernel @previous(%t, %y) : memref
// CHECK-NEXT: cl.enqueue_kernel @copy(%x, %z) : memref
module attributes {cl.target = #cl.target<"cpu", {}>, cl.range = #cl.range<"batch", 1 to 8, ["x", "y"]>} {
  tir.func @copy(%x: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = array<i64: 1>, global_size = array<i64: 8>, local_size = array<i64: 1>} {
    tir.for global_x %i = 0 to 8 {
      %a = memref.load %x[%i] : memref<8xf32>
      memref.store %a, %y[%i] : memref<8xf32>
    }
  }
  tir.func @previous(%x: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = array<i64: 1>, global_size = array<i64: 1>, local_size = array<i64: 1>} {
    %last = memref.alloca() : memref<1xf32, #tir.scope<private>>
    %first = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    memref.store %zero, %last[%first] : memref<1xf32, #tir.scope<private>>
    tir.for serial %i = 0 to 8 {
      %a = memref.load %last[%first] : memref<1xf32, #tir.scope<private>>
      memref.store %a, %y[%i] : memref<8xf32>
      %b = memref.load %x[%i] : memref<8xf32>
      memref.store %b, %last[%first] : memref<1xf32, #tir.scope<private>>
    }
  }
  cl.program @shifted(%x: memref<8xf32> {cl.name = "x"}, %y: memref<8xf32> {cl.name = "y"}, %z: memref<8xf32> {cl.name = "z"}) inputs 1 {
    %t = cl.alloc : memref<8xf32>
    cl.enqueue_kernel @copy(%x, %t) : memref<8xf32>, memref<8xf32>
    cl.enqueue_kernel @previous(%t, %y) : memref<8xf32>, memref<8xf32>
    cl.enqueue_kernel @copy(%x, %z) : memref<8xf32>, memref<8xf32>
    cl.return
  }
}

// -----

// Four bytes are loaded at once. Parts of six bytes share some of them, parts of eight do not.
// CHECK-LABEL: cl.program @bytes
// CHECK:      cl.enqueue_kernel @copy24(%x, %t) : memref
// CHECK-NEXT: cl.enqueue_kernel @copy32(%v, %u) sizes affine_map<()[s0] -> ((s0 * 8))>
// CHECK-NEXT: cl.enqueue_kernel @pick(%t, %u, %y)
module attributes {cl.target = #cl.target<"cpu", {}>, cl.range = #cl.range<"batch", 1 to 4, ["x", "v", "y"]>} {
  tir.func @copy24(%x: memref<24xi8>, %y: memref<24xi8>) attributes {outputs = array<i64: 1>, global_size = array<i64: 24>, local_size = array<i64: 1>} {
    tir.for global_x %i = 0 to 24 {
      %a = memref.load %x[%i] : memref<24xi8>
      memref.store %a, %y[%i] : memref<24xi8>
    }
  }
  tir.func @copy32(%x: memref<32xi8>, %y: memref<32xi8>) attributes {outputs = array<i64: 1>, global_size = array<i64: 32>, local_size = array<i64: 1>} {
    tir.for global_x %i = 0 to 32 {
      %a = memref.load %x[%i] : memref<32xi8>
      memref.store %a, %y[%i] : memref<32xi8>
    }
  }
  tir.func @pick(%x: memref<24xi8>, %v: memref<32xi8>, %y: memref<4xi32>) attributes {outputs = array<i64: 2>, global_size = array<i64: 4>, local_size = array<i64: 1>} {
    tir.for global_x %i = 0 to 4 {
      %j = affine.apply affine_map<(d0) -> ((d0 * 6) floordiv 4 * 4)> (%i)
      %k = affine.apply affine_map<(d0) -> (d0 * 8)> (%i)
      %a = tir.load_quad %x[%j] : memref<24xi8>
      %b = tir.load_quad %v[%k] : memref<32xi8>
      %c = arith.addi %a, %b : i32
      memref.store %c, %y[%i] : memref<4xi32>
    }
  }
  cl.program @bytes(%x: memref<24xi8> {cl.name = "x"}, %v: memref<32xi8> {cl.name = "v"}, %y: memref<4xi32> {cl.name = "y"}) inputs 2 {
    %t = cl.alloc : memref<24xi8>
    %u = cl.alloc : memref<32xi8>
    cl.enqueue_kernel @copy24(%x, %t) : memref<24xi8>, memref<24xi8>
    cl.enqueue_kernel @copy32(%v, %u) : memref<32xi8>, memref<32xi8>
    cl.enqueue_kernel @pick(%t, %u, %y) : memref<24xi8>, memref<32xi8>, memref<4xi32>
    cl.return
  }
}

// -----

// Rows of an image that are outside of the border of their part are not read.
// CHECK-LABEL: cl.program @border
// CHECK:      cl.enqueue_kernel @rows(%x, %t) sizes affine_map<()[s0] -> (3, (s0 * 5))>
// CHECK-NEXT: cl.enqueue_kernel @above(%t, %y) sizes affine_map<()[s0] -> (3, (s0 * 5))>
module attributes {cl.target = #cl.target<"generic-gpu", {}>, cl.range = #cl.range<"batch", 1 to 4, ["x", "y"]>} {
  tir.func @rows(%x: memref<4x5x3x4xf32>, %y: memref<4x5x3x4xf32, #tir.scope<texture, [2]>>) attributes {outputs = array<i64: 1>, global_size = array<i64: 3, 20>, local_size = array<i64: 1, 1>} {
    tir.for global_y %i = 0 to 20 {
      tir.for global_x %j = 0 to 3 {
        tir.for vectorized %l = 0 to 4 {
          %n = affine.apply affine_map<(d0) -> (d0 floordiv 5)> (%i)
          %h = affine.apply affine_map<(d0) -> (d0 mod 5)> (%i)
          %a = memref.load %x[%n, %h, %j, %l] : memref<4x5x3x4xf32>
          tir.texel_write %a, %y[%j, %i] lane %l : f32, memref<4x5x3x4xf32, #tir.scope<texture, [2]>>
        }
      }
    }
  }
  tir.func @above(%x: memref<4x5x3x4xf32, #tir.scope<texture, [2]>>, %y: memref<4x5x3x4xf32>) attributes {outputs = array<i64: 1>, global_size = array<i64: 3, 20>, local_size = array<i64: 1, 1>} {
    tir.for global_y %i = 0 to 20 {
      tir.for global_x %j = 0 to 3 {
        tir.for serial %k = 0 to 1 {
          tir.for vectorized %l = 0 to 4 {
            %n = affine.apply affine_map<(d0) -> (d0 floordiv 5)> (%i)
            %h = affine.apply affine_map<(d0) -> (d0 mod 5)> (%i)
            %row = affine.apply affine_map<(d0) -> (d0 mod 5 + 1)> (%i)
            %end = arith.constant 5 : index
            %inside = arith.cmpi slt, %row, %end : index
            %at = affine.apply affine_map<(d0) -> ((d0 floordiv 5) * 5 + d0 mod 5 + 1)> (%i)
            %outside = arith.constant -1 : index
            %coordinate = arith.select %inside, %at, %outside : index
            %a = tir.texel_read %x[%j, %coordinate] lane %l border : memref<4x5x3x4xf32, #tir.scope<texture, [2]>> -> f32
            memref.store %a, %y[%n, %h, %j, %l] : memref<4x5x3x4xf32>
          }
        }
      }
    }
  }
  cl.program @border(%x: memref<4x5x3x4xf32> {cl.name = "x"}, %y: memref<4x5x3x4xf32> {cl.name = "y"}) inputs 1 {
    %t = cl.alloc : memref<4x5x3x4xf32, #tir.scope<texture, [2]>>
    cl.enqueue_kernel @rows(%x, %t) : memref<4x5x3x4xf32>, memref<4x5x3x4xf32, #tir.scope<texture, [2]>>
    cl.enqueue_kernel @above(%t, %y) : memref<4x5x3x4xf32, #tir.scope<texture, [2]>>, memref<4x5x3x4xf32>
    cl.return
  }
}

// -----

// The coordinate holds the part that the condition limits as a term of its sum.
// CHECK-LABEL: cl.program @part
// CHECK:      cl.enqueue_kernel @copy(%x, %t) sizes affine_map<()[s0] -> (7, (s0 * 14))>
// CHECK-NEXT: cl.enqueue_kernel @below(%t, %y) sizes affine_map<()[s0] -> ((s0 * 4))>
module attributes {cl.target = #cl.target<"generic-gpu", {}>, cl.range = #cl.range<"batch", 1 to 4, ["x", "y"]>} {
  tir.func @copy(%x: memref<4x2x7x7x4xf32>, %y: memref<4x2x7x7x4xf32, #tir.scope<texture, [3]>>) attributes {outputs = array<i64: 1>, global_size = array<i64: 7, 56>, local_size = array<i64: 1, 1>} {
    tir.for global_y %i = 0 to 56 {
      tir.for global_x %j = 0 to 7 {
        tir.for vectorized %l = 0 to 4 {
          %n = affine.apply affine_map<(d0) -> (d0 floordiv 14)> (%i)
          %c = affine.apply affine_map<(d0) -> ((d0 floordiv 7) mod 2)> (%i)
          %h = affine.apply affine_map<(d0) -> (d0 mod 7)> (%i)
          %a = memref.load %x[%n, %c, %h, %j, %l] : memref<4x2x7x7x4xf32>
          tir.texel_write %a, %y[%j, %i] lane %l : f32, memref<4x2x7x7x4xf32, #tir.scope<texture, [3]>>
        }
      }
    }
  }
  tir.func @below(%x: memref<4x2x7x7x4xf32, #tir.scope<texture, [3]>>, %y: memref<4x4x4xf32>) attributes {outputs = array<i64: 1>, global_size = array<i64: 16>, local_size = array<i64: 1>} {
    tir.for global_x %i = 0 to 16 {
      tir.for vectorized %l = 0 to 4 {
        %n = affine.apply affine_map<(d0) -> (d0 floordiv 4)> (%i)
        %m = affine.apply affine_map<(d0) -> (d0 mod 4)> (%i)
        %row = affine.apply affine_map<(d0) -> ((d0 mod 2) * 4 + 4)> (%i)
        %end = arith.constant 7 : index
        %inside = arith.cmpi slt, %row, %end : index
        %at = affine.apply affine_map<(d0) -> ((d0 floordiv 2) * 7 + (d0 mod 2) * 4 + 4)> (%i)
        %outside = arith.constant -1 : index
        %coordinate = arith.select %inside, %at, %outside : index
        %column = arith.constant 0 : index
        %a = tir.texel_read %x[%column, %coordinate] lane %l border : memref<4x2x7x7x4xf32, #tir.scope<texture, [3]>> -> f32
        memref.store %a, %y[%n, %m, %l] : memref<4x4x4xf32>
      }
    }
  }
  cl.program @part(%x: memref<4x2x7x7x4xf32> {cl.name = "x"}, %y: memref<4x4x4xf32> {cl.name = "y"}) inputs 1 {
    %t = cl.alloc : memref<4x2x7x7x4xf32, #tir.scope<texture, [3]>>
    cl.enqueue_kernel @copy(%x, %t) : memref<4x2x7x7x4xf32>, memref<4x2x7x7x4xf32, #tir.scope<texture, [3]>>
    cl.enqueue_kernel @below(%t, %y) : memref<4x2x7x7x4xf32, #tir.scope<texture, [3]>>, memref<4x4x4xf32>
    cl.return
  }
}

// -----

// A sum over all rows needs those where the guard is true. Another mask may be true anywhere.
// CHECK-LABEL: cl.program @guarded
// CHECK:      cl.enqueue_kernel @copy(%x, %t) sizes affine_map<()[s0] -> (s0)>
// CHECK-NEXT: cl.enqueue_kernel @sum(%t, %mask, %u) : memref
// CHECK-LABEL: cl.program @not_guarded
// CHECK:      cl.enqueue_kernel @copy(%x, %t) : memref
module attributes {cl.target = #cl.target<"cpu", {}>, cl.range = #cl.range<"rows", 1 to 8, ["x"], ["mask"]>} {
  tir.func @copy(%x: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = array<i64: 1>, global_size = array<i64: 8>, local_size = array<i64: 1>} {
    tir.for global_x %i = 0 to 8 {
      %a = memref.load %x[%i] : memref<8xf32>
      memref.store %a, %y[%i] : memref<8xf32>
    }
  }
  tir.func @sum(%x: memref<8xf32>, %m: memref<8xi1>, %y: memref<1xf32>) attributes {outputs = array<i64: 2>, global_size = array<i64: 1>, local_size = array<i64: 1>} {
    tir.for global_x %i = 0 to 1 {
      %acc = memref.alloca() : memref<1xf32, #tir.scope<private>>
      %zero = arith.constant 0.0 : f32
      %first = arith.constant 0 : index
      memref.store %zero, %acc[%first] : memref<1xf32, #tir.scope<private>>
      tir.for serial %k = 0 to 8 {
        %a = memref.load %acc[%first] : memref<1xf32, #tir.scope<private>>
        %is_row = memref.load %m[%k] : memref<8xi1>
        %b = memref.load %x[%k] : memref<8xf32>
        %row = arith.select %is_row, %b, %zero : f32
        %c = arith.addf %a, %row : f32
        memref.store %c, %acc[%first] : memref<1xf32, #tir.scope<private>>
      }
      %a = memref.load %acc[%first] : memref<1xf32, #tir.scope<private>>
      memref.store %a, %y[%i] : memref<1xf32>
    }
  }
  cl.program @guarded(%x: memref<8xf32> {cl.name = "x"}, %mask: memref<8xi1> {cl.name = "mask"}, %u: memref<1xf32> {cl.name = "u"}) inputs 2 {
    %t = cl.alloc : memref<8xf32>
    cl.enqueue_kernel @copy(%x, %t) : memref<8xf32>, memref<8xf32>
    cl.enqueue_kernel @sum(%t, %mask, %u) : memref<8xf32>, memref<8xi1>, memref<1xf32>
    cl.return
  }
  cl.program @not_guarded(%x: memref<8xf32> {cl.name = "x"}, %other: memref<8xi1> {cl.name = "other"}, %u: memref<1xf32> {cl.name = "u"}) inputs 2 {
    %t = cl.alloc : memref<8xf32>
    cl.enqueue_kernel @copy(%x, %t) : memref<8xf32>, memref<8xf32>
    cl.enqueue_kernel @sum(%t, %other, %u) : memref<8xf32>, memref<8xi1>, memref<1xf32>
    cl.return
  }
}

// -----

// The last tile of three rows starts at row 5, one before the end of the tile before it. The second
// sum reads the rows that the first has stored, so it needs the same rows of %t.
// CHECK-LABEL: cl.program @overlapping
// CHECK:      cl.enqueue_kernel @copy(%x, %t) sizes affine_map<()[s0] -> (s0)>
// CHECK-NEXT: cl.enqueue_kernel @twice(%t, %u, %y)
module attributes {cl.target = #cl.target<"cpu", {}>, cl.range = #cl.range<"batch", 1 to 8, ["x", "y"]>} {
  tir.func @copy(%x: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = array<i64: 1>, global_size = array<i64: 8>, local_size = array<i64: 1>} {
    tir.for global_x %i = 0 to 8 {
      %a = memref.load %x[%i] : memref<8xf32>
      memref.store %a, %y[%i] : memref<8xf32>
    }
  }
  tir.func @twice(%x: memref<8xf32>, %u: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = array<i64: 1, 2>, global_size = array<i64: 1>, local_size = array<i64: 1>} {
    tir.for serial %i = 0 to 3 {
      tir.for unrolled %r = 0 to 3 {
        %row = affine.apply affine_map<(d0, d1) -> (d0 * 3 + d1 - d0 floordiv 2)> (%i, %r)
        %a = memref.load %x[%row] : memref<8xf32>
        memref.store %a, %u[%row] : memref<8xf32>
      }
    }
    tir.for serial %i = 0 to 3 {
      tir.for unrolled %r = 0 to 3 {
        %row = affine.apply affine_map<(d0, d1) -> (d0 * 3 + d1 - d0 floordiv 2)> (%i, %r)
        %a = memref.load %u[%row] : memref<8xf32>
        memref.store %a, %y[%row] : memref<8xf32>
      }
    }
  }
  cl.program @overlapping(%x: memref<8xf32> {cl.name = "x"}, %y: memref<8xf32> {cl.name = "y"}) inputs 1 {
    %t = cl.alloc : memref<8xf32>
    %u = cl.alloc : memref<8xf32>
    cl.enqueue_kernel @copy(%x, %t) : memref<8xf32>, memref<8xf32>
    cl.enqueue_kernel @twice(%t, %u, %y) : memref<8xf32>, memref<8xf32>, memref<8xf32>
    cl.return
  }
}
