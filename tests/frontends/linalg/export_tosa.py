"""Write `networks/tosa.mlir` again, a network of TOSA as IREE's compiler lowers it.

    pip install iree-base-compiler==3.13.0
    PYTHONPATH=tests python tests/frontends/linalg/export_tosa.py

Beside it lie an input and what numpy computes from it.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from export import HERE, run, weights

Array = np.ndarray[Any, Any]

NETWORK = """
func.func @main(%x: tensor<1x16x16x3xf32>) -> tensor<1x10xf32> {{
  %w = "tosa.const"() <{{values = {first}}}> : () -> tensor<8x3x3x3xf32>
  %b = "tosa.const"() <{{values = {bias}}}> : () -> tensor<8xf32>
  %zero = "tosa.const"() <{{values = dense<0.0> : tensor<1xf32>}}> : () -> tensor<1xf32>
  %c = "tosa.conv2d"(%x, %w, %b, %zero, %zero) <{{acc_type = f32, dilation = array<i64: 1, 1>,
    pad = array<i64: 0, 1, 0, 1>, stride = array<i64: 2, 2>}}> : (tensor<1x16x16x3xf32>,
    tensor<8x3x3x3xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8x8xf32>
  %r = "tosa.clamp"(%c) <{{min_val = 0.0 : f32, max_val = 0.5 : f32}}>
    : (tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  %dw = "tosa.const"() <{{values = {by_channel}}}> : () -> tensor<3x3x8x1xf32>
  %d = "tosa.depthwise_conv2d"(%r, %dw, %b, %zero, %zero) <{{acc_type = f32,
    dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>}}>
    : (tensor<1x8x8x8xf32>, tensor<3x3x8x1xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>)
    -> tensor<1x8x8x8xf32>
  %s = "tosa.sigmoid"(%d) : (tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  %p = "tosa.max_pool2d"(%s) <{{kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>,
    stride = array<i64: 2, 2>}}> : (tensor<1x8x8x8xf32>) -> tensor<1x4x4x8xf32>
  %q = "tosa.avg_pool2d"(%p, %zero, %zero) <{{acc_type = f32, kernel = array<i64: 4, 4>,
    pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 4, 4>}}>
    : (tensor<1x4x4x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x8xf32>
  %rows = "tosa.const_shape"() <{{values = dense<[1, 1, 8]> : tensor<3xindex>}}>
    : () -> !tosa.shape<3>
  %f = "tosa.reshape"(%q, %rows) : (tensor<1x1x1x8xf32>, !tosa.shape<3>) -> tensor<1x1x8xf32>
  %v = "tosa.const"() <{{values = {last}}}> : () -> tensor<1x8x10xf32>
  %m = "tosa.matmul"(%f, %v, %zero, %zero)
    : (tensor<1x1x8xf32>, tensor<1x8x10xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x10xf32>
  %e = "tosa.exp"(%m) : (tensor<1x1x10xf32>) -> tensor<1x1x10xf32>
  %t = "tosa.reduce_sum"(%e) <{{axis = 2 : i32}}> : (tensor<1x1x10xf32>) -> tensor<1x1x1xf32>
  %i = "tosa.reciprocal"(%t) : (tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  %shift = "tosa.const"() <{{values = dense<0> : tensor<1xi8>}}> : () -> tensor<1xi8>
  %o = "tosa.mul"(%e, %i, %shift)
    : (tensor<1x1x10xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x10xf32>
  %pair = "tosa.const_shape"() <{{values = dense<[1, 10]> : tensor<2xindex>}}>
    : () -> !tosa.shape<2>
  %y = "tosa.reshape"(%o, %pair) : (tensor<1x1x10xf32>, !tosa.shape<2>) -> tensor<1x10xf32>
  func.return %y : tensor<1x10xf32>
}}
"""


def expected(x: Array, first: Array, bias: Array, by_channel: Array, last: Array) -> Array:
    """Return what the network computes."""

    def windows(image: Array, step: int) -> Array:
        found = np.lib.stride_tricks.sliding_window_view(image, (3, 3), (1, 2))
        return found[:, ::step, ::step]

    padded = np.pad(x, ((0, 0), (0, 1), (0, 1), (0, 0)))
    x = np.einsum("nhwcij,fijc->nhwf", windows(padded, 2), first) + bias
    padded = np.pad(np.clip(x, 0, 0.5), ((0, 0), (1, 1), (1, 1), (0, 0)))
    x = np.einsum("nhwcij,ijcm->nhwc", windows(padded, 1), by_channel) + bias
    x = 1 / (1 + np.exp(-x))
    x = x.reshape(1, 4, 2, 4, 2, 8).max((2, 4)).mean((1, 2))
    e = np.exp(x @ last[0])
    return (e / e.sum()).astype(np.float32)


def dense(array: Array) -> str:
    """Return an array as MLIR has it."""
    shape = "x".join(map(str, array.shape))
    return f'dense<"0x{array.tobytes().hex()}"> : tensor<{shape}xf32>'


def main() -> None:
    """Write the text, an input and the output."""
    rng = np.random.default_rng(0)
    shapes = {"first": (8, 3, 3, 3), "bias": (8,), "by_channel": (3, 3, 8, 1), "last": (1, 8, 10)}
    arrays = {name: 3 * weights(rng, *shape) for name, shape in shapes.items()}
    x = 5 * weights(rng, 1, 16, 16, 3)
    with tempfile.TemporaryDirectory() as name:
        source = Path(name, "tosa.mlir")
        source.write_text(NETWORK.format(**{key: dense(array) for key, array in arrays.items()}))
        pipeline = "--iree-tosa-input-transformation-pipeline"
        run("iree-opt", str(source), pipeline, "-o", str(HERE / "tosa.mlir"))
    np.savez_compressed(HERE / "tosa.npz", input=x, output=expected(x, **arrays))


if __name__ == "__main__":
    main()
