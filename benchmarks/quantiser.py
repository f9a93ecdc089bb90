"""Quantised models (QDQ) made by onnxruntime's quantiser, and their error in steps."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import onnx.utils
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
    """Returns samples one by one."""

    def __init__(self, samples: Sequence[Arrays]) -> None:
        self._rest = iter(samples)

    def get_next(self) -> Arrays | None:  # type: ignore[override]
        """Return the next sample; None after the last."""
        return next(self._rest, None)


def quantise(model: onnx.ModelProto, samples: Sequence[Arrays], per_channel: bool) -> bytes:
    """Quantise to QDQ form: activations uint8, weights int8 with one scale or one per channel."""
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
    """Return the scale of the last quantised value on the way to the model's first output."""
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
    """Return onnxruntime's outputs: by its integer kernels, or node by node in floats."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    levels = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = (
        levels.ORT_ENABLE_ALL if optimised else levels.ORT_DISABLE_ALL
    )
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return [np.asarray(y) for y in session.run(None, inputs)]


@dataclass(frozen=True)
class Piece:
    """The part of a QDQ model that computes one quantised value from others."""

    model: bytes
    inputs: tuple[str, ...]
    output: str


def pieces(model: bytes) -> list[Piece]:
    """Return a QDQ model in parts, each of which computes one quantised value."""
    graph = onnx.load_from_string(model).graph
    inferred = onnx.shape_inference.infer_shapes(onnx.load_from_string(model))
    makers = {name: node for node in graph.node for name in node.output}
    constants = {tensor.name for tensor in graph.initializer}
    kept = {node.output[0] for node in graph.node if node.op_type == "QuantizeLinear"}
    extractor = onnx.utils.Extractor(inferred)
    found: list[Piece] = []
    for output in (node.output[0] for node in graph.node if node.output[0] in kept):
        inputs: dict[str, None] = {}
        pending, seen = [*makers[output].input], set[str]()
        while pending:
            name = pending.pop()
            if name in constants or name in seen or not name:
                continue
            seen.add(name)
            if name in kept or name not in makers:
                inputs[name] = None
            else:
                pending += makers[name].input
        if inputs:
            part = extractor.extract_model(list(inputs), [output])
            found.append(Piece(part.SerializeToString(), tuple(inputs), output))
    return found


def values_of(model: bytes, names: Sequence[str], inputs: Arrays) -> Arrays:
    """Return the values with these names, computed by onnxruntime node by node in floats."""
    parsed = onnx.shape_inference.infer_shapes(onnx.load_from_string(model))
    types = {value.name: value for value in parsed.graph.value_info}
    there = {value.name for value in parsed.graph.output} | inputs.keys()
    parsed.graph.output.extend(types[name] for name in dict.fromkeys(names) if name not in there)
    outputs = [value.name for value in parsed.graph.output]
    arrays = run_onnxruntime(parsed.SerializeToString(), inputs, optimised=False)
    return {**dict(zip(outputs, arrays, strict=True)), **inputs}
