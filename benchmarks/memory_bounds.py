"""The least memory that the intermediates of an ONNX graph need in any engine.

The rule suits several engines: nodes run in the order of the file; reshape and its kin are views
and cost nothing; the kernel before an elementwise operation computes it, if nothing else needs that
kernel's result; nodes on weights alone run before. It counts the values between kernels, not the
network's inputs, outputs and weights.
"""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import numpy as np
import onnx

VIEWS = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Dropout"}
FUSED = {
    *("Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "Where", "Clip", "BatchNormalization"),
    *("Relu", "LeakyRelu", "PRelu", "Sigmoid", "HardSigmoid", "HardSwish", "Tanh", "Gelu", "Erf"),
    *("Sqrt", "Exp", "Neg", "Abs", "Reciprocal", "Cast"),
}


class Graph:
    """The kernels of a file in order: the values that each reads and writes."""

    def __init__(self, path: Path) -> None:
        model = onnx.shape_inference.infer_shapes(onnx.load(path), strict_mode=True)
        graph = model.graph
        self.sizes = _sizes(graph)
        self.alias: dict[str, str] = {}
        self.known = {value.name for value in graph.initializer}
        self.ports = {value.name for value in (*graph.input, *graph.output)}
        self.kernels: list[tuple[list[str], list[str]]] = []
        nodes = [node for node in graph.node if not self._is_constant(node)]
        uses = Counter(name for node in nodes for name in node.input)
        uses.update(value.name for value in graph.output)
        for node in nodes:
            self._add(node, uses)

    def _is_constant(self, node: onnx.NodeProto) -> bool:
        constant = all(not name or name in self.known for name in node.input)
        if constant:
            self.known.update(node.output)
        return constant

    def _add(self, node: onnx.NodeProto, uses: Counter[str]) -> None:
        reads = [self.root(name) for name in node.input if name and name not in self.known]
        writes = [name for name in node.output if name]
        if node.op_type in VIEWS:
            self.alias[writes[0]] = reads[0]
            # A view does not use its value; reads of the view do.
            uses[reads[0]] += uses[writes[0]] - 1
            return
        producer = self._fusible(node, reads, uses)
        if producer is None:
            self.kernels.append((reads, writes))
            return
        before, (result,) = self.kernels.pop(producer)
        rest = [name for name in reads if name != result]
        self.kernels.append(([*before, *rest], writes))

    def _fusible(self, node: onnx.NodeProto, reads: list[str], uses: Counter[str]) -> int | None:
        """Return the last kernel whose only result is read by this elementwise node alone."""
        if node.op_type not in FUSED:
            return None
        for i in reversed(range(len(self.kernels))):
            outputs = self.kernels[i][1]
            if len(outputs) == 1 and outputs[0] in reads:
                only = uses[outputs[0]] == reads.count(outputs[0])
                same = self.sizes[outputs[0]] == self.sizes[node.output[0]]
                if only and same:
                    return i
        return None

    def root(self, name: str) -> str:
        """Return the value whose memory this value shares."""
        while name in self.alias:
            name = self.alias[name]
        return name

    def lower_bound(self) -> int:
        """Return the most bytes of intermediates that are live at one kernel."""
        first: dict[str, int] = {}
        last: dict[str, int] = {}
        ports = {self.root(name) for name in self.ports}
        for time, (reads, writes) in enumerate(self.kernels):
            for name in map(self.root, (*reads, *writes)):
                if name not in ports:
                    first.setdefault(name, time)
                    last[name] = time
        live = np.zeros(len(self.kernels) + 1, np.int64)
        for name, time in first.items():
            live[time] += self.sizes[name]
            live[last[name] + 1] -= self.sizes[name]
        return int(np.cumsum(live).max())


def _sizes(graph: onnx.GraphProto) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for value in (*graph.value_info, *graph.input, *graph.output):
        kind = value.type.tensor_type
        shape = [d.dim_value for d in kind.shape.dim]
        item = onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type).itemsize
        sizes[value.name] = math.prod(shape) * item
    return sizes
