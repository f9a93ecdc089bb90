"""Results of the evaluator of nn beside those of onnxruntime."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import helper
from xdsl.dialects.test import TestOp
from xdsl.ir import Operation

from clopt.dialects import nn
from clopt.dialects.nn.evaluation import evaluate

Array = np.ndarray[Any, np.dtype[Any]]


class Drawing:
    """Draws float32 arrays of given shapes."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def __call__(self, *shape: int) -> Array:
        """An array of normally distributed numbers."""
        return self.rng.normal(size=shape).astype(np.float32)


def integers(*values: int) -> Array:
    return np.array(values, np.int64)


def by_onnx(
    op_type: str, inputs: Sequence[Array | None], outputs: int, **attributes: Any
) -> list[Array]:
    names = ["" if x is None else f"x{i}" for i, x in enumerate(inputs)]
    feeds = {name: np.asarray(x) for name, x in zip(names, inputs, strict=True) if x is not None}
    node = helper.make_node(op_type, names, [f"y{i}" for i in range(outputs)], **attributes)
    graph = helper.make_graph(
        [node],
        "one",
        [
            helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
            for n, x in feeds.items()
        ],
        [onnx.ValueInfoProto(name=name) for name in node.output],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, feeds)


def check(
    build: Callable[..., Operation], inputs: Sequence[Array], expected: Sequence[Array]
) -> None:
    source = TestOp(result_types=[nn.array_type(x) for x in inputs])
    op = build(*source.results)
    op.verify()
    results = evaluate(op, inputs)
    assert results is not None
    for result, value, array in zip(op.results, results, expected, strict=True):
        assert nn.array_type(value) == result.type
        assert value.dtype == array.dtype
        np.testing.assert_allclose(value, array, rtol=2e-5, atol=2e-6)
