// RUN: clopt %s -p tir-mark-in-place --split-input-file | filecheck %s

// Both operands of a sum, each element read and written by one work-item.
// CHECK-LABEL: @sum({{.*}} in_place = [array<i64: 0, 2>, array<i64: 1, 2>]
tir.func @sum(%a: memref<4x8xf32>, %b: memref<4x8xf32>, %y: memref<4x8xf32>)
    attributes {outputs = array<i64: 2>, global_size = array<i64: 4>} {
  tir.for global_x %i = 0 to 4 {
    tir.for vectorized %j = 0 to 8 {
      %p = memref.load %a[%i, %j] : memref<4x8xf32>
      %q = memref.load %b[%i, %j] : memref<4x8xf32>
      %s = arith.addf %p, %q : f32
      memref.store %s, %y[%i, %j] : memref<4x8xf32>
    }
  }
}

// The same through a reshape: elements count, not indices.
// CHECK-LABEL: @reshaped({{.*}} in_place = [array<i64: 0, 1>]
tir.func @reshaped(%x: memref<4x8xf32>, %y: memref<2x16xf32>)
    attributes {outputs = array<i64: 1>, global_size = array<i64: 2, 4>, local_size = array<i64: 2, 4>} {
  tir.for group_y %g = 0 to 1 {
    tir.for group_x %h = 0 to 1 {
      tir.for local_y %i = 0 to 4 {
        tir.for local_x %j = 0 to 2 {
          tir.for unrolled %k = 0 to 4 {
            %c = affine.apply affine_map<(d0, d1) -> (d0 * 4 + d1)> (%j, %k)
            %r = affine.apply affine_map<(d0) -> (d0 floordiv 2)> (%i)
            %d = affine.apply affine_map<(d0, d1, d2) -> (d0 mod 2 * 8 + d1 * 4 + d2)> (%i, %j, %k)
            %v = memref.load %x[%i, %c] : memref<4x8xf32>
            memref.store %v, %y[%r, %d] : memref<2x16xf32>
          }
        }
      }
    }
  }
}

// Work-items are numbered across rows and pairs of columns; the last of a row has one column.
// CHECK-LABEL: @joined({{.*}} in_place = [array<i64: 0, 1>]
tir.func @joined(%x: memref<4x5xf32>, %y: memref<4x5xf32>)
    attributes {outputs = array<i64: 1>, global_size = array<i64: 12>} {
  tir.for global_x %item = 0 to 12 {
    %i = affine.apply affine_map<(d0) -> (d0 floordiv 3)> (%item)
    %jo = affine.apply affine_map<(d0) -> (d0 mod 3)> (%item)
    %c2 = arith.constant 2 : index
    %inside = arith.cmpi slt, %jo, %c2 : index
    scf.if %inside {
      tir.for unrolled %ji = 0 to 2 {
        %j = affine.apply affine_map<(d0, d1) -> (d0 * 2 + d1)> (%jo, %ji)
        %v = memref.load %x[%i, %j] : memref<4x5xf32>
        memref.store %v, %y[%i, %j] : memref<4x5xf32>
      }
    } else {
      %c4 = arith.constant 4 : index
      %v = memref.load %x[%i, %c4] : memref<4x5xf32>
      memref.store %v, %y[%i, %c4] : memref<4x5xf32>
    }
  }
}

// Each work-item but the last of a row copies the last column: another one reads it later.
// CHECK-LABEL: @last_column(
// CHECK-NOT: in_place
tir.func @last_column(%x: memref<4x5xf32>, %y: memref<4x5xf32>)
    attributes {outputs = array<i64: 1>, global_size = array<i64: 12>} {
  tir.for global_x %item = 0 to 12 {
    %i = affine.apply affine_map<(d0) -> (d0 floordiv 3)> (%item)
    %jo = affine.apply affine_map<(d0) -> (d0 mod 3)> (%item)
    %c2 = arith.constant 2 : index
    %inside = arith.cmpi slt, %jo, %c2 : index
    scf.if %inside {
      %c4 = arith.constant 4 : index
      %v = memref.load %x[%i, %c4] : memref<4x5xf32>
      memref.store %v, %y[%i, %c4] : memref<4x5xf32>
    }
  }
}

