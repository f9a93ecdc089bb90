"""Random graphs with an open batch, evaluated again at other sizes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import onnx

import clopt
from clopt.errors import CloptError
from clopt.larger_sizes import LargerSizesSearch

from .builder import GraphBuilder, Rejected
from .generate import Graph, join
from .values import SAMPLES, Value

OPEN = "n"
"""The name of the open dimension."""


@dataclass(frozen=True)
class OpenGraph:
    """A graph that has a meaning at several sizes of the first axis of some inputs."""

    graph: Graph
    batch: int
    """The extent of these axes in `graph`."""
    at: dict[int, Graph]
    """The same nodes at each size, with the values there."""

    @property
    def seed(self) -> int:
        return self.graph.seed

    @property
    def prefix(self) -> str:
        return self.graph.prefix

    @cached_property
    def is_rounded(self) -> bool:
        """Whether one of the sizes is served by a larger program."""
        try:
            model = clopt.compile(join_open([self]), "pocl", use_cache=False)
        except CloptError:
            return False
        if not isinstance(model, clopt.DynamicModel):
            return False
        return any(_is_rounded(model, size) for size in self.at)


def opened(graph: Graph, sizes: Sequence[int]) -> OpenGraph | None:
    """Return the graph with an open batch; None if its nodes suit only the extents they have."""
    for batch in sorted({value.shape[0] for value in graph.inputs if value.rank}):
        try:
            return OpenGraph(graph, batch, {size: _resized(graph, batch, size) for size in sizes})
        except Rejected:
            continue
    return None


def join_open(graphs: Sequence[OpenGraph]) -> onnx.ModelProto:
    """Return one model of several graphs whose batches are the same open dimension."""
    proto = join([each.graph for each in graphs])
    opens = {v.name for each in graphs for v in each.graph.inputs if _has_batch(v, each.batch)}
    for value in proto.graph.input:
        if value.name in opens:
            value.type.tensor_type.shape.dim[0].dim_param = OPEN
    for value in proto.graph.output:
        value.type.tensor_type.ClearField("shape")
    return proto


def _has_batch(value: Value, batch: int) -> bool:
    return bool(value.rank) and value.shape[0] == batch


def _resized(graph: Graph, batch: int, size: int) -> Graph:
    """Return the graph with rows of its inputs repeated or left out.

    Raises Rejected if a node has no meaning then, or if its results are not benign.
    """
    builder = GraphBuilder(graph.seed, graph.prefix, graph.opset)
    builder.constants = dict(graph.constants)
    values: dict[str, Value] = {}
    for value in graph.inputs:
        rows = size if _has_batch(value, batch) else None
        shape = value.shape if rows is None else (rows, *value.shape[1:])
        values[value.name] = Value(value.name, (np.resize(value.exact, shape),) * SAMPLES)
    inputs = tuple(values.values())
    for node in graph.nodes:
        read = [values[name] for name in node.input if name in values]
        values |= {value.name: value for value in builder.evaluate(node, read)}
    return replace(graph, inputs=inputs, outputs=tuple(values[v.name] for v in graph.outputs))


def _is_rounded(model: clopt.DynamicModel, size: int) -> bool:
    """Return whether there is a proof that a larger program serves this size."""
    try:
        search = LargerSizesSearch({}, model.inputs)
        larger = search.find(model._compilation, {OPEN: size})
    except CloptError:
        return False
    return larger is not None and larger.dims[OPEN] > size
