"""Graphs compared with onnxruntime, many at once; which one fails is found afterwards."""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

import clopt
from clopt.errors import CloptError

from .configurations import Configuration
from .generate import Graph, join
from .resizing import OpenGraph
from .values import Value

_Graph = TypeVar("_Graph", Graph, OpenGraph)

RIGHT = ("right", "exact", "unsuited")
"""The verdicts that report no defect."""


@dataclass(frozen=True)
class Outcome:
    """What came of a graph in a configuration on a device."""

    seed: int
    configuration: str
    device: str
    verdict: str
    """`right`, `refused`, `wrong` or `failed` (an error that is no sentence for users).

    Of an open batch also `exact` (right, by a program for each size) or `unsuited` (the nodes have
    a meaning at one size alone).
    """
    detail: str = ""
    undetermined: int = 0
    """Outputs that say nothing, since rounding could move them too far."""


def check(
    graphs: Sequence[Graph], configuration: Configuration, devices: dict[str, str], folder: Path
) -> Iterator[Outcome]:
    """The outcome of each graph on each of the devices, which are given by name.

    Compilers of kernels take longest, so the graphs are one model; where that does not come out
    right, its halves are tried, down to the graphs that fail alone. Files go to `folder`.
    """
    try:
        compiled = configuration.compile(join(graphs))
        _ = compiled.source
    except Exception as error:
        if len(graphs) == 1:
            for device in devices:
                yield outcome_of(graphs[0], configuration, device, error)
        else:
            for part in suspects(graphs, error):
                yield from check(part, configuration, devices, folder)
        return
    for name, device in devices.items():
        yield from _on_device(graphs, configuration, compiled, name, device, folder)


def _on_device(
    graphs: Sequence[Graph],
    configuration: Configuration,
    compiled: clopt.CompiledModel,
    name: str,
    device: str,
    folder: Path,
) -> Iterator[Outcome]:
    inputs = {v.name: v.exact for g in graphs for v in g.inputs}
    try:
        results = iter(configuration.run(compiled, device, inputs, folder))
    except Exception as error:
        if len(graphs) == 1:
            yield outcome_of(graphs[0], configuration, name, error)
        else:
            for part in suspects(graphs, error):
                yield from check(part, configuration, {name: device}, folder)
        return
    for graph in graphs:
        found = [(value.name, value, next(results)) for value in graph.outputs]
        yield compared(graph, configuration, name, found, "right")


def compared(
    graph: Graph | OpenGraph,
    configuration: Configuration,
    device: str,
    found: Sequence[tuple[str, Value, np.ndarray]],
    right: str,
) -> Outcome:
    """Return what comes of a graph: `wrong`, or the verdict `right` if all answers are right.

    `found` has the title of each output, its value, and the answer.
    """
    precision, wrong = configuration.precision, list[str]()
    for title, value, answer in found:
        if (sentence := value.mismatch(answer, precision)) is not None:
            wrong.append(f"{title}: {sentence}")
    unsure = sum(not value.is_determined(precision) for _, value, _ in found)
    verdict, detail = "wrong" if wrong else right, "; ".join(wrong)
    return Outcome(graph.seed, configuration.name, device, verdict, detail, undetermined=unsure)


def outcome_of(
    graph: Graph | OpenGraph, configuration: Configuration, device: str, error: Exception
) -> Outcome:
    """Return what an error says of a graph."""
    if isinstance(error, CloptError):
        return Outcome(graph.seed, configuration.name, device, "refused", str(error))
    detail = "".join(traceback.format_exception(error, limit=-6))
    return Outcome(graph.seed, configuration.name, device, "failed", detail)


def suspects(graphs: Sequence[_Graph], error: Exception) -> list[Sequence[_Graph]]:
    """The graphs in parts: the one that the error names apart, else halves."""
    named = re.search(r"\bg(\d+)_", str(error)) if isinstance(error, CloptError) else None
    for graph in graphs:
        if named is not None and graph.prefix == named.group():
            others = [g for g in graphs if g is not graph]
            return [[graph], others]
    middle = len(graphs) // 2
    return [graphs[:middle], graphs[middle:]]
