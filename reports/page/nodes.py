"""The table of the model's nodes: the command that computes each, or why none does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from ...decisions import SiteKind
from ...messages.explanations import Explanation
from ...passes.nn.offload.report import KERNELS
from ..decisions import Decisions, ReportedNode, ReportedRegion
from ..html import Column, Content, element, search_box, table
from .reported_model import ReportedModel

_COLUMNS = (
    *(Column("node", kind="name"), Column("operation", kind="fixed"), Column("computed by")),
    *(Column("result", kind="fixed"), Column("layout", kind="fixed"), Column("remark")),
)
_FOLDED = "no command: computed at compile time, merged into another node, or only a view"
_VIEW = "no command: names a part of another value's memory"
_INNER = "stays in registers of its kernel"


def nodes_table(model: ReportedModel) -> Content:
    """Return a folded table of all imported nodes, or a sentence if they are unknown."""
    decisions = model.decisions
    if decisions is None:
        return element("p", NO_DECISIONS, class_="quiet")
    rows = _Rows(model, decisions)
    title = element("summary", element("h3", f"All {len(decisions.nodes)} nodes of the model"))
    search = search_box("nodes", "part of a node, operation or kernel")
    return element("details", title, search, table(_COLUMNS, rows.all(), "nodes"), id="all-nodes")


NO_DECISIONS = (
    "The nodes, layouts and reasons were not kept when this model was compiled: compile it with "
    '--report, or in Python with explain="report".'
)


class _Rows:
    """Finds the regions that compute each node, and the remarks about accelerators."""

    def __init__(self, model: ReportedModel, decisions: Decisions) -> None:
        self.model, self.decisions = model, decisions
        # Passes may have given an operation another form, and copies of values have names, too.
        self.regions: defaultdict[ReportedNode | str, list[int]] = defaultdict(list)
        for number, region in enumerate(decisions.regions):
            for node in region.nodes:
                for key in (node, node.name):
                    if number not in self.regions[key]:
                        self.regions[key].append(number)
        self.commands: defaultdict[int, list[int]] = defaultdict(list)
        for command, numbers in enumerate(decisions.commands):
            for number in numbers:
                self.commands[number].append(command)
        self.notes = _notes(decisions)

    def all(self) -> Iterator[Sequence[Content]]:
        """Yield the cells of each node."""
        for node in self.decisions.nodes:
            graph, note = self.notes.get(f"{node.name}: {node.operation}", ("", ""))
            found = self.regions.get(node) or self.regions.get(node.name, [])
            if graph:
                yield [node.name, node.label, self._graph(graph), "", "", note]
            elif not found:
                yield [node.name, node.label, "", "", "", note or _FOLDED]
            else:
                yield self._computed(node, found, note)

    def _computed(self, node: ReportedNode, regions: Sequence[int], note: str) -> Sequence[Content]:
        links: list[Content] = []
        remarks = [note]
        for number in regions:
            links += [[self._link(c), " "] for c in self.commands[number]]
        first = self.decisions.regions[regions[0]]
        if not links:
            remarks.append(_VIEW)
        is_last = first.nodes[-1].name == node.name
        if not is_last:
            remarks.append(_INNER)
        result, layout = _result(first) if is_last else ("", "")
        return [node.name, node.label, links, result, layout, "; ".join(filter(None, remarks))]

    def _link(self, command: int) -> Content:
        step = next(
            s for s in self.model.steps[len(self.model.description.inputs) :] if s.number == command
        )
        return element("a", f"{command}: {step.name}", href=f"#c{command}")

    def _graph(self, graph: str) -> Content:
        names = [each.name for each in self.model.description.graphs]
        if graph not in names:
            return graph
        return element("a", graph, href=f"#g{names.index(graph)}")


def _result(region: ReportedRegion) -> tuple[str, str]:
    tensor = region.results[0]
    return f"{'x'.join(map(str, tensor.shape)) or 'scalar'} {tensor.type}", tensor.layout


def _notes(decisions: Decisions) -> dict[str, tuple[str, str]]:
    """Return the graph that computes a node, or the reason why none does, by `name: operation`."""
    found: dict[str, tuple[str, str]] = {}
    for each in decisions.explanations:
        if isinstance(each, Explanation) and each.kind == SiteKind.OFFLOAD.value:
            graph = "" if each.choice == KERNELS else each.choice
            if graph or not found.get(each.nodes, ("", ""))[0]:
                found[each.nodes] = (graph, each.reason.remark)
    return found
