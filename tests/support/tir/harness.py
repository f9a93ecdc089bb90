"""Lower one nn operation to an unscheduled kernel and interpret it on numpy arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
from hypothesis import settings
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from xdsl.ir import Block, Operation, SSAValue

from clopt.dialects import nn
from clopt.passes.nn.lowering import LOWERINGS, KernelBuilder
from support import effort
from support.tir import interpreter


def examples(count: int) -> settings:
    """The settings of a property with `count` examples by default."""
    return settings(max_examples=effort.examples(count))


def evaluate(
    build: Callable[..., Operation | Sequence[Operation]], *arrays: np.ndarray
) -> list[np.ndarray]:
    """The results of the last operation that `build` makes, of values that stand for the arrays."""
    block = Block(arg_types=[nn.array_type(a) for a in arrays])
    made = build(*block.args)
    ops = [made] if isinstance(made, Operation) else list(made)
    block.add_ops(ops)
    outputs: Sequence[SSAValue] = ops[-1].results
    kernel = KernelBuilder("kernel", block.args, outputs)
    for op in ops:
        op.verify()
        LOWERINGS[type(op)](kernel, op)
    function = kernel.finish()
    function.verify()
    results = [
        np.zeros(nn.shape_of(v), nn.numpy_dtype(nn.tensor_type(v).element_type)) for v in outputs
    ]
    interpreter.run(function, [*(np.array(a, order="C") for a in arrays), *results])
    return results


def onnx_reference(
    kind: str, *arrays: np.ndarray | None, outputs: int = 1, opset: int = 21, **attributes: Any
) -> list[np.ndarray]:
    """The results of ONNX's own reference for one node; all inputs are constants of the model."""
    names = ["" if a is None else f"x{i}" for i, a in enumerate(arrays)]
    results = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(kind, names, results, **attributes)
    initializers = [
        numpy_helper.from_array(array, name)
        for array, name in zip(arrays, names, strict=True)
        if array is not None
    ]
    values = [onnx.ValueInfoProto(name=name) for name in results]
    graph = helper.make_graph([node], "graph", [], values, initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    return [np.asarray(a) for a in ReferenceEvaluator(model).run(None, {})]
