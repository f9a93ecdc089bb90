// RUN: clopt %s -p tir-apply-schedule,tir-lower-blocks --split-input-file --verify-diagnostics | filecheck %s

// The index space follows from the bound loops; a map of several loops is one affine.apply.
// CHECK-LABEL: @items(
// CHECK-SAME:  global_size = array<i64: 16>, local_size = array<i64: 4>
// CHECK-NEXT: tir.for group_x %io = 0 to 4 {
// CHECK-NEXT:   tir.for local_x %ii = 0 to 4 {
// CHECK-NEXT:     %i = affine.apply affine_map<(d0, d1) -> (((d0 * 4) + d1))> (%io, %ii)
// CHECK-NEXT:     %a = memref.load %x[%i] : memref<16xf32>
// CHECK-NEXT:     memref.store %a, %y[%i] : memref<16xf32>
tir.func @items(%x: memref<16xf32>, %y: memref<16xf32>) attributes {outputs = array<i64: 1>, schedule = ["split copy.i 4", "bind copy.io group_x", "bind copy.ii local_x"]} {
  tir.for parallel %i = 0 to 16 {
    tir.block "copy" (%vi: spatial 16) = affine_map<(d0) -> (d0)> (%i) {
      %a = memref.load %x[%vi] : memref<16xf32>
      memref.store %a, %y[%vi] : memref<16xf32>
    }
  }
}

// -----

// With a work-group size, global indices run to a multiple of it.
// CHECK-LABEL: @rounded(
// CHECK-SAME:  global_size = array<i64: 12>
// CHECK-NEXT: tir.for global_x %i = 0 to 12 {
// CHECK-NEXT:   %0 = arith.constant 10 : index
// CHECK-NEXT:   %1 = arith.cmpi slt, %i, %0 : index
// CHECK-NEXT:   scf.if %1 {
// CHECK-NEXT:     %a = memref.load %x[%i] : memref<10xf32>
// CHECK-NEXT:     memref.store %a, %y[%i] : memref<10xf32>
tir.func @rounded(%x: memref<10xf32>, %y: memref<10xf32>) attributes {outputs = array<i64: 1>, local_size = array<i64: 4>, schedule = ["bind copy.i global_x"]} {
  tir.for parallel %i = 0 to 10 {
    tir.block "copy" (%vi: spatial 10) = affine_map<(d0) -> (d0)> (%i) {
      %a = memref.load %x[%vi] : memref<10xf32>
      memref.store %a, %y[%vi] : memref<10xf32>
    }
  }
}

// -----

// Clip and peel: full chunks are vectors without a guard, the rest is as short as it has to be.
// CHECK-LABEL: @peeled(
// CHECK-SAME:  global_size = array<i64: 1>
// CHECK-NEXT: tir.for parallel %io = 0 to 2 {
// CHECK-NEXT:   tir.for vectorized %ii = 0 to 4 {
// CHECK-NEXT:     %i = affine.apply affine_map<(d0, d1) -> (((d0 * 4) + d1))> (%io, %ii)
// CHECK-NEXT:     %a = memref.load %x[%i] : memref<11xf32>
// CHECK-NEXT:     memref.store %a, %y[%i] : memref<11xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: tir.for vectorized %ii_1 = 0 to 3 {
// CHECK-NEXT:   %i_1 = affine.apply affine_map<(d0) -> ((d0 + 8))> (%ii_1)
// CHECK-NEXT:   %a_1 = memref.load %x[%i_1] : memref<11xf32>
// CHECK-NEXT:   memref.store %a_1, %y[%i_1] : memref<11xf32>
tir.func @peeled(%x: memref<11xf32>, %y: memref<11xf32>) attributes {outputs = array<i64: 1>, schedule = ["split copy.i 4", "vectorize copy.ii"]} {
  tir.for parallel %i = 0 to 11 {
    tir.block "copy" (%vi: spatial 11) = affine_map<(d0) -> (d0)> (%i) {
      %a = memref.load %x[%vi] : memref<11xf32>
      memref.store %a, %y[%vi] : memref<11xf32>
    }
  }
}

// -----

