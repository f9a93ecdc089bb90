"""Quantised models (QDQ) made by onnxruntime's quantiser, and their error in steps."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper
from onnxruntime.quantization import (
    CalibrationDataReader,
    QuantFormat,
    QuantType,
    quantize_static,
)

Arrays = dict[str, np.ndarray]


class _Reader(CalibrationDataReader):
    """Hands out samples one by one."""

    def __init__(self, samples: Sequence[Arrays]) -> None:
        self._rest = iter(samples)

    def get_next(self) -> Arrays | None:  # type: ignore[override]
        """The next sample; None after the last."""
        return next(self._rest, None)


def quantise(model: onnx.ModelProto, samples: Sequence[Arrays], per_channel: bool) -> bytes:
    """The model in QDQ form: activations uint8, weights int8 of one scale or one per channel."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "quantised.onnx")
        quantize_static(
            model,
            path,
            _Reader(samples),
            quant_format=QuantFormat.QDQ,
            per_channel=per_channel,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
        )
        return path.read_bytes()


def output_step(model: bytes) -> float:
    """The scale of the last quantised value on the way to the model's first output."""
    graph = onnx.load_from_string(model).graph
    makers = {name: node for node in graph.node for name in node.output}
    constants = {tensor.name: tensor for tensor in graph.initializer}
    pending, seen = [graph.output[0].name], set[str]()
    while pending:
        node = makers.get(pending.pop(0))
        if node is None or node.output[0] in seen:
            continue
        seen.add(node.output[0])
        if node.op_type == "DequantizeLinear" and node.input[0] in makers:
            return float(numpy_helper.to_array(constants[node.input[1]]).max())
        pending += node.input
    raise ValueError("no value of the model is quantised")


def run_onnxruntime(model: bytes, inputs: Arrays, optimised: bool) -> list[np.ndarray]:
    """onnxruntime's outputs: by its integer kernels, or node by node in floats."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    levels = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = (
        levels.ORT_ENABLE_ALL if optimised else levels.ORT_DISABLE_ALL
    )
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return [np.asarray(y) for y in session.run(None, inputs)]
