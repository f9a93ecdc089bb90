"""Random graphs, and models that hold several of them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import helper, numpy_helper

from .builder import ODD_NAMES, GraphBuilder, make_model
from .operators import OPERATORS
from .values import Value

OPSETS = (13, 15, 17, 18, 19, 20, 21)
ATTEMPTS = 40

_NAMES = list(OPERATORS)
_WEIGHTS = [often for often, _ in OPERATORS.values()]


@dataclass(frozen=True)
class Graph:
    """A finished random graph: its parts in ONNX, and what goes in and comes out."""

    seed: int
    prefix: str
    """Starts the name of each node."""
    opset: int
    nodes: tuple[onnx.NodeProto, ...]
    constants: dict[str, np.ndarray]
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]


def random_graph(
    seed: int,
    opset: int,
    prefix: str = "",
    odd_names: list[str] | None = None,
    rejections: Counter[str] | None = None,
) -> Graph:
    """The graph that `seed` draws: two to five operators, most of which read earlier values.

    `rejections` counts what was not wanted, by operator and reason.
    """
    g = GraphBuilder(seed, prefix, opset, [] if odd_names is None else odd_names)
    wanted = g.random.randint(2, 5)
    done = 0
    for _ in range(ATTEMPTS):
        name = g.random.choices(_NAMES, _WEIGHTS)[0]
        before = len(g.nodes)
        reason = g.try_operator(OPERATORS[name][1])
        if reason is not None and rejections is not None:
            rejections[f"{name}: {reason}"] += 1
        done += len(g.nodes) > before
        if done == wanted:
            break
    return _finish(g)


def _finish(g: GraphBuilder) -> Graph:
    """Whatever no node reads is an output, and some of what is read."""
    read = {name for node in g.nodes for name in node.input}
    made = {name for node in g.nodes for name in node.output}
    outputs = [v for v in g.values if v.name in made and (v.name not in read or g.chance(0.1))]
    g.random.shuffle(outputs)
    constants = {name: array for name, array in g.constants.items() if name in read}
    inputs = [value for name, value in g.inputs.items() if name in read]
    return Graph(
        g.seed, g.prefix, g.opset, tuple(g.nodes), constants, tuple(inputs), tuple(outputs)
    )


def random_graphs(seeds: Sequence[int], rejections: Counter[str] | None = None) -> list[Graph]:
    """A graph for each seed, of one opset and with names that do not clash."""
    draw = random.Random(seeds[0])
    opset, odd_names = draw.choice(OPSETS), list(ODD_NAMES)
    return [
        random_graph(seed, opset, f"g{i}_", odd_names, rejections) for i, seed in enumerate(seeds)
    ]


def join(graphs: Sequence[Graph]) -> onnx.ModelProto:
    """One model of several graphs that have nothing to do with each other."""
    graph = helper.make_graph(
        [node for g in graphs for node in g.nodes],
        "fuzz",
        [_info(v) for g in graphs for v in g.inputs],
        [_info(v) for g in graphs for v in g.outputs],
        [numpy_helper.from_array(a, name) for g in graphs for name, a in g.constants.items()],
    )
    return make_model(graph, graphs[0].opset)


def _info(value: Value) -> onnx.ValueInfoProto:
    type = helper.np_dtype_to_tensor_dtype(value.exact.dtype)
    return helper.make_tensor_value_info(value.name, type, value.shape)
