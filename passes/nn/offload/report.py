"""Explanations of what an accelerator computes."""

from __future__ import annotations

from ....decisions import Choices, SiteKind
from ....messages.explanations import Reason, Why
from ...locations import node_name
from ..layout.offload import KERNELS
from .chooser import Chooser
from .partition import Partition


def explain_partition(title: str, function: str, partition: Partition, choices: Choices) -> None:
    """Explain the graph and command of each operation, or why it has none."""
    for node in partition.nodes:
        remark = f"not by {title}: {node.note}" if node.note and not node.graph else node.note
        reason = Reason(Why.RULE, {}, remark, node.graph or KERNELS)
        choices.explain(SiteKind.OFFLOAD, f"{node.name}: {node.operation}", reason)
    choices.summarise(SiteKind.OFFLOAD, f"{title} in {function}: {summary(partition)}")


def explain_graphs(chooser: Chooser, choices: Choices) -> None:
    """Explain the cost of each graph, and of kernels in its place."""
    titles = " and ".join(accelerator.title for accelerator in chooser.offers)
    for region, time, ours in chooser.times():
        first, last = (node_name(region.matches[i].model[-1]) for i in (0, -1))
        graph = f"graph of {region.accelerator.name}"
        times = {graph: time, KERNELS: ours}
        words = f"{len(region.matches)} operations"
        reason = Reason(Why.ESTIMATED, times, words, graph)
        choices.explain(SiteKind.OFFLOAD, f"{first} ... {last}", reason)
    exact = "nothing is cheaper" if chooser.solution.exact else "the best found"
    choices.summarise(
        SiteKind.OFFLOAD,
        f"{chooser.cost:.1f} us in all by the model, {chooser.kernels_only.cost:.1f} us without "
        f"{titles}, {exact}",
    )


def summary(partition: Partition) -> str:
    """Return a sentence such as `57 of 58 operations in 1 graph, with 2 copies between layouts`."""
    graphs, copies = len(partition.graphs), partition.copies
    return (
        f"{partition.offloaded} of {len(partition.nodes)} operations in {graphs} "
        f"graph{'' if graphs == 1 else 's'}, with {copies} cop{'y' if copies == 1 else 'ies'} "
        "between layouts"
    )
