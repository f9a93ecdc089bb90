"""Operations in the sizes of real networks by CLML and by our kernels: time and error.

`python benchmarks/clml_matrix.py --device adreno` runs each alone, in float and in half, and prints
a table. With `--library reference` the reference library replaces CLML: its results are
meaningful, its times are not. `--only pool` takes the rows with that word in their names.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper
from rich.console import Console
from rich.table import Table

import clopt
from clopt import CloptError


@dataclass(frozen=True)
class Row:
    """One operation: the ONNX text that computes y from x and w, and their sizes."""

    name: str
    nodes: str
    x: tuple[int, ...]
    w: tuple[int, ...] = ()


ROWS = (
    Row("conv 3x3", "y = Conv<pads = [1, 1, 1, 1]>(x, w)", (1, 128, 56, 56), (128, 128, 3, 3)),
    Row("conv 3x3", "y = Conv<pads = [1, 1, 1, 1]>(x, w)", (1, 128, 16, 16), (256, 128, 3, 3)),
    Row("conv 1x1", "y = Conv(x, w)", (1, 256, 56, 56), (64, 256, 1, 1)),
    Row(
        "conv 7x7 s2",
        "y = Conv<strides = [2, 2], pads = [3, 3, 3, 3]>(x, w)",
        (1, 3, 224, 224),
        (64, 3, 7, 7),
    ),
    Row(
        "depthwise 3x3 s2",
        "y = Conv<group = 128, strides = [2, 2], pads = [2, 2, 2, 2]>(x, w)",
        (1, 128, 112, 112),
        (128, 1, 3, 3),
    ),
    Row(
        "transposed 4x4 s2",
        "y = ConvTranspose<strides = [2, 2], pads = [1, 1, 1, 1]>(x, w)",
        (1, 64, 200, 200),
        (64, 64, 4, 4),
    ),
    Row(
        "transposed 4x4 s2",
        "y = ConvTranspose<strides = [2, 2], pads = [1, 1, 1, 1]>(x, w)",
        (1, 256, 100, 100),
        (256, 64, 4, 4),
    ),
    Row(
        "max pool 3x3 s2",
        "y = MaxPool<kernel_shape = [3, 3], strides = [2, 2]>(x)",
        (1, 64, 147, 147),
    ),
    Row(
        "average pool 3x3",
        "y = AveragePool<kernel_shape = [3, 3], pads = [0, 0, 1, 1]>(x)",
        (1, 192, 71, 71),
    ),
    Row("global average pool", "y = GlobalAveragePool(x)", (1, 2048, 8, 8)),
    Row("dense 1", "y = MatMul(x, w)", (1, 2048), (2048, 1000)),
    Row("dense 320", "y = Gemm<transB = 1>(x, w)", (320, 64), (320, 64)),
    Row("softmax", "y = Softmax<axis = 1>(x)", (1, 64, 64, 64)),
    Row("depth to space 4", "y = DepthToSpace<blocksize = 4>(x)", (1, 64, 128, 128)),
    Row("relu", "y = Relu(x)", (1, 64, 112, 112)),
)
"""Includes cases that early users of CLML found slow or inaccurate on devices."""


def model_of(row: Row, dtype: type[np.floating]) -> onnx.ModelProto:
    """Return the operation with random weights that half represents exactly."""
    element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    text = f"g (float[1] x) => (float[1] y) {{ {row.nodes} }}"
    nodes = onnx.parser.parse_graph(text).node
    inputs = [helper.make_tensor_value_info("x", element, row.x)]
    outputs = [helper.make_empty_tensor_value_info("y")]
    weights: list[onnx.TensorProto] = []
    if row.w:
        values = np.random.default_rng(1).uniform(-1, 1, row.w) / prod(row.w[1:]) ** 0.5
        weights.append(numpy_helper.from_array(values.astype(np.float16).astype(dtype), "w"))
    graph = helper.make_graph(nodes, "operation", inputs, outputs, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return onnx.shape_inference.infer_shapes(model)


def measure(model: clopt.CompiledModel, x: np.ndarray, want: np.ndarray) -> tuple[float, float]:
    """Return the milliseconds of the best of a few runs, and the largest relative error.

    The time includes copies of input and output; the error is relative to the largest value.
    """
    best = float("inf")
    for _ in range(4):
        start = time.perf_counter()
        (got,) = model.run([x])
        best = min(best, time.perf_counter() - start)
    return best * 1e3, float(np.abs(got.astype(np.float64) - want).max() / np.abs(want).max())


def line(row: Row, dtype: type[np.floating], device: str | None, library: str | None) -> list[str]:
    """Return the cells of a row of the table."""
    x = np.random.default_rng(2).uniform(-1, 1, row.x).astype(np.float16)
    session = onnxruntime.InferenceSession(
        model_of(row, np.float32).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    (want,) = session.run(None, {"x": x.astype(np.float32)})
    cells = [row.name, "x".join(map(str, row.x)), "f32" if dtype is np.float32 else "f16"]
    for mode in ("prefer", "off"):
        given = {"clml": library} if library and mode == "prefer" else None
        try:
            model = clopt.compile(
                model_of(row, dtype), device=device, clml=mode, accelerators=given
            )
        except CloptError as error:
            return [*cells, str(error)]
        if mode == "prefer" and "clml.graph" not in str(model.module):
            cells += ["not offloaded", ""]
            continue
        milliseconds, error = measure(model, x.astype(dtype), want)
        cells += [f"{milliseconds:.2f}", f"{error:.1e}"]
    return cells


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", help="its number, or a part of its name")
    parser.add_argument("--library", choices=["reference"])
    parser.add_argument("--only", default="", help="a part of the names of rows")
    given = parser.parse_args(arguments)
    columns = ["operation", "x", "type", "CLML ms", "error", "kernels ms", "error"]
    table = Table(*columns, box=None)
    for row in ROWS:
        if given.only in row.name:
            for dtype in (np.float32, np.float16):
                table.add_row(*line(row, dtype, given.device, given.library))
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
