// RUN: clopt %s --target "adreno-740 winograd=prefer texture=off" -p opencl \
// RUN:   | filecheck %s --check-prefix=FAST
// RUN: clopt %s --target "adreno-740 winograd=prefer texture=off" -p opencl --memory-limit 130kB 2>&1 \
// RUN:   | filecheck %s
// RUN: not clopt %s --target "adreno-740 winograd=prefer texture=off" -p opencl --memory-limit 30000 --disable-verify 2>&1 \
// RUN:   | filecheck %s --check-prefix=IMPOSSIBLE
// RUN: not clopt %s --target "adreno-740 winograd=prefer texture=off" -p opencl --memory-limit -1 2>&1 \
// RUN:   | filecheck %s --check-prefix=NEGATIVE
// RUN: not clopt %s -p simplify --memory-limit 30000 2>&1 | filecheck %s --check-prefix=PIPELINE

// The transforms of a convolution have results for a whole map, which the direct form does not need.
// FAST: cl.arena : memref<165888xi8>
// CHECK: remark: to keep intermediate results within 130,000 bytes, these nodes use less memory and
// CHECK-SAME: take an estimated {{[0-9]+}} us longer: nn.conv {{[0-9]}} (form direct)
// CHECK: cl.arena : memref<86528xi8>
// IMPOSSIBLE: the memory limit of 30,000 bytes is too low: intermediate results need at least
// IMPOSSIBLE-SAME: bytes, at nn.conv {{[0-9]}}; raise the limit
// NEGATIVE: clopt: --memory-limit -1: write a number of bytes, or as in 64MiB or 1GB.
// PIPELINE: a memory limit needs a pipeline that runs nn-choose and later cl-plan-memory, for example
// PIPELINE-SAME: opencl.
func.func @main(%x: tensor<1x16x24x24xf32>) -> tensor<1x16x24x24xf32> {
  %w = nn.constant dense<0.5> : tensor<16x16x3x3xf32>
  %y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x24x24xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x24x24xf32>
  %z = nn.conv %y, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x24x24xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x24x24xf32>
  func.return %z : tensor<1x16x24x24xf32>
}