// A row is read twice, then written, and the next row is not touched before.
// CHECK-LABEL: @rows({{.*}} in_place = [array<i64: 0, 1>]
tir.func @rows(%x: memref<4x5xf32>, %y: memref<4x5xf32>)
    attributes {outputs = array<i64: 1>, global_size = array<i64: 2>} {
  tir.for global_x %io = 0 to 2 {
    tir.for serial %ii = 0 to 2 {
      %i = affine.apply affine_map<(d0, d1) -> (d0 * 2 + d1)> (%io, %ii)
      %m = memref.alloca() : memref<1xf32, #tir.scope<private>>
      %c0 = arith.constant 0 : index
      %zero = arith.constant 0.0 : f32
      memref.store %zero, %m[%c0] : memref<1xf32, #tir.scope<private>>
      tir.for serial %k = 0 to 5 {
        %v = memref.load %x[%i, %k] : memref<4x5xf32>
        %old = memref.load %m[%c0] : memref<1xf32, #tir.scope<private>>
        %new = arith.addf %old, %v : f32
        memref.store %new, %m[%c0] : memref<1xf32, #tir.scope<private>>
      }
      tir.for serial %j = 0 to 5 {
        %v = memref.load %x[%i, %j] : memref<4x5xf32>
        %s = memref.load %m[%c0] : memref<1xf32, #tir.scope<private>>
        %d = arith.subf %v, %s : f32
        memref.store %d, %y[%i, %j] : memref<4x5xf32>
      }
    }
  }
}

// Two elements change places: both are read before the first is written.
// CHECK-LABEL: @reversed({{.*}} in_place = [array<i64: 0, 1>]
tir.func @reversed(%x: memref<8xf32>, %y: memref<8xf32>)
    attributes {outputs = array<i64: 1>, global_size = array<i64: 4>} {
  tir.for global_x %i = 0 to 4 {
    %j = affine.apply affine_map<(d0) -> (7 - d0)> (%i)
    %a = memref.load %x[%i] : memref<8xf32>
    %b = memref.load %x[%j] : memref<8xf32>
    memref.store %b, %y[%i] : memref<8xf32>
    memref.store %a, %y[%j] : memref<8xf32>
  }
}

// An element is read one iteration before it is written, from the second on.
// CHECK-LABEL: @ahead({{.*}} in_place = [array<i64: 0, 1>]
tir.func @ahead(%x: memref<8xf32>, %y: memref<8xf32>)
    attributes {outputs = array<i64: 1>, global_size = array<i64: 1>} {
  tir.for serial %i = 0 to 7 {
    %j = affine.apply affine_map<(d0) -> (d0 + 1)> (%i)
    %a = memref.load %x[%j] : memref<8xf32>
    memref.store %a, %y[%i] : memref<8xf32>
  }
}

// A fused loop that its quotients and remainders take apart.
// CHECK-LABEL: @quotients({{.*}} in_place = [array<i64: 0, 2>]
tir.func @quotients(%x: memref<6x4xf32>, %b: memref<6xf32>, %y: memref<6x4xf32>)
    attributes {outputs = array<i64: 2>, global_size = array<i64: 12>, local_size = array<i64: 4>} {
  tir.for group_x %g = 0 to 3 {
    tir.for local_x %l = 0 to 4 {
      tir.for vectorized %k = 0 to 2 {
        %i = affine.apply affine_map<(d0, d1) -> (d0 * 2 + d1 floordiv 2)> (%g, %l)
        %j = affine.apply affine_map<(d0, d1) -> (d0 mod 2 * 2 + d1)> (%l, %k)
        %v = memref.load %x[%i, %j] : memref<6x4xf32>
        %w = memref.load %b[%i] : memref<6xf32>
        %s = arith.addf %v, %w : f32
        memref.store %s, %y[%i, %j] : memref<6x4xf32>
      }
    }
  }
}

// Packed buffers, by texels.
// CHECK-LABEL: @texels({{.*}} in_place = [array<i64: 0, 1>]
tir.func @texels(%x: memref<6x4xf32>, %y: memref<6x4xf32>)
    attributes {outputs = array<i64: 1>, global_size = array<i64: 6>} {
  tir.for global_x %i = 0 to 6 {
    tir.for vectorized %l = 0 to 4 {
      %v = tir.texel_read %x[%i] lane %l : memref<6x4xf32> -> f32
      tir.texel_write %v, %y[%i] lane %l : f32, memref<6x4xf32>
    }
  }
}

// The branches of a condition are not both executed, whichever stands first.
// CHECK-LABEL: @branches({{.*}} in_place = [array<i64: 0, 1>]
tir.func @branches(%x: memref<6xf32>, %y: memref<6xf32>)
    attributes {outputs = array<i64: 1>, global_size = array<i64: 6>} {
  tir.for global_x %i = 0 to 6 {
    %c3 = arith.constant 3 : index
    %low = arith.cmpi slt, %i, %c3 : index
    scf.if %low {
      %one = arith.constant 1.0 : f32
      memref.store %one, %y[%i] : memref<6xf32>
    } else {
      %v = memref.load %x[%i] : memref<6xf32>
      memref.store %v, %y[%i] : memref<6xf32>
    }
  }
}