// Branch: the last work-item has the shorter tile.
// CHECK-LABEL: @branch(
// CHECK-SAME:  global_size = array<i64: 3>
// CHECK-NEXT: tir.for global_x %io = 0 to 3 {
// CHECK-NEXT:   %0 = arith.constant 2 : index
// CHECK-NEXT:   %1 = arith.cmpi slt, %io, %0 : index
// CHECK-NEXT:   scf.if %1 {
// CHECK-NEXT:     tir.for vectorized %ii = 0 to 4 {
// CHECK-NEXT:       %i = affine.apply affine_map<(d0, d1) -> (((d0 * 4) + d1))> (%io, %ii)
// CHECK-NEXT:       %a = memref.load %x[%i] : memref<11xf32>
// CHECK-NEXT:       memref.store %a, %y[%i] : memref<11xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:   } else {
// CHECK-NEXT:     tir.for vectorized %ii_1 = 0 to 3 {
// CHECK-NEXT:       %i_1 = affine.apply affine_map<(d0) -> ((d0 + 8))> (%ii_1)
// CHECK-NEXT:       %a_1 = memref.load %x[%i_1] : memref<11xf32>
// CHECK-NEXT:       memref.store %a_1, %y[%i_1] : memref<11xf32>
tir.func @branch(%x: memref<11xf32>, %y: memref<11xf32>) attributes {outputs = array<i64: 1>, schedule = ["split copy.i 4", "vectorize copy.ii", "bind copy.io global_x"]} {
  tir.for parallel %i = 0 to 11 {
    tir.block "copy" (%vi: spatial 11) = affine_map<(d0) -> (d0)> (%i) {
      %a = memref.load %x[%vi] : memref<11xf32>
      memref.store %a, %y[%vi] : memref<11xf32>
    }
  }
}

// -----

// A tile that divides the extent needs no guard of its own, whatever the group.
// CHECK-LABEL: @coarse(
// CHECK-SAME:  global_size = array<i64: 6>, local_size = array<i64: 3>
// CHECK-NEXT: tir.for group_x %g = 0 to 2 {
// CHECK-NEXT:   tir.for local_x %l = 0 to 3 {
// CHECK-NEXT:     tir.for unrolled %u = 0 to 2 {
// CHECK-NEXT:       %i = affine.apply affine_map<(d0, d1, d2) -> ((((d0 * 6) + (d1 * 2)) + d2))> (%g, %l, %u)
// CHECK-NEXT:       %a = memref.load %x[%i] : memref<12xf32>
// CHECK-NEXT:       memref.store %a, %y[%i] : memref<12xf32>
tir.func @coarse(%x: memref<12xf32>, %y: memref<12xf32>) attributes {outputs = array<i64: 1>, schedule = ["split copy.i 3 2 -> g l u", "bind copy.g group_x", "bind copy.l local_x", "unroll copy.u"]} {
  tir.for parallel %i = 0 to 12 {
    tir.block "copy" (%vi: spatial 12) = affine_map<(d0) -> (d0)> (%i) {
      %a = memref.load %x[%vi] : memref<12xf32>
      memref.store %a, %y[%vi] : memref<12xf32>
    }
  }
}

// -----

// A tile that does not: one comparison per group, and guards in border groups alone.
// CHECK-LABEL: @border(
// CHECK-SAME:  global_size = array<i64: 4>, local_size = array<i64: 2>
// CHECK-NEXT: tir.for group_x %g = 0 to 2 {
// CHECK-NEXT:   %0 = arith.constant 1 : index
// CHECK-NEXT:   %1 = arith.cmpi slt, %g, %0 : index
// CHECK-NEXT:   scf.if %1 {
// CHECK-NEXT:     tir.for local_x %l = 0 to 2 {
// CHECK-NEXT:       tir.for vectorized %v = 0 to 4 {
// CHECK-NEXT:         %i = affine.apply affine_map<(d0, d1, d2) -> ((((d0 * 8) + (d1 * 4)) + d2))> (%g, %l, %v)
// CHECK-NEXT:         %a = memref.load %x[%i] : memref<13xf32>
// CHECK-NEXT:         memref.store %a, %y[%i] : memref<13xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:   } else {
// CHECK-NEXT:     tir.for local_x %l_1 = 0 to 2 {
// CHECK-NEXT:       tir.for serial %v_1 = 0 to 4 {
// CHECK-NEXT:         %2 = affine.apply affine_map<(d0, d1, d2) -> ((((d0 * 8) + (d1 * 4)) + d2))> (%g, %l_1, %v_1)
// CHECK-NEXT:         %3 = arith.constant 13 : index
// CHECK-NEXT:         %4 = arith.cmpi slt, %2, %3 : index
// CHECK-NEXT:         scf.if %4 {
// CHECK-NEXT:           %i_1 = affine.apply affine_map<(d0, d1, d2) -> ((((d0 * 8) + (d1 * 4)) + d2))> (%g, %l_1, %v_1)
// CHECK-NEXT:           %a_1 = memref.load %x[%i_1] : memref<13xf32>
// CHECK-NEXT:           memref.store %a_1, %y[%i_1] : memref<13xf32>
tir.func @border(%x: memref<13xf32>, %y: memref<13xf32>) attributes {outputs = array<i64: 1>, schedule = ["split copy.i 2 4 -> g l v", "bind copy.g group_x", "bind copy.l local_x", "vectorize copy.v"]} {
  tir.for parallel %i = 0 to 13 {
    tir.block "copy" (%vi: spatial 13) = affine_map<(d0) -> (d0)> (%i) {
      %a = memref.load %x[%vi] : memref<13xf32>
      memref.store %a, %y[%vi] : memref<13xf32>
    }
  }
}

