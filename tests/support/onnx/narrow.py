"""The element types that tensors only store, and models of them."""

from __future__ import annotations

from collections.abc import Sequence

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper

FLOATS = {
    "BFLOAT16": ml_dtypes.bfloat16,
    "FLOAT8E4M3FN": ml_dtypes.float8_e4m3fn,
    "FLOAT8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "FLOAT8E5M2": ml_dtypes.float8_e5m2,
    "FLOAT8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
    "FLOAT4E2M1": ml_dtypes.float4_e2m1fn,
}
INTEGERS = {
    "INT4": ml_dtypes.int4,
    "UINT4": ml_dtypes.uint4,
    "INT2": ml_dtypes.int2,
    "UINT2": ml_dtypes.uint2,
}
DTYPES = FLOATS | INTEGERS
ALWAYS_SATURATES = "FLOAT4E2M1"


def codes(name: str) -> np.ndarray:
    """Return every bit pattern of a type."""
    dtype = np.dtype(DTYPES[name])
    if dtype.itemsize == 2:
        return np.arange(1 << 16, dtype=np.uint16).view(dtype)
    bits = {"4": 4, "2": 2}.get(name[-1], 8) if name in INTEGERS else 8
    bits = 4 if name == ALWAYS_SATURATES else bits
    if name in INTEGERS:
        limits = ml_dtypes.iinfo(dtype)
        return np.arange(limits.min, limits.max + 1).astype(dtype)
    return np.arange(1 << bits, dtype=np.uint8).view(dtype)


def bits(array: np.ndarray) -> np.ndarray:
    """Return the bits of narrow elements as integers."""
    return array.view(np.uint16 if array.dtype.itemsize == 2 else np.uint8)


def model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Sequence[tuple[str, str, Sequence[int]]],
    outputs: Sequence[str],
    weights: Sequence[onnx.TensorProto] = (),
) -> onnx.ModelProto:
    """Return a model whose inputs have a name, the name of a type and a shape each."""
    graph = helper.make_graph(
        nodes,
        "narrow",
        [
            helper.make_tensor_value_info(name, TensorProto.DataType.Value(type_), shape)
            for name, type_, shape in inputs
        ],
        [onnx.ValueInfoProto(name=name) for name in outputs],
        weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 25)], ir_version=13)