// -----

// What follows is not in place, each for its reason.
// CHECK-NOT: in_place

// The last tile starts at 5 instead of 8, and reads again what has been written.
tir.func @overlapping(%x: memref<13xf32>, %y: memref<13xf32>)
    attributes {outputs = array<i64: 1>, global_size = array<i64: 1>} {
  tir.for serial %t = 0 to 2 {
    tir.for vectorized %k = 0 to 8 {
      %i = affine.apply affine_map<(d0, d1) -> (d0 * 8 + (d0 floordiv 1) * -3 + d1)> (%t, %k)
      %v = memref.load %x[%i] : memref<13xf32>
      %w = arith.addf %v, %v : f32
      memref.store %w, %y[%i] : memref<13xf32>
    }
  }
}

// The same by work-items.
tir.func @overlapping_items(%x: memref<21xf32>, %y: memref<21xf32>)
    attributes {outputs = array<i64: 1>, global_size = array<i64: 3>} {
  tir.for global_x %t = 0 to 3 {
    tir.for vectorized %k = 0 to 8 {
      %i = affine.apply affine_map<(d0, d1) -> (d0 * 8 + (d0 floordiv 2) * -3 + d1)> (%t, %k)
      %v = memref.load %x[%i] : memref<21xf32>
      memref.store %v, %y[%i] : memref<21xf32>
    }
  }
}

// An element is written one iteration before it is read.
tir.func @behind(%x: memref<8xf32>, %y: memref<8xf32>)
    attributes {outputs = array<i64: 1>, global_size = array<i64: 1>} {
  tir.for serial %i = 0 to 7 {
    %j = affine.apply affine_map<(d0) -> (d0 + 1)> (%i)
    %a = memref.load %x[%i] : memref<8xf32>
    memref.store %a, %y[%j] : memref<8xf32>
  }
}

// The order of the iterations of a parallel or a vectorized loop means nothing.
tir.func @shifted(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8xf32>)
    attributes {outputs = array<i64: 1, 2>, global_size = array<i64: 1>} {
  tir.for parallel %i = 0 to 7 {
    %j = affine.apply affine_map<(d0) -> (d0 + 1)> (%i)
    %a = memref.load %x[%j] : memref<8xf32>
    memref.store %a, %y[%i] : memref<8xf32>
  }
  tir.for vectorized %i = 0 to 4 {
    %j = affine.apply affine_map<(d0) -> (d0 + 1)> (%i)
    %a = memref.load %x[%j] : memref<8xf32>
    memref.store %a, %z[%i] : memref<8xf32>
  }
}

// Another work-item reads the element.
tir.func @transposed(%x: memref<4x4xf32>, %y: memref<4x4xf32>)
    attributes {outputs = array<i64: 1>, global_size = array<i64: 4, 4>} {
  tir.for global_y %i = 0 to 4 {
    tir.for global_x %j = 0 to 4 {
      %v = memref.load %x[%j, %i] : memref<4x4xf32>
      memref.store %v, %y[%i, %j] : memref<4x4xf32>
    }
  }
}

// All work-items read row 0.
tir.func @broadcast(%x: memref<4x4xf32>, %y: memref<4x4xf32>)
    attributes {outputs = array<i64: 1>, global_size = array<i64: 4>} {
  tir.for global_x %i = 0 to 4 {
    tir.for vectorized %j = 0 to 4 {
      %c0 = arith.constant 0 : index
      %v = memref.load %x[%c0, %j] : memref<4x4xf32>
      memref.store %v, %y[%i, %j] : memref<4x4xf32>
    }
  }
}

// Read again in a second loop, after the first has written.
tir.func @twice(%x: memref<4x4xf32>, %y: memref<4x4xf32>)
    attributes {outputs = array<i64: 1>, global_size = array<i64: 4>} {
  tir.for global_x %i = 0 to 4 {
    tir.for serial %pass = 0 to 2 {
      tir.for serial %j = 0 to 4 {
        %v = memref.load %x[%i, %j] : memref<4x4xf32>
        memref.store %v, %y[%i, %j] : memref<4x4xf32>
      }
    }
  }
}