// -----

// Initial values go before the outermost loop that accumulates, in a copy of the loops inside it.
// CHECK-LABEL: @initial(
// CHECK-SAME:  global_size = array<i64: 1>
// CHECK-NEXT: %t = memref.alloca() : memref<8x16xf32, #tir.scope<private>>
// CHECK-NEXT: tir.for parallel %i = 0 to 8 {
// CHECK-NEXT:   tir.for parallel %jo = 0 to 4 {
// CHECK-NEXT:     tir.for unrolled %ji = 0 to 4 {
// CHECK-NEXT:       %0 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:       %i_1 = affine.apply affine_map<(d0, d1) -> (((d0 * 4) + d1))> (%jo, %ji)
// CHECK-NEXT:       memref.store %0, %t[%i, %i_1] : memref<8x16xf32, #tir.scope<private>>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: tir.for serial %k = 0 to 4 {
// CHECK-NEXT:   tir.for parallel %i_2 = 0 to 8 {
// CHECK-NEXT:     tir.for parallel %jo_1 = 0 to 4 {
// CHECK-NEXT:       tir.for unrolled %ji_1 = 0 to 4 {
// CHECK-NEXT:         %p = memref.load %a[%i_2, %k] : memref<8x4xf32>
// CHECK-NEXT:         %i_3 = affine.apply affine_map<(d0, d1) -> (((d0 * 4) + d1))> (%jo_1, %ji_1)
// CHECK-NEXT:         %q = memref.load %b[%k, %i_3] : memref<4x16xf32>
// CHECK-NEXT:         %old = memref.load %t[%i_2, %i_3] : memref<8x16xf32, #tir.scope<private>>
// CHECK-NEXT:         %pq = arith.mulf %p, %q : f32
// CHECK-NEXT:         %new = arith.addf %old, %pq : f32
// CHECK-NEXT:         memref.store %new, %t[%i_2, %i_3] : memref<8x16xf32, #tir.scope<private>>
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: tir.for parallel %i_4 = 0 to 8 {
// CHECK-NEXT:   tir.for parallel %j = 0 to 16 {
// CHECK-NEXT:     %r = memref.load %t[%i_4, %j] : memref<8x16xf32, #tir.scope<private>>
// CHECK-NEXT:     %s = arith.negf %r : f32
// CHECK-NEXT:     memref.store %s, %y[%i_4, %j] : memref<8x16xf32>
tir.func @initial(%a: memref<8x4xf32>, %b: memref<4x16xf32>, %y: memref<8x16xf32>) attributes {outputs = array<i64: 2>, schedule = ["reorder mm.k mm.i mm.j", "split mm.j 4", "unroll mm.ji", "set_scope t private"]} {
  %t = memref.alloca() : memref<8x16xf32>
  tir.for parallel %i = 0 to 8 {
    tir.for parallel %j = 0 to 16 {
      tir.for serial %k = 0 to 4 {
        tir.block "mm" (%vi: spatial 8, %vj: spatial 16, %vk: reduce 4) = affine_map<(d0, d1, d2) -> (d0, d1, d2)> (%i, %j, %k) init [0.0 : f32] {
          %p = memref.load %a[%vi, %vk] : memref<8x4xf32>
          %q = memref.load %b[%vk, %vj] : memref<4x16xf32>
          %old = memref.load %t[%vi, %vj] : memref<8x16xf32>
          %pq = arith.mulf %p, %q : f32
          %new = arith.addf %old, %pq : f32
          memref.store %new, %t[%vi, %vj] : memref<8x16xf32>
        }
      }
    }
  }
  tir.for parallel %i = 0 to 8 {
    tir.for parallel %j = 0 to 16 {
      tir.block "out" (%vi: spatial 8, %vj: spatial 16) = affine_map<(d0, d1) -> (d0, d1)> (%i, %j) {
        %r = memref.load %t[%vi, %vj] : memref<8x16xf32>
        %s = arith.negf %r : f32
        memref.store %s, %y[%vi, %vj] : memref<8x16xf32>
      }
    }
  }
}

// -----

// A temporary holds what one iteration needs; its loops of one iteration are gone.
// CHECK-LABEL: @compact(
// CHECK-SAME:  global_size = array<i64: 8>
// CHECK-NEXT: tir.for global_x %i = 0 to 8 {
// CHECK-NEXT:   %t = memref.alloca() : memref<1x16xf32, #tir.scope<private>>
// CHECK-NEXT:   tir.for parallel %j = 0 to 16 {
// CHECK-NEXT:     %0 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     %1 = arith.constant 0 : index
// CHECK-NEXT:     memref.store %0, %t[%1, %j] : memref<1x16xf32, #tir.scope<private>>
// CHECK-NEXT:     tir.for serial %k = 0 to 4 {
// CHECK-NEXT:       %p = memref.load %a[%i, %k] : memref<8x4xf32>
// CHECK-NEXT:       %q = memref.load %b[%k, %j] : memref<4x16xf32>
// CHECK-NEXT:       %2 = arith.constant 0 : index
// CHECK-NEXT:       %old = memref.load %t[%2, %j] : memref<1x16xf32, #tir.scope<private>>
// CHECK-NEXT:       %pq = arith.mulf %p, %q : f32
// CHECK-NEXT:       %new = arith.addf %old, %pq : f32
// CHECK-NEXT:       memref.store %new, %t[%2, %j] : memref<1x16xf32, #tir.scope<private>>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT:   tir.for parallel %j_1 = 0 to 16 {
// CHECK-NEXT:     %3 = arith.constant 0 : index
// CHECK-NEXT:     %r = memref.load %t[%3, %j_1] : memref<1x16xf32, #tir.scope<private>>
// CHECK-NEXT:     %s = arith.negf %r : f32
// CHECK-NEXT:     memref.store %s, %y[%i, %j_1] : memref<8x16xf32>
tir.func @compact(%a: memref<8x4xf32>, %b: memref<4x16xf32>, %y: memref<8x16xf32>) attributes {outputs = array<i64: 2>, schedule = ["bind out.i global_x", "compute_at mm out.i", "set_scope t private"]} {
  %t = memref.alloca() : memref<8x16xf32>
  tir.for parallel %i = 0 to 8 {
    tir.for parallel %j = 0 to 16 {
      tir.for serial %k = 0 to 4 {
        tir.block "mm" (%vi: spatial 8, %vj: spatial 16, %vk: reduce 4) = affine_map<(d0, d1, d2) -> (d0, d1, d2)> (%i, %j, %k) init [0.0 : f32] {
          %p = memref.load %a[%vi, %vk] : memref<8x4xf32>
          %q = memref.load %b[%vk, %vj] : memref<4x16xf32>
          %old = memref.load %t[%vi, %vj] : memref<8x16xf32>
          %pq = arith.mulf %p, %q : f32
          %new = arith.addf %old, %pq : f32
          memref.store %new, %t[%vi, %vj] : memref<8x16xf32>
        }
      }
    }
  }
  tir.for parallel %i = 0 to 8 {
    tir.for parallel %j = 0 to 16 {
      tir.block "out" (%vi: spatial 8, %vj: spatial 16) = affine_map<(d0, d1) -> (d0, d1)> (%i, %j) {
        %r = memref.load %t[%vi, %vj] : memref<8x16xf32>
        %s = arith.negf %r : f32
        memref.store %s, %y[%vi, %vj] : memref<8x16xf32>
      }
    }
  }
}

// -----

// Windows may overlap, and reach over the border; there the guard of the producer skips.
// CHECK-LABEL: @overlap(
// CHECK-SAME:  global_size = array<i64: 20>, local_size = array<i64: 5>
// CHECK-NEXT: %t = memref.alloca() : memref<5xf32, #tir.scope<local>>
// CHECK-NEXT: tir.for group_x %io = 0 to 4 {
// CHECK-NEXT:   tir.for local_x %i = 0 to 5 {
// CHECK-NEXT:     %0 = affine.apply affine_map<(d0, d1) -> (((d0 * 4) + d1))> (%io, %i)
// CHECK-NEXT:     %1 = arith.constant 1 : index
// CHECK-NEXT:     %2 = arith.cmpi sge, %0, %1 : index
// CHECK-NEXT:     scf.if %2 {
// CHECK-NEXT:       %i_1 = affine.apply affine_map<(d0, d1) -> ((((d0 * 4) + d1) + -1))> (%io, %i)
// CHECK-NEXT:       %a = memref.load %x[%i_1] : memref<16xf32>
// CHECK-NEXT:       %b = arith.addf %a, %a : f32
// CHECK-NEXT:       memref.store %b, %t[%i] : memref<5xf32, #tir.scope<local>>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT:   tir.barrier
// CHECK-NEXT:   tir.for local_x %ii = 0 to 5 {
// CHECK-NEXT:     %3 = arith.constant 4 : index
// CHECK-NEXT:     %4 = arith.cmpi slt, %ii, %3 : index
// CHECK-NEXT:     scf.if %4 {
// CHECK-NEXT:       %i_2 = affine.apply affine_map<(d0, d1) -> ((((d0 * 4) + d1) + -1))> (%io, %ii)
// CHECK-NEXT:       %5 = arith.constant 0 : index
// CHECK-NEXT:       %inside = arith.cmpi sge, %i_2, %5 : index
// CHECK-NEXT:       %a_1 = scf.if %inside -> (f32) {
// CHECK-NEXT:         %l = memref.load %t[%ii] : memref<5xf32, #tir.scope<local>>
// CHECK-NEXT:         scf.yield %l : f32
// CHECK-NEXT:       } else {
// CHECK-NEXT:         %z = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:         scf.yield %z : f32
// CHECK-NEXT:       }
// CHECK-NEXT:       %i_3 = affine.apply affine_map<(d0) -> ((d0 + 1))> (%ii)
// CHECK-NEXT:       %b_1 = memref.load %t[%i_3] : memref<5xf32, #tir.scope<local>>
// CHECK-NEXT:       %c = arith.addf %a_1, %b_1 : f32
// CHECK-NEXT:       %i_4 = affine.apply affine_map<(d0, d1) -> (((d0 * 4) + d1))> (%io, %ii)
// CHECK-NEXT:       memref.store %c, %y[%i_4] : memref<16xf32>
tir.func @overlap(%x: memref<16xf32>, %y: memref<16xf32>) attributes {outputs = array<i64: 1>, schedule = ["split blur.i 4", "bind blur.io group_x", "compute_at twice blur.io", "bind twice.i local_x", "bind blur.ii local_x", "set_scope t local"]} {
  %t = memref.alloca() : memref<16xf32>
  tir.for parallel %i = 0 to 16 {
    tir.block "twice" (%vi: spatial 16) = affine_map<(d0) -> (d0)> (%i) {
      %a = memref.load %x[%vi] : memref<16xf32>
      %b = arith.addf %a, %a : f32
      memref.store %b, %t[%vi] : memref<16xf32>
    }
  }
  tir.for parallel %i = 0 to 16 {
    tir.block "blur" (%vi: spatial 16) = affine_map<(d0) -> (d0)> (%i) {
      %left = affine.apply affine_map<(d0) -> (d0 - 1)> (%vi)
      %zero = arith.constant 0 : index
      %inside = arith.cmpi sge, %left, %zero : index
      %a = scf.if %inside -> (f32) {
        %l = memref.load %t[%left] : memref<16xf32>
        scf.yield %l : f32
      } else {
        %z = arith.constant 0.0 : f32
        scf.yield %z : f32
      }
      %b = memref.load %t[%vi] : memref<16xf32>
      %c = arith.addf %a, %b : f32
      memref.store %c, %y[%vi] : memref<16xf32>
    }
  }
}

// -----

// A condition on indices that the place decides is folded.
// CHECK-LABEL: @folded(
// CHECK-SAME:  global_size = array<i64: 1>
// CHECK-NEXT: %t = memref.alloca() : memref<16xf32, #tir.scope<private>>
// CHECK-NEXT: tir.for parallel %i = 0 to 16 {
// CHECK-NEXT:   %a = memref.load %x[%i] : memref<16xf32>
// CHECK-NEXT:   %b = arith.addf %a, %a : f32
// CHECK-NEXT:   memref.store %b, %t[%i] : memref<16xf32, #tir.scope<private>>
// CHECK-NEXT: }
// CHECK-NEXT: tir.for parallel %io = 0 to 4 {
// CHECK-NEXT:   tir.for unrolled %ii = 0 to 4 {
// CHECK-NEXT:     %i_1 = affine.apply affine_map<(d0, d1) -> ((((d0 * 4) + d1) + -1))> (%io, %ii)
// CHECK-NEXT:     %0 = arith.constant 0 : index
// CHECK-NEXT:     %inside = arith.cmpi sge, %i_1, %0 : index
// CHECK-NEXT:     %a_1 = scf.if %inside -> (f32) {
// CHECK-NEXT:       %l = memref.load %t[%i_1] : memref<16xf32, #tir.scope<private>>
// CHECK-NEXT:       scf.yield %l : f32
// CHECK-NEXT:     } else {
// CHECK-NEXT:       %z = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:       scf.yield %z : f32
// CHECK-NEXT:     }
// CHECK-NEXT:     %i_2 = affine.apply affine_map<(d0, d1) -> (((d0 * 4) + d1))> (%io, %ii)
// CHECK-NEXT:     %b_1 = memref.load %t[%i_2] : memref<16xf32, #tir.scope<private>>
// CHECK-NEXT:     %c = arith.addf %a_1, %b_1 : f32
// CHECK-NEXT:     memref.store %c, %y[%i_2] : memref<16xf32>
tir.func @folded(%x: memref<16xf32>, %y: memref<16xf32>) attributes {outputs = array<i64: 1>, schedule = ["split blur.i 4", "unroll blur.ii", "set_scope t private"]} {
  %t = memref.alloca() : memref<16xf32>
  tir.for parallel %i = 0 to 16 {
    tir.block "twice" (%vi: spatial 16) = affine_map<(d0) -> (d0)> (%i) {
      %a = memref.load %x[%vi] : memref<16xf32>
      %b = arith.addf %a, %a : f32
      memref.store %b, %t[%vi] : memref<16xf32>
    }
  }
  tir.for parallel %i = 0 to 16 {
    tir.block "blur" (%vi: spatial 16) = affine_map<(d0) -> (d0)> (%i) {
      %left = affine.apply affine_map<(d0) -> (d0 - 1)> (%vi)
      %zero = arith.constant 0 : index
      %inside = arith.cmpi sge, %left, %zero : index
      %a = scf.if %inside -> (f32) {
        %l = memref.load %t[%left] : memref<16xf32>
        scf.yield %l : f32
      } else {
        %z = arith.constant 0.0 : f32
        scf.yield %z : f32
      }
      %b = memref.load %t[%vi] : memref<16xf32>
      %c = arith.addf %a, %b : f32
      memref.store %c, %y[%vi] : memref<16xf32>
    }
  }
}

// -----

// The first work-item writes what does not depend on an index.
// CHECK-LABEL: @first(
// CHECK-SAME:  global_size = array<i64: 20>, local_size = array<i64: 5>
// CHECK-NEXT: %y_private_rf = memref.alloca() : memref<1x5xf32, #tir.scope<local>>
// CHECK-NEXT: tir.for group_x %i = 0 to 4 {
// CHECK-NEXT:   %y_private = memref.alloca() : memref<1xf32, #tir.scope<private>>
// CHECK-NEXT:   tir.for local_x %ki = 0 to 5 {
// CHECK-NEXT:     %0 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     %1 = arith.constant 0 : index
// CHECK-NEXT:     memref.store %0, %y_private_rf[%1, %ki] : memref<1x5xf32, #tir.scope<local>>
// CHECK-NEXT:     tir.for serial %ko = 0 to 2 {
// CHECK-NEXT:       %i_1 = affine.apply affine_map<(d0, d1) -> (((d1 * 5) + d0))> (%ki, %ko)
// CHECK-NEXT:       %p = memref.load %x[%i, %i_1] : memref<4x10xf32>
// CHECK-NEXT:       %2 = arith.constant 0 : index
// CHECK-NEXT:       %old = memref.load %y_private_rf[%2, %ki] : memref<1x5xf32, #tir.scope<local>>
// CHECK-NEXT:       %new = arith.addf %old, %p : f32
// CHECK-NEXT:       memref.store %new, %y_private_rf[%2, %ki] : memref<1x5xf32, #tir.scope<local>>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT:   tir.barrier
// CHECK-NEXT:   %3 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:   %4 = arith.constant 0 : index
// CHECK-NEXT:   memref.store %3, %y_private[%4] : memref<1xf32, #tir.scope<private>>
// CHECK-NEXT:   tir.for serial %ki_1 = 0 to 5 {
// CHECK-NEXT:     %5 = arith.constant 0 : index
// CHECK-NEXT:     %6 = memref.load %y_private_rf[%5, %ki_1] : memref<1x5xf32, #tir.scope<local>>
// CHECK-NEXT:     %7 = memref.load %y_private[%5] : memref<1xf32, #tir.scope<private>>
// CHECK-NEXT:     %8 = arith.addf %7, %6 : f32
// CHECK-NEXT:     memref.store %8, %y_private[%5] : memref<1xf32, #tir.scope<private>>
// CHECK-NEXT:   }
// CHECK-NEXT:   tir.for local_x %local_x = 0 to 5 {
// CHECK-NEXT:     %9 = arith.constant 1 : index
// CHECK-NEXT:     %10 = arith.cmpi slt, %local_x, %9 : index
// CHECK-NEXT:     scf.if %10 {
// CHECK-NEXT:       %11 = arith.constant 0 : index
// CHECK-NEXT:       %12 = memref.load %y_private[%11] : memref<1xf32, #tir.scope<private>>
// CHECK-NEXT:       memref.store %12, %y[%i] : memref<4xf32>
tir.func @first(%x: memref<4x10xf32>, %y: memref<4xf32>) attributes {outputs = array<i64: 1>, schedule = ["cache_write sum private -> out", "split sum.k 5", "rfactor sum.ki", "bind out.i group_x", "compute_at sum out.i", "compute_at sum_rf out.i", "reorder sum_rf.ki sum_rf.ko", "bind sum_rf.ki local_x", "set_scope y_private_rf local"]} {
  tir.for parallel %i = 0 to 4 {
    tir.for serial %k = 0 to 10 {
      tir.block "sum" (%vi: spatial 4, %vk: reduce 10) = affine_map<(d0, d1) -> (d0, d1)> (%i, %k) init [0.0 : f32] {
        %p = memref.load %x[%vi, %vk] : memref<4x10xf32>
        %old = memref.load %y[%vi] : memref<4xf32>
        %new = arith.addf %old, %p : f32
        memref.store %new, %y[%vi] : memref<4xf32>
      }
    }
  }
}

// -----

// expected-error@unknown {{@global, memref.alloca 't': a temporary cannot stay in global memory; compute it at a loop of its consumer and set its scope}}
tir.func @global(%a: memref<8x4xf32>, %b: memref<4x16xf32>, %y: memref<8x16xf32>) attributes {outputs = array<i64: 2>, schedule = []} {
  %t = memref.alloca() : memref<8x16xf32>
  tir.for parallel %i = 0 to 8 {
    tir.for parallel %j = 0 to 16 {
      tir.for serial %k = 0 to 4 {
        tir.block "mm" (%vi: spatial 8, %vj: spatial 16, %vk: reduce 4) = affine_map<(d0, d1, d2) -> (d0, d1, d2)> (%i, %j, %k) init [0.0 : f32] {
          %p = memref.load %a[%vi, %vk] : memref<8x4xf32>
          %q = memref.load %b[%vk, %vj] : memref<4x16xf32>
          %old = memref.load %t[%vi, %vj] : memref<8x16xf32>
          %pq = arith.mulf %p, %q : f32
          %new = arith.addf %old, %pq : f32
          memref.store %new, %t[%vi, %vj] : memref<8x16xf32>
        }
      }
    }
  }
  tir.for parallel %i = 0 to 8 {
    tir.for parallel %j = 0 to 16 {
      tir.block "out" (%vi: spatial 8, %vj: spatial 16) = affine_map<(d0, d1) -> (d0, d1)> (%i, %j) {
        %r = memref.load %t[%vi, %vj] : memref<8x16xf32>
        %s = arith.negf %r : f32
        memref.store %s, %y[%vi, %vj] : memref<8x16xf32>
      }
    }
  }
}

// -----

// expected-error@unknown {{@foreign, memref.alloca 't': a work-item reads elements that another work-item computes; compute it at a loop of the consumer}}
tir.func @foreign(%a: memref<8x4xf32>, %b: memref<4x16xf32>, %y: memref<8x16xf32>) attributes {outputs = array<i64: 2>, schedule = ["set_scope t private", "bind mm.i global_x", "split out.i 2", "bind out.io global_x"]} {
  %t = memref.alloca() : memref<8x16xf32>
  tir.for parallel %i = 0 to 8 {
    tir.for parallel %j = 0 to 16 {
      tir.for serial %k = 0 to 4 {
        tir.block "mm" (%vi: spatial 8, %vj: spatial 16, %vk: reduce 4) = affine_map<(d0, d1, d2) -> (d0, d1, d2)> (%i, %j, %k) init [0.0 : f32] {
          %p = memref.load %a[%vi, %vk] : memref<8x4xf32>
          %q = memref.load %b[%vk, %vj] : memref<4x16xf32>
          %old = memref.load %t[%vi, %vj] : memref<8x16xf32>
          %pq = arith.mulf %p, %q : f32
          %new = arith.addf %old, %pq : f32
          memref.store %new, %t[%vi, %vj] : memref<8x16xf32>
        }
      }
    }
  }
  tir.for parallel %i = 0 to 8 {
    tir.for parallel %j = 0 to 16 {
      tir.block "out" (%vi: spatial 8, %vj: spatial 16) = affine_map<(d0, d1) -> (d0, d1)> (%i, %j) {
        %r = memref.load %t[%vi, %vj] : memref<8x16xf32>
        %s = arith.negf %r : f32
        memref.store %s, %y[%vi, %vj] : memref<8x16xf32>
      }
    }
  }
}

// -----

// expected-error@unknown {{@groups, memref.alloca 't': local memory needs loops bound to group and local indices, not to global ones}}
tir.func @groups(%a: memref<8x4xf32>, %b: memref<4x16xf32>, %y: memref<8x16xf32>) attributes {outputs = array<i64: 2>, schedule = ["bind out.i global_x", "compute_at mm out.i", "set_scope t local"]} {
  %t = memref.alloca() : memref<8x16xf32>
  tir.for parallel %i = 0 to 8 {
    tir.for parallel %j = 0 to 16 {
      tir.for serial %k = 0 to 4 {
        tir.block "mm" (%vi: spatial 8, %vj: spatial 16, %vk: reduce 4) = affine_map<(d0, d1, d2) -> (d0, d1, d2)> (%i, %j, %k) init [0.0 : f32] {
          %p = memref.load %a[%vi, %vk] : memref<8x4xf32>
          %q = memref.load %b[%vk, %vj] : memref<4x16xf32>
          %old = memref.load %t[%vi, %vj] : memref<8x16xf32>
          %pq = arith.mulf %p, %q : f32
          %new = arith.addf %old, %pq : f32
          memref.store %new, %t[%vi, %vj] : memref<8x16xf32>
        }
      }
    }
  }
  tir.for parallel %i = 0 to 8 {
    tir.for parallel %j = 0 to 16 {
      tir.block "out" (%vi: spatial 8, %vj: spatial 16) = affine_map<(d0, d1) -> (d0, d1)> (%i, %j) {
        %r = memref.load %t[%vi, %vj] : memref<8x16xf32>
        %s = arith.negf %r : f32
        memref.store %s, %y[%vi, %vj] : memref<8x16xf32>
      }
    }
  }
}

// -----

// Both work-items would add to the one sum of their group.
// expected-error@unknown {{@shared, block 'sum': it accumulates in local memory, and several work-items along local_x would update the same element; keep the result in private memory, or compute it outside loop 'j'}}
tir.func @shared(%x: memref<4xf32>, %y: memref<2xf32>) attributes {outputs = array<i64: 1>, schedule = ["bind out.j local_x", "compute_at sum out.j", "set_scope t local"]} {
  %t = memref.alloca() : memref<1xf32>
  tir.for serial %k = 0 to 4 {
    tir.block "sum" (%s: spatial 1, %r: reduce 4) = affine_map<(d0) -> (0, d0)> (%k) init [0.0 : f32] {
      %a = memref.load %x[%r] : memref<4xf32>
      %b = memref.load %t[%s] : memref<1xf32>
      %c = arith.addf %a, %b : f32
      memref.store %c, %t[%s] : memref<1xf32>
    }
  }
  tir.for parallel %j = 0 to 2 {
    tir.block "out" (%v: spatial 2) = affine_map<(d0) -> (d0)> (%j) {
      %z = arith.constant 0 : index
      %a = memref.load %t[%z] : memref<1xf32>
      memref.store %a, %y[%v] : memref<2xf32>
    }
  }
}

// -----

// One work-item along z computes 'out'; 'fill' has several in the loop that it shares with it.
// expected-error@unknown {{@again, block 'out': it runs once along group_z, but it shares a loop with a stage that is bound to group_z; bind the loop that they share}}
tir.func @again(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = array<i64: 1>} {
  %t = memref.alloca() : memref<4xf32, #tir.scope<private>>
  tir.for parallel %once = 0 to 1 {
    tir.for group_z %i = 0 to 4 {
      tir.block "fill" (%v: spatial 4) = affine_map<(d0) -> (d0)> (%i) {
        %a = memref.load %x[%v] : memref<4xf32>
        memref.store %a, %t[%v] : memref<4xf32, #tir.scope<private>>
      }
    }
    tir.for local_x %j = 0 to 4 {
      tir.block "out" (%v: spatial 4) = affine_map<(d0) -> (d0)> (%j) {
        %a = memref.load %t[%v] : memref<4xf32, #tir.scope<private>>
        memref.store %a, %y[%v] : memref<4xf32>
      }
    }
  }
}

// -----

// Each row has a full chunk and one of three columns. No range of the fused index tells them apart,
// so only the elements that may be outside are tested.
// CHECK-LABEL: @fused(
// CHECK:      tir.for global_x %f = 0 to 12 {
// CHECK-NEXT:   tir.for parallel %b = 0 to 3 {
// CHECK-NOT:      scf.if
// CHECK:          memref.store
// CHECK:        tir.for parallel %b_1 = 0 to 5 {
// CHECK:          scf.if
tir.func @fused(%x: memref<6x11xf32>, %y: memref<6x11xf32>) attributes {outputs = array<i64: 1>, schedule = ["split copy.j 8 -> a b", "fuse copy.i copy.a -> f", "bind copy.f global_x"]} {
  tir.for parallel %i = 0 to 6 {
    tir.for parallel %j = 0 to 11 {
      tir.block "copy" (%vi: spatial 6, %vj: spatial 11) = affine_map<(d0, d1) -> (d0, d1)> (%i, %j) {
        %a = memref.load %x[%vi, %vj] : memref<6x11xf32>
        memref.store %a, %y[%vi, %vj] : memref<6x11xf32>
      }
    }
  }
}
