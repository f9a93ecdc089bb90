"""The result of an operation of the reference, computed by onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

from support.clml.reference.operations import Tensor

MODES = ("FP32", "FP16", "FP16_ACC32")


def random(mode: str, *shape: int, seed: int = 0) -> np.ndarray:
    """Numbers of a normal distribution in the element type of an arithmetic mode."""
    made = np.random.default_rng([seed, *shape]).standard_normal(shape)
    return made.astype(np.float32 if mode == "FP32" else np.float16)


def onnx_result(kind: str, *inputs: np.ndarray | None, **attributes: Any) -> np.ndarray:
    """The result of one node in float32; inputs that are not of an integer type become float32."""
    names = ["" if array is None else f"x{i}" for i, array in enumerate(inputs)]
    feeds = {
        name: array.astype(np.float32) if array.dtype.kind == "f" else array
        for name, array in zip(names, inputs, strict=True)
        if array is not None
    }
    values = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), None)
        for name, array in feeds.items()
    ]
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    node = helper.make_node(kind, names, ["y"], **attributes)
    graph = helper.make_graph([node], "graph", values, [result])
    model = helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 18)])
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, feeds)[0]


def like(x: np.ndarray, wanted: np.ndarray, layout: str = "OPTIMAL") -> Tensor:
    """The tensor of a result: of x's type and the wanted shape."""
    return Tensor(np.zeros(wanted.shape, x.dtype), layout, written=False)


def agrees(got: np.ndarray, wanted: np.ndarray, scale: float = 1.0) -> None:
    """Halves are sums in float that were rounded once; `scale` is the size of a sum's terms."""
    assert got.shape == wanted.shape
    rounding = 2.0**-11 if got.dtype == np.float16 else 0.0
    np.testing.assert_allclose(
        got.astype(np.float32), wanted, rtol=rounding + 1e-5, atol=scale * 1e-5
    )
