"""The values of a graph by name, while it is imported."""

from __future__ import annotations

from pathlib import Path

from onnx import GraphProto, TensorProto
from xdsl.ir import SSAValue

from ...errors import CloptError
from ...weights import Array
from ..builder import Builder
from .tensors import read_tensor


class ValueScope:
    """The values of a graph by name; a subgraph also sees the values of the enclosing graph."""

    def __init__(
        self, outer: ValueScope | None = None, arrays: dict[str, Array] | None = None
    ) -> None:
        """`arrays` keeps the constants that are read, for other imports of the graph."""
        self.values: dict[str, SSAValue] = {}
        self.initializers: dict[str, TensorProto] = {}
        self._outer = outer
        self._arrays = {} if arrays is None else arrays

    def add_initializers(self, graph: GraphProto) -> None:
        """Register the constants of a graph; each is read when a node first uses it."""
        if graph.sparse_initializer:
            raise CloptError("the model has sparse initialisers, which are not supported.")
        self.initializers.update((tensor.name, tensor) for tensor in graph.initializer)

    def find(self, name: str, builder: Builder, folder: Path | None) -> SSAValue | None:
        """Return the value of a name, or None if no enclosing graph defines it."""
        if name in self.values:
            return self.values[name]
        if name in self.initializers:
            if name not in self._arrays:
                array = self._arrays[name] = read_tensor(self.initializers[name], folder)
                array.flags.writeable = False
            self.values[name] = builder.constant(self._arrays[name], name)
            return self.values[name]
        return self._outer.find(name, builder, folder) if self._outer else None

    def own_names(self) -> set[str]:
        """Return the names that this graph defines before its first node."""
        return {*self.values, *self.initializers}
