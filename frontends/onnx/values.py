"""Variants of a model that return intermediate values as outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from onnx import ValueInfoProto
from onnx.external_data_helper import (
    convert_model_to_external_data,
    load_external_data_for_model,
    write_external_data_tensors,
)

from ...errors import CloptError
from ...messages.printable import printable
from .order import execution_order
from .tensors import read_tensor

_WEIGHTS = "weights.bin"


@dataclass(frozen=True)
class NodeValue:
    """A value computed by a node of the main graph (not of a subgraph)."""

    name: str
    node: str
    """The name of the node, or its operator and index if it has none."""
    op_type: str
    inputs: tuple[str, ...]
    """The values, inputs and constants that the node reads."""

    @property
    def label(self) -> str:
        """Return the name of the node in messages."""
        return f"node '{printable(self.node)}' ({printable(self.op_type)})"


class ModelWithValues:
    """A copy of a model in `folder` whose outputs can include any intermediate values."""

    def __init__(self, source: Path | bytes, folder: Path) -> None:
        """Copy a model; its weights go to one file that all variants share."""
        name = source.name if isinstance(source, Path) else "model.onnx"
        try:
            content = source.read_bytes() if isinstance(source, Path) else source
            self._model = onnx.load_from_string(content)
            if isinstance(source, Path):
                load_external_data_for_model(self._model, str(source.parent))
        except (DecodeError, OSError, ValueError) as error:
            raise CloptError(f"{name}: cannot read this model and its weights: {error}.") from error
        self.path = folder / name
        convert_model_to_external_data(self._model, location=_WEIGHTS)
        write_external_data_tensors(self._model, str(folder))
        graph = self._model.graph
        self.outputs = [value.name for value in graph.output]
        self.values = self._values()

    def write(self, names: Sequence[str]) -> list[str]:
        """Write the model with `names` as additional outputs. Return the names of all outputs."""
        del self._model.graph.output[len(self.outputs) :]
        added = [name for name in dict.fromkeys(names) if name not in self.outputs]
        # Readers infer the type of an output that declares none.
        self._model.graph.output.extend(ValueInfoProto(name=name) for name in added)
        self.path.write_bytes(self._model.SerializeToString())
        return [*self.outputs, *added]

    def not_finite(self) -> set[str]:
        """Return the names of constants that contain a NaN or an infinity."""
        graph = self._model.graph
        tensors = {tensor.name: tensor for tensor in graph.initializer}
        for node in graph.node:
            if node.op_type == "Constant" and node.attribute[0].HasField("t"):
                tensors[node.output[0]] = node.attribute[0].t
        arrays = {name: read_tensor(proto, self.path.parent) for name, proto in tensors.items()}
        return {
            name
            for name, array in arrays.items()
            if array.dtype.kind == "f" and not np.isfinite(array).all()
        }

    def _values(self) -> list[NodeValue]:
        """Return the values that are not constants, in topological order."""
        graph = self._model.graph
        nodes = list(graph.node)
        names = [name for node in nodes for name in node.output if name]
        return [
            NodeValue(name, node.name or f"{node.op_type}_{index}", node.op_type, tuple(node.input))
            for index, node in execution_order(nodes, names, set())
            if node.op_type != "Constant"
            for name in node.output
            if name
        ]
