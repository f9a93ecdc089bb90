"""The operations of networks that CLML computes, and the reasons for the others.

`python benchmarks/clml.py [name ...] [--target "adreno-740 clml=prefer"] [--output FILE]`: for each
network and precision the operations that graphs of CLML compute, the graphs, their commands and
copies, and each remaining operation with its reason. Builds and runs nothing. Writes the tables as
Markdown, by default to benchmarks/results/clml.md.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import models
from provenance import measured

from clopt.context import CloptContext
from clopt.dialects import clml
from clopt.dialects.cl import Target, set_target
from clopt.frontends.onnx import import_onnx
from clopt.passes.nn.choose import NNChoosePass, choose
from clopt.passes.nn.mixed_precision import NNMixedPrecisionPass
from clopt.passes.nn.offload.partition import NodePlacement, Partition
from clopt.passes.pipelines import PRECISION, SIMPLIFY
from clopt.targets import TargetChoice

CLASSIFIERS = (
    "mobilenet_v1",
    "mobilenet_v2",
    "resnet18",
    "resnet50",
    "squeezenet1_1",
    "inception_v3",
    "efficientnet_lite0",
)
OTHERS = ("densenet121", "unet", "yolo", "vit_tiny")
SIZES = {"inception_v3": 299}
PRECISIONS = ("f32", "f16-storage", "f16")
RESULT = Path(__file__).resolve().parent / "results" / "clml.md"


@dataclass(frozen=True)
class Row:
    """One network in one precision."""

    network: str
    precision: str
    partition: Partition


def measure(name: str, precision: str, target: Target) -> Row:
    """Partition one network."""
    ctx = CloptContext()
    module = import_onnx(models.export(name, SIZES.get(name, 224)), ctx.weights)
    set_target(module, target)
    for pass_ in (*SIMPLIFY, *PRECISION):
        if isinstance(pass_, NNMixedPrecisionPass):
            pass_ = replace(pass_, precision=precision)
        pass_.apply(ctx, module)
    (found,) = choose(module, ctx, NNChoosePass(graphs_only=True))
    module.verify()
    return Row(name, precision, found)


def table(rows: Sequence[Row]) -> Iterator[str]:
    """Return a line of Markdown for each network."""
    columns = ("network", "precision", "operations", "in CLML", "views", "left", "graphs")
    yield f"| {' | '.join((*columns, 'commands', 'copies'))} |"
    yield "|---|---|---:|---:|---:|---:|---:|---:|---:|"
    for row in rows:
        nodes, found = row.partition.nodes, row.partition
        views = sum(node.is_view for node in nodes)
        left = len(nodes) - found.offloaded - views
        commands = sum(len(graph.commands) for graph in found.graphs) - found.copies
        cells = (
            len(nodes),
            found.offloaded,
            views,
            left,
            len(found.graphs),
            commands,
            found.copies,
        )
        yield f"| {row.network} | {row.precision} | {' | '.join(map(str, cells))} |"


def kinds(rows: Sequence[Row]) -> Iterator[str]:
    """Return the counts of commands in the graphs of each network."""
    yield "| network | commands |"
    yield "|---|---|"
    for row in rows:
        commands = [c for graph in row.partition.graphs for c in graph.commands]
        counts = Counter(c.name.removeprefix(f"{clml.CLML.name}.") for c in commands)
        text = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
        yield f"| {row.network} | {text} |"


def reasons(rows: Sequence[Row]) -> Iterator[str]:
    """Return the remaining operations, grouped by reason."""
    yield "| network | precision | operations | reason |"
    yield "|---|---|---|---|"
    for row in rows:
        left = [node for node in row.partition.nodes if not node.graph]
        for note in dict.fromkeys(node.note for node in left):
            same = [node for node in left if node.note == note]
            yield f"| {row.network} | {row.precision} | {_operations(same)} | {note} |"


def _operations(nodes: Sequence[NodePlacement]) -> str:
    if len(nodes) == 1:
        return f"{nodes[0].operation} ({nodes[0].name})"
    counts = Counter(node.operation for node in nodes)
    return ", ".join(f"{count} {operation}" for operation, count in counts.items())


def report(rows: Sequence[Row], target: str) -> str:
    """Return all tables."""
    seven = [row for row in rows if row.network in CLASSIFIERS]
    others = [row for row in rows if row.network not in CLASSIFIERS]
    single = [row for row in rows if row.precision == "f32"]
    lines = [
        "# What CLML computes",
        "",
        measured(),
        "",
        f'`python benchmarks/clml.py` for the target "{target}". Operations are those after',
        "`simplify`; views are reshapes outside of graphs, which take no time; copies are commands",
        "that only change a layout. What crosses the border of a graph is a buffer of the device.",
        "",
        *(("## Classifiers", "", *table(seven), "") if seven else ()),
        *(("## Other networks", "", *table(others), "") if others else ()),
        "## Commands (f32)",
        "",
        *kinds(single),
        "",
        "## What is left, and why",
        "",
        *reasons(rows),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=[*CLASSIFIERS, *OTHERS], metavar="name")
    parser.add_argument("--target", default="adreno-740 clml=prefer")
    parser.add_argument("--output", type=Path, default=RESULT)
    args = parser.parse_args()
    target = TargetChoice.parse(args.target).load()
    if target is None:
        sys.exit(f"{args.target}: name a target")
    rows = [measure(name, precision, target) for name in args.names for precision in PRECISIONS]
    args.output.write_text(report(rows, args.target), encoding="utf-8")
    print("\n".join(table(rows)))


if __name__ == "__main__":
    main()