// The store stands first.
tir.func @after(%x: memref<4xf32>, %y: memref<4xf32>, %m: memref<1xf32>)
    attributes {outputs = array<i64: 1, 2>, global_size = array<i64: 1>} {
  tir.for serial %i = 0 to 4 {
    %zero = arith.constant 0.0 : f32
    memref.store %zero, %y[%i] : memref<4xf32>
  }
  tir.for serial %i = 0 to 4 {
    %c0 = arith.constant 0 : index
    %v = memref.load %x[%i] : memref<4xf32>
    memref.store %v, %m[%c0] : memref<1xf32>
  }
}

// Work-items that share an index no loop asks for do the same.
tir.func @copies(%x: memref<4xf32>, %y: memref<4xf32>)
    attributes {outputs = array<i64: 1>, global_size = array<i64: 4, 2>} {
  tir.for global_x %i = 0 to 4 {
    %v = memref.load %x[%i] : memref<4xf32>
    %w = arith.addf %v, %v : f32
    memref.store %w, %y[%i] : memref<4xf32>
  }
}

// A group has read all of its row before a barrier, but other work-items write it: a barrier orders
// accesses to local memory.
tir.func @group(%x: memref<4x8xf32>, %y: memref<4x8xf32>)
    attributes {outputs = array<i64: 1>, global_size = array<i64: 32>, local_size = array<i64: 8>} {
  %t = memref.alloca() : memref<8xf32, #tir.scope<local>>
  tir.for group_x %i = 0 to 4 {
    tir.for local_x %j = 0 to 8 {
      %k = affine.apply affine_map<(d0) -> (7 - d0)> (%j)
      %v = memref.load %x[%i, %k] : memref<4x8xf32>
      memref.store %v, %t[%k] : memref<8xf32, #tir.scope<local>>
    }
    tir.barrier
    tir.for local_x %j = 0 to 8 {
      %v = memref.load %t[%j] : memref<8xf32, #tir.scope<local>>
      memref.store %v, %y[%i, %j] : memref<4x8xf32>
    }
  }
}

// An index that is loaded may be any.
tir.func @gather(%x: memref<4xf32>, %at: memref<4xi32>, %y: memref<4xf32>)
    attributes {outputs = array<i64: 2>, global_size = array<i64: 4>} {
  tir.for global_x %i = 0 to 4 {
    %n = memref.load %at[%i] : memref<4xi32>
    %k = arith.index_cast %n : i32 to index
    %v = memref.load %x[%k] : memref<4xf32>
    memref.store %v, %y[%i] : memref<4xf32>
  }
}

