"""Graphs as the rows of tensors and operations that the C runtime for CLML interprets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import prod

import numpy as np
from xdsl.ir import Operation, SSAValue

from ...dialects import clml
from ...dialects.clml import MLTensorType, ml_tensor
from ...dialects.nn.types import numpy_dtype
from ...errors import CloptError
from ...weights import Weights
from ..host_c.names import Names, identifier
from .operations import KINDS

_LONGEST = 24
"""Maximum length of a graph's or a tensor's name, because one identifier contains both."""


@dataclass(frozen=True)
class Tensor:
    """A tensor that operations use."""

    name: str
    """A name that is unique in its graph."""
    symbol: str
    """A name that is unique among the tensors of all graphs."""
    type: MLTensorType
    key: str = ""
    """The key of a constant's array in the weights store."""

    @property
    def bytes(self) -> int:
        """Bytes in the weights file (constants), or planned bytes on the device (other tensors)."""
        if self.key:
            return prod(self.type.get_shape()) * self.type.element_bytes
        return self.type.planned_bytes


@dataclass(frozen=True)
class OperationRow:
    """An operation; `tensors` are numbers of the graph's tensors, None for absent ones."""

    name: str
    op: Operation
    tensors: tuple[int | None, ...]


@dataclass
class Graph:
    """A graph; `rows` are its commands by number."""

    name: str
    op: clml.GraphOp
    tensors: list[Tensor] = field(default_factory=list[Tensor])
    rows: list[OperationRow] = field(default_factory=list[OperationRow])


def make_graphs(graphs: Mapping[str, clml.GraphOp], weights: Weights) -> list[Graph]:
    """Return the rows of graphs; raise CloptError if a constant's array does not fit its type."""
    names, symbols = Names(), Names()
    return [
        _make(names.add(identifier(name, _LONGEST)), op, symbols, weights)
        for name, op in graphs.items()
    ]


def constant_keys(graphs: list[Graph]) -> Iterator[str]:
    """Return the keys of the arrays that the graphs need."""
    return (tensor.key for graph in graphs for tensor in graph.tensors if tensor.key)


def _make(name: str, op: clml.GraphOp, symbols: Names, weights: Weights) -> Graph:
    """Return the rows of one graph; only tensors that a command uses get a row."""
    graph = Graph(name, op)
    numbers: dict[SSAValue, int] = {}
    names = Names()

    def number(value: SSAValue) -> int:
        if value not in numbers:
            numbers[value] = len(numbers)
            hint = names.add(identifier(value.name_hint or "value", _LONGEST))
            symbol = symbols.add(f"{name}_{hint}")
            graph.tensors.append(_tensor(hint, symbol, value, weights))
        return numbers[value]

    for command in op.commands:
        tensors = tuple(
            None if value is None else number(value)
            for value in (*KINDS[type(command)].operands(command), command.results[0])
        )
        kind = command.name.removeprefix("clml.")
        result = graph.tensors[numbers[command.results[0]]].name
        graph.rows.append(OperationRow(f"{kind} {result}", command, tensors))
    return graph


def _tensor(name: str, symbol: str, value: SSAValue, weights: Weights) -> Tensor:
    type_ = ml_tensor(value)
    if not isinstance(value.owner, clml.ConstantOp):
        return Tensor(name, symbol, type_)
    key = value.owner.key.data
    _check_array(key, weights.get(key), type_)
    return Tensor(name, symbol, type_, key)


def _check_array(key: str, array: np.ndarray, type_: MLTensorType) -> None:
    dtype, count = numpy_dtype(type_.element_type), prod(type_.get_shape())
    if array.dtype != dtype or array.size != count:
        raise CloptError(
            f'The weight "{key}" has {array.size} elements of {array.dtype}, but {type_} needs '
            f"{count} of {dtype}; pass the weights that belong to this module."
        )
