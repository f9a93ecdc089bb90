"""Random graphs in every configuration on every device against onnxruntime; `graphs` says how."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import onnx
import pytest
from fuzz.graphs.check import RIGHT
from fuzz.graphs.configurations import CONFIGURATIONS, is_known_refusal
from fuzz.graphs.generate import join, random_graphs
from fuzz.graphs.worker import Worker, first_seed

from clopt.backends.pyopencl_runtime import find_device, target_for
from support import effort

BATCH = 3
GRAPHS = effort.examples(BATCH, long=100)


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    """One process for all: it takes two seconds to start."""
    worker = Worker(seconds=900)
    yield worker
    worker.close()


# Not every runtime has arithmetic in half.
ROWS = [
    pytest.param(row.name, marks=() if row.precision == "f16" else pytest.mark.in_turns)
    for row in CONFIGURATIONS
]


@pytest.mark.parametrize("configuration", ROWS)
def test_graphs(configuration: str, device: str, worker: Worker) -> None:
    name = target_for(find_device(device)).name
    base, verdicts = first_seed(effort.seed()), Counter[str]()
    for first in range(base, base + GRAPHS, BATCH):
        outcomes = worker.run((tuple(range(first, first + BATCH)), configuration, name))
        assert len(outcomes) == BATCH
        for outcome in outcomes:
            assert outcome.verdict in RIGHT or is_known_refusal(outcome.detail), outcome
            verdicts[outcome.verdict] += 1
    if configuration.startswith("open"):
        assert verdicts["right"] > verdicts["exact"], verdicts


def test_generator() -> None:
    """Graphs are legal, drawn again from their seeds, and have many operators."""
    rejections: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for first in range(0, 160, 16):
        graphs = random_graphs(range(first, first + 16), rejections)
        kinds.update(node.op_type for graph in graphs for node in graph.nodes)
        assert all(len(graph.nodes) >= 2 for graph in graphs)
        model = join(graphs)
        onnx.checker.check_model(model)
        again = join(random_graphs(range(first, first + 16)))
        assert again.SerializeToString(deterministic=True) == model.SerializeToString(
            deterministic=True
        )
    assert len(kinds) > 90
    assert rejections.total() < 0.2 * kinds.total(), rejections.most_common(5)