// Another type, another size, a constant, an image.
tir.func @unlike(
    %i: memref<4xi32>, %h: memref<8xf32>, %w: memref<4xf32>,
    %t: memref<1x1x4xf32, #tir.scope<texture, [1]>>, %y: memref<4xf32>)
    attributes {outputs = array<i64: 4>, constants = array<i64: 2>, global_size = array<i64: 4>} {
  tir.for global_x %k = 0 to 4 {
    %n = memref.load %i[%k] : memref<4xi32>
    %a = arith.sitofp %n : i32 to f32
    %b = memref.load %h[%k] : memref<8xf32>
    %c = memref.load %w[%k] : memref<4xf32>
    %c0 = arith.constant 0 : index
    %d = tir.texel_read %t[%c0, %c0] lane %k : memref<1x1x4xf32, #tir.scope<texture, [1]>> -> f32
    %ab = arith.addf %a, %b : f32
    %cd = arith.addf %c, %d : f32
    %s = arith.addf %ab, %cd : f32
    memref.store %s, %y[%k] : memref<4xf32>
  }
}

// Not lowered: where its loops run is not known.
tir.func @early(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = array<i64: 1>} {
  tir.for parallel %i = 0 to 4 {
    %v = memref.load %x[%i] : memref<4xf32>
    memref.store %v, %y[%i] : memref<4xf32>
  }
}

// -----

// Callers of these programs may bind one buffer to x and y.

// Two work-items store the middle row, either unchanged or the new one.
// CHECK-LABEL: @insert({{.*}} in_place = [array<i64: 0, 2>]
tir.func @insert(%x: memref<3x4xf32>, %new: memref<4xf32>, %y: memref<3x4xf32>, %at: memref<1xi32>)
    attributes {outputs = array<i64: 2>, global_size = array<i64: 2>} {
  tir.for global_x %g = 0 to 2 {
    tir.for serial %k = 0 to 2 {
      tir.for vectorized %j = 0 to 4 {
        %i = affine.apply affine_map<(d0, d1) -> (d0 + d1)> (%g, %k)
        %c0 = arith.constant 0 : index
        %p = memref.load %at[%c0] : memref<1xi32>
        %row = arith.index_cast %i : index to i32
        %hit = arith.cmpi eq, %row, %p : i32
        %v = scf.if %hit -> (f32) {
          %n = memref.load %new[%j] : memref<4xf32>
          scf.yield %n : f32
        } else {
          %old = memref.load %x[%i, %j] : memref<3x4xf32>
          scf.yield %old : f32
        }
        memref.store %v, %y[%i, %j] : memref<3x4xf32>
      }
    }
  }
}
cl.program @main(%x: memref<3x4xf32> {cl.name = "x"}, %new: memref<4xf32> {cl.name = "new"}, %at: memref<1xi32> {cl.name = "at"}, %y: memref<3x4xf32> {cl.name = "y", cl.in_place = "x"}) inputs 3 {
  cl.enqueue_kernel @insert(%x, %new, %y, %at) : memref<3x4xf32>, memref<4xf32>, memref<3x4xf32>, memref<1xi32>
  cl.return
}

// Here one of them may add to what the other has stored.
// CHECK-LABEL: @accumulate(
// CHECK-NOT: in_place = [
tir.func @accumulate(%x: memref<3x4xf32>, %new: memref<4xf32>, %y: memref<3x4xf32>)
    attributes {outputs = array<i64: 2>, global_size = array<i64: 2>} {
  tir.for global_x %g = 0 to 2 {
    tir.for serial %k = 0 to 2 {
      tir.for vectorized %j = 0 to 4 {
        %i = affine.apply affine_map<(d0, d1) -> (d0 + d1)> (%g, %k)
        %n = memref.load %new[%j] : memref<4xf32>
        %old = memref.load %x[%i, %j] : memref<3x4xf32>
        %v = arith.addf %old, %n : f32
        memref.store %v, %y[%i, %j] : memref<3x4xf32>
      }
    }
  }
}
cl.program @adding(%x: memref<3x4xf32> {cl.name = "x"}, %new: memref<4xf32> {cl.name = "new"}, %y: memref<3x4xf32> {cl.name = "y", cl.in_place = "x"}) inputs 2 {
  cl.enqueue_kernel @accumulate(%x, %new, %y) : memref<3x4xf32>, memref<4xf32>, memref<3x4xf32>
  cl.return
}

// The second pass would keep what the first has stored.
// CHECK-LABEL: @passes(
// CHECK-NOT: in_place = [
tir.func @passes(%x: memref<4xf32>, %new: memref<4xf32>, %y: memref<4xf32>)
    attributes {outputs = array<i64: 2>, global_size = array<i64: 1>} {
  tir.for serial %pass = 0 to 2 {
    tir.for serial %j = 0 to 4 {
      %c1 = arith.constant 1 : index
      %first = arith.cmpi slt, %pass, %c1 : index
      %v = scf.if %first -> (f32) {
        %n = memref.load %new[%j] : memref<4xf32>
        scf.yield %n : f32
      } else {
        %old = memref.load %x[%j] : memref<4xf32>
        scf.yield %old : f32
      }
      memref.store %v, %y[%j] : memref<4xf32>
    }
  }
}
cl.program @storing_twice(%x: memref<4xf32> {cl.name = "x"}, %new: memref<4xf32> {cl.name = "new"}, %y: memref<4xf32> {cl.name = "y", cl.in_place = "x"}) inputs 2 {
  cl.enqueue_kernel @passes(%x, %new, %y) : memref<4xf32>, memref<4xf32>, memref<4xf32>
  cl.return
}

// No program lets callers bind one buffer to both of these.
// CHECK-LABEL: @insert_apart(
// CHECK-NOT: in_place = [
tir.func @insert_apart(%x: memref<3x4xf32>, %new: memref<4xf32>, %y: memref<3x4xf32>, %at: memref<1xi32>)
    attributes {outputs = array<i64: 2>, global_size = array<i64: 2>} {
  tir.for global_x %g = 0 to 2 {
    tir.for serial %k = 0 to 2 {
      tir.for vectorized %j = 0 to 4 {
        %i = affine.apply affine_map<(d0, d1) -> (d0 + d1)> (%g, %k)
        %c0 = arith.constant 0 : index
        %p = memref.load %at[%c0] : memref<1xi32>
        %row = arith.index_cast %i : index to i32
        %hit = arith.cmpi eq, %row, %p : i32
        %v = scf.if %hit -> (f32) {
          %n = memref.load %new[%j] : memref<4xf32>
          scf.yield %n : f32
        } else {
          %old = memref.load %x[%i, %j] : memref<3x4xf32>
          scf.yield %old : f32
        }
        memref.store %v, %y[%i, %j] : memref<3x4xf32>
      }
    }
  }
}
