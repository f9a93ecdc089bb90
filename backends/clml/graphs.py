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
"""The most characters of a graph's or a tensor's name: one identifier holds both."""


@dataclass(frozen=True)
class Tensor:
    """A tensor that operations use."""

    name: str
    """Of its own in its graph."""
    symbol: str
    """Of its own among the tensors of all graphs."""
    type: MLTensorType
    key: str = ""
    """A constant's array in the weights store."""

    @property
    def bytes(self) -> int:
        """Its size: a constant's in the weights file, another tensor's as planned on the device."""
        if self.key:
            return prod(self.type.get_shape()) * self.type.element_bytes
        return self.type.planned_bytes


@dataclass(frozen=True)
class Row:
    """An operation; `tensors` are numbers of the graph's, None where it has none."""

    name: str
    op: Operation
    tensors: tuple[int | None, ...]


@dataclass
class Graph:
    """A graph; `rows` are its commands by their numbers."""

    name: str
    op: clml.GraphOp
    tensors: list[Tensor] = field(default_factory=list[Tensor])
    rows: list[Row] = field(default_factory=list[Row])


def make_graphs(graphs: Mapping[str, clml.GraphOp], weights: Weights) -> list[Graph]:
    """The rows of graphs; CloptError for a constant whose array does not fit its type."""
    names, symbols = Names(), Names()
    return [
        _make(names.add(identifier(name, _LONGEST)), op, symbols, weights)
        for name, op in graphs.items()
    ]


def constant_keys(graphs: list[Graph]) -> Iterator[str]:
    """The arrays that the graphs need."""
    return (tensor.key for graph in graphs for tensor in graph.tensors if tensor.key)


def _make(name: str, op: clml.GraphOp, symbols: Names, weights: Weights) -> Graph:
    """Only tensors that a command uses get a row: the others have no memory."""
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
        graph.rows.append(Row(f"{kind} {result}", command, tensors))
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
            f'The weight "{key}" has {array.size} elements of {array.dtype}, but {type_} has '
            f"{count} of {dtype}; pass the weights that belong to this module."
        )
