"""ONNX graphs for tests, one line for each node."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper


class OnnxGraph:
    """An ONNX graph in the making: methods append to it and return names."""

    def __init__(self, seed: int = 0) -> None:
        self.rng = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def op(self, kind: str, *inputs: str, outputs: int = 1, **attributes: Any) -> Any:
        """Append a node of any kind."""
        name = f"{kind.lower()}{len(self.nodes)}"
        names = [name] if outputs == 1 else [f"{name}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, name=name, **attributes))
        return names[0] if outputs == 1 else names

    def weight(self, array: np.ndarray) -> str:
        """Add an initialiser."""
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(array, order="C"), name))
        return name

    def ints(self, *values: int) -> str:
        """An int64 vector."""
        return self.weight(np.array(values, np.int64))

    def scalar(self, value: float) -> str:
        """A float32 scalar."""
        return self.weight(np.array(value, np.float32))

    def normal(self, *shape: int, scale: float = 1.0) -> str:
        """A normally distributed float32 initialiser."""
        return self.weight((self.rng.standard_normal(shape) * scale).astype(np.float32))

    def uniform(self, low: float, high: float, *shape: int) -> str:
        """A uniformly distributed float32 initialiser."""
        return self.weight(self.rng.uniform(low, high, shape).astype(np.float32))
