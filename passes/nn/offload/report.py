"""The table of a function's partition."""

from __future__ import annotations

from ....messages.explanations import ExplainedChoice, ExplainedTable
from .partition import Partition


def partition_table(title: str, function: str, partition: Partition) -> ExplainedTable:
    """Return a row per operation, with its graph and command or the reason for none, and totals."""
    rows = [[n.name, n.operation, n.graph or "-", n.note] for n in partition.nodes]
    return ExplainedTable(
        ExplainedChoice.PARTITION,
        f"{title} in {function}",
        ("node", "operation", "graph", "command, or why none"),
        rows,
        summary(partition),
    )


def summary(partition: Partition) -> str:
    """Return a sentence such as `57 of 58 operations in 1 graph, with 2 copies between layouts`."""
    graphs, copies = len(partition.graphs), partition.copies
    return (
        f"{partition.offloaded} of {len(partition.nodes)} operations in {graphs} "
        f"graph{'' if graphs == 1 else 's'}, with {copies} cop{'y' if copies == 1 else 'ies'} "
        "between layouts"
    )
