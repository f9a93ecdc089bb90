// RUN: clopt %s --split-input-file --verify-diagnostics

// Which loops may stand inside of each other; see dialects/tir/nesting.py.

tir.func @lanes() attributes {outputs = array<i64>} {
  tir.for vectorized %v = 0 to 4 {
    // expected-error@+1 {{a group_x loop cannot be inside a vectorized loop}}
    tir.for group_x %g = 0 to 4 {
    }
  }
}

// -----

tir.func @lane() attributes {outputs = array<i64>} {
  tir.for group_x %g = 0 to 4 {
    tir.for vectorized %u = 0 to 4 {
      // expected-error@+1 {{a local_x loop cannot be inside a vectorized loop}}
      tir.for local_x %l = 0 to 4 {
      }
    }
  }
}

// -----

tir.func @copies() attributes {outputs = array<i64>} {
  tir.for unrolled %u = 0 to 4 {
    // expected-error@+1 {{a group_x loop must have only global and group loops around it}}
    tir.for group_x %g = 0 to 4 {
    }
  }
}

// -----

tir.func @serial() attributes {outputs = array<i64>} {
  tir.for serial %s = 0 to 4 {
    // expected-error@+1 {{a global_x loop must have only global and group loops around it}}
    tir.for global_x %g = 0 to 4 {
    }
  }
}

// -----

tir.func @rolled() attributes {outputs = array<i64>} {
  tir.for rolled %s = 0 to 1 {
    // expected-error@+1 {{a group_x loop must have only global and group loops around it}}
    tir.for group_x %g = 0 to 4 {
    }
  }
}

// -----

tir.func @item() attributes {outputs = array<i64>} {
  tir.for local_x %l = 0 to 4 {
    // expected-error@+1 {{a group_y loop must have only global and group loops around it}}
    tir.for group_y %g = 0 to 4 {
    }
  }
}

// -----

tir.func @again() attributes {outputs = array<i64>} {
  tir.for group_x %g = 0 to 4 {
    // expected-error@+1 {{group_x is already bound: loop 'g' around it is group_x}}
    tir.for group_x %h = 0 to 4 {
    }
  }
}

// -----

// In a kernel, the same is said of all its loops together.
tir.for global_z %g = 0 to 4 {
  tir.for serial %s = 0 to 4 {
    // expected-error@+1 {{local_z is already bound: loop 'g' around it is global_z}}
    tir.for local_z %l = 0 to 4 {
    }
  }
}

// -----

tir.func @branch(%c: memref<1xi1>) attributes {outputs = array<i64>} {
  tir.for vectorized %v = 0 to 4 {
    %z = arith.constant 0 : index
    %b = memref.load %c[%z] : memref<1xi1>
    scf.if %b {
      // expected-error@+1 {{a barrier must not be inside a vectorized loop}}
      tir.barrier
    }
  }
}

// -----

// Loops that run once vanish, work-items of a group walk a loop together, lanes and copies may
// have loops of their own, and axes are apart.
tir.func @legal() attributes {outputs = array<i64>} {
  tir.for parallel %once = 0 to 1 {
    tir.for group_x %g = 0 to 4 {
      tir.for global_y %h = 0 to 4 {
        tir.for rolled %r = 0 to 4 {
          tir.for unrolled %c = 0 to 2 {
            tir.for local_x %l = 0 to 4 {
              tir.barrier
              tir.for vectorized %v = 0 to 4 {
                tir.for serial %s = 0 to 4 {
                  tir.for unrolled %u = 0 to 4 {
                  }
                }
              }
            }
          }
        }
      }
    }
  }
}
