"""Graphs with an open batch at sizes that are rounded up, compared with onnxruntime at each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

import clopt

from .check import Outcome, compared, outcome_of, suspects
from .configurations import Configuration
from .resizing import OpenGraph, join_open


def check_open(
    graphs: Sequence[OpenGraph], configuration: Configuration, name: str, device: str
) -> Iterator[Outcome]:
    """Yield the outcome of each graph on the device `device`, which is called `name`.

    Graphs that a larger program serves are one model, and the others are another one. Where a model
    does not run, its halves are tried.
    """
    for is_rounded in (True, False):
        if alike := [each for each in graphs if each.is_rounded == is_rounded]:
            yield from _check(alike, configuration, name, device)


def _check(
    graphs: Sequence[OpenGraph], configuration: Configuration, name: str, device: str
) -> Iterator[Outcome]:
    target, sizes = configuration.target, configuration.sizes
    try:
        model = clopt.compile(join_open(graphs), target, device=device, use_cache=False)
        results = {size: iter(model.run(_inputs(graphs, size))) for size in sizes}
    except Exception as error:
        if len(graphs) == 1:
            yield outcome_of(graphs[0], configuration, name, error)
            return
        for part in suspects(graphs, error):
            yield from _check(part, configuration, name, device)
        return
    is_rounded = isinstance(model, clopt.DynamicModel) and model.programs < len(sizes)
    for graph in graphs:
        found = [
            (f"{value.name} at {size}", value, next(results[size]))
            for size in sizes
            for value in graph.at[size].outputs
        ]
        yield compared(graph, configuration, name, found, "right" if is_rounded else "exact")


def _inputs(graphs: Sequence[OpenGraph], size: int) -> dict[str, np.ndarray]:
    return {value.name: value.exact for graph in graphs for value in graph.at[size].inputs}
