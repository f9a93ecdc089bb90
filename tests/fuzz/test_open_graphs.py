"""Random graphs whose inputs have an open batch, at sizes that are rounded up."""

from __future__ import annotations

from collections import Counter

import numpy as np
import onnx
import onnxruntime
import pytest
from fuzz.graphs.generate import Graph, join, random_graph
from fuzz.graphs.values import FLOOR
from fuzz.graphs.worker import first_seed

import clopt
from clopt.errors import CloptError
from support import effort

pytestmark = pytest.mark.filterwarnings("ignore::clopt.errors.CloptWarning")

GRAPHS = effort.examples(4, long=200)
SIZES = (3, 5, 6)


def open_batch(graph: Graph, batch: int) -> onnx.ModelProto:
    """The graph with an open size in place of the first extent `batch` of its inputs."""
    proto = join([graph])
    for value in proto.graph.input:
        dims = value.type.tensor_type.shape.dim
        if dims and dims[0].dim_value == batch:
            dims[0].dim_param = "n"
    for value in proto.graph.output:
        value.type.tensor_type.ClearField("shape")
    return proto


def inputs(graph: Graph, batch: int, size: int) -> dict[str, np.ndarray]:
    """The graph's own inputs, with rows repeated or left out."""
    return {
        value.name: np.resize(value.exact, (size, *value.shape[1:]))
        if value.rank and value.shape[0] == batch
        else value.exact
        for value in graph.inputs
    }


def by_onnxruntime(proto: onnx.ModelProto, feed: dict[str, np.ndarray]) -> list[np.ndarray] | None:
    """What onnxruntime computes; None if the graph has no meaning at this size."""
    try:
        session = onnxruntime.InferenceSession(
            proto.SerializeToString(), providers=["CPUExecutionProvider"]
        )
        return session.run([value.name for value in proto.graph.output], feed)
    except Exception:  # onnxruntime's errors have no common class
        return None


@pytest.mark.usefixtures("quick_builds")
def test_graphs_at_sizes_that_are_rounded_up(device: str) -> None:
    """A larger program computes what the program for the size computes."""
    onnxruntime.set_default_logger_severity(4)
    base, served = first_seed(effort.seed()), Counter[str]()
    for seed in range(base, base + GRAPHS):
        graph = random_graph(seed, 18)
        for batch in sorted({value.shape[0] for value in graph.inputs if value.rank}):
            proto = open_batch(graph, batch)
            for size in SIZES:
                feed = inputs(graph, batch, size)
                if (wanted := by_onnxruntime(proto, feed)) is not None:
                    served.update(compared(proto, device, feed, wanted))
    assert served["rounded"] >= GRAPHS / 2, served


def compared(
    proto: onnx.ModelProto, device: str, feed: dict[str, np.ndarray], wanted: list[np.ndarray]
) -> list[str]:
    """Compare a graph's results with those of its program for the exact size."""
    try:
        model = clopt.compile(proto, device=device)
        if not isinstance(model, clopt.DynamicModel):
            return ["static"]
        found, exact = model.run(feed), model.for_inputs(feed).run(feed)
    except CloptError:
        return ["refused"]
    for a, b, w in zip(found, exact, wanted, strict=True):
        assert (a.shape, a.dtype) == (w.shape, w.dtype)
        if not np.array_equal(a, b, equal_nan=a.dtype.kind == "f"):
            # The plans for both sizes may add in another order.
            assert a.dtype.kind == "f"
            np.testing.assert_allclose(a, b, rtol=0, atol=FLOOR["f32"] * np.abs(b).max())
    return ["rounded" if model.programs == 2 else "exact"]
