"""The section about the network: its commands as a graph beside a list, and its nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ...description import LaunchInfo, OffloadInfo
from ...messages.printable import printable
from ..decisions import ReportedRegion
from ..html import Content, Html, element, search_box
from .flow import COPY, INPUT, KERNEL, OUTPUT, FlowLayout, FlowStep, FlowValue
from .lanes import Lanes, lanes_of
from .nodes import nodes_table
from .reported_model import ReportedModel
from .times import milliseconds

_LANE, _MARGIN, _WIDEST = 14, 10, 140
"""Pixels between two lines of the graph, beside them, and of all lines together."""


def network_section(model: ReportedModel) -> Content:
    """Return the commands in the order of the queue, and the nodes of the model."""
    steps = model.steps
    lanes = lanes_of([step.reads for step in steps])
    count = max((max([row.node, *(li.lane for li in row.lines)]) for row in lanes), default=0)
    spacing = min(_LANE, _WIDEST / max(1, count))
    graph = _NetworkGraph(steps, lanes, spacing, round(2 * _MARGIN + count * spacing))
    rows = [_row(model, graph, number) for number in range(len(steps))]
    return [
        element("p", "The commands in the order of the queue. ", _READING),
        _legend(model),
        search_box("steps", "part of a node, kernel, shape or layout"),
        element("ol", rows, id="steps", class_=_list_class(model)),
        nodes_table(model),
    ]


_READING = (
    "A dot is a command, in the colour of the device that computes it; a line is a value on its "
    "way to the commands that read it, in the colour of its layout."
)


def device_class(model: ReportedModel, kind: str) -> str:
    """Return the CSS class for the device of a step."""
    classes = {KERNEL: "kernel", COPY: "copy", INPUT: "port", OUTPUT: "port"}
    return classes.get(kind) or f"accelerator{model.accelerators.index(kind) % 3}"


def _legend(model: ReportedModel) -> Html:
    kinds = Counter(step.kind for step in model.steps)
    names = {KERNEL: "OpenCL kernel", COPY: "copy"}
    devices = [
        element(
            "li",
            f"{names.get(kind, kind)} ",
            _count(n),
            class_=f"dot {device_class(model, kind)}",
        )
        for kind, n in kinds.items()
        if kind not in (INPUT, OUTPUT)
    ]
    values = Counter(value.layout for step in model.steps for value in step.writes)
    layouts = [
        element("li", f"{layout.value} ", _count(values[layout]), class_=f"line {_name(layout)}")
        for layout in FlowLayout
        if values[layout]
    ]
    return element("ul", devices, layouts, class_="legend")


def _count(number: int) -> Html:
    return element("span", number, class_="quiet")


def _name(layout: FlowLayout) -> str:
    return layout.name.lower()


class _NetworkGraph:
    """The lines and dots beside the rows."""

    def __init__(
        self, steps: Sequence[FlowStep], lanes: Sequence[Lanes], spacing: float, width: int
    ) -> None:
        self.steps, self.lanes, self.spacing, self.width = steps, lanes, spacing, width

    def drawn(self, row: int, device: str) -> Html:
        """Return the drawing beside a row, in the height of the row."""
        lanes = self.lanes[row]
        shapes = [*self._lines(lanes)]
        shapes.append(element("circle", cx=self._x(lanes.node), cy="50%", r=5, class_=device))
        drawn = element("svg", shapes, aria_hidden="true")
        return element("span", drawn, class_="graph", style=f"width: {self.width}px")

    def _lines(self, lanes: Lanes) -> Iterator[Html]:
        for line in lanes.lines:
            writes = self.steps[line.source].writes
            kind, x = _name(writes[0].layout if writes else FlowLayout.PLAIN), self._x(line.lane)
            first, last = "50%" if line.begins else "0", "50%" if line.ends else "100%"
            yield element("line", x1=x, x2=x, y1=first, y2=last, class_=kind)
            if line.is_read and line.lane != lanes.node:
                node = self._x(lanes.node)
                yield element("line", x1=x, x2=node, y1="50%", y2="50%", class_=kind)

    def _x(self, lane: int) -> str:
        return f"{_MARGIN + lane * self.spacing:g}"


def _row(model: ReportedModel, graph: _NetworkGraph, number: int) -> Html:
    step = model.steps[number]
    is_port = step.kind in (INPUT, OUTPUT)
    device = device_class(model, step.kind)
    return element(
        "li",
        graph.drawn(number, device),
        element("span", "" if is_port else step.number, class_="number"),
        _what(model, step),
        _link(model, step, device),
        element("span", map(_value, step.writes), class_="values"),
        _time(model, step),
        id=None if is_port else f"c{step.number}",
        class_=f"step {'port' if is_port else ''}".rstrip(),
    )


def _what(model: ReportedModel, step: FlowStep) -> Html:
    """Return the operations of a step, and the nodes of the model that it computes."""
    if step.kind in (INPUT, OUTPUT):
        name = element("b", f"{step.kind} {printable(step.name)}")
        return element("span", name, class_="what")
    regions = model.regions_of(step.number)
    node = model.description.commands[step.number].node
    operations = operations_text(regions) or step.name.rpartition(".")[2]
    names = list(dict.fromkeys(n.name for region in regions for n in region.nodes)) or [node]
    return element(
        "span",
        element("b", operations),
        element("span", ", ".join(names), class_="nodes"),
        class_="what",
    )


def operations_text(regions: Sequence[ReportedRegion]) -> str:
    """Return the operations of a command: `slice (3) + add`."""
    counts = Counter(node.label for region in regions for node in region.nodes)
    return " + ".join(f"{name} ({n})" if n > 1 else name for name, n in counts.items())


def _link(model: ReportedModel, step: FlowStep, device: str) -> Html:
    if step.kind in (INPUT, OUTPUT):
        return element("span")
    command = model.description.commands[step.number]
    if isinstance(command, LaunchInfo):
        return element("a", step.name, href=f"#k{command.kernel}", class_=f"by {device}")
    if isinstance(command, OffloadInfo):
        return element("a", step.kind, href=f"#g{command.graph}", class_=f"by {device}")
    return element("span", step.name, class_=f"by {device}")


def _value(value: FlowValue) -> Html:
    shape = "x".join(map(str, value.shape)) or "scalar"
    return element(
        "span",
        element("code", shape, " ", element("span", value.type, class_="quiet")),
        element("span", value.detail, class_=f"chip {_name(value.layout)}"),
        class_="value",
    )


def _time(model: ReportedModel, step: FlowStep) -> Html | None:
    """Return the measured time of a command, with a bar relative to the longest command."""
    profile = model.profile
    if profile is None or len(profile.rows) != len(model.description.commands):
        return None
    if step.kind in (INPUT, OUTPUT):
        return element("span", class_="time")
    time = profile.rows[step.number].nanoseconds
    share = time / (max(row.nanoseconds for row in profile.rows) or 1)
    bar = element("i", style=f"width: {share:.1%}")
    return element("span", milliseconds(time), bar, class_="time")


def _list_class(model: ReportedModel) -> str:
    profile = model.profile
    is_timed = profile is not None and len(profile.rows) == len(model.description.commands)
    return "steps timed" if is_timed else "steps"
