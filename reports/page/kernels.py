"""The section of the kernels: a table, and for each one its plan, arguments and source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...description import Description, GraphInfo, KernelInfo, LaunchInfo, ParameterInfo
from ...messages.explanations import ExplainedPlan
from ..html import Column, Content, Html, NumberCell, element, search_box, table
from ..memory.summary import size_text
from .network import operations_text
from .reported_model import ReportedModel

_COLUMNS = (
    *(Column("kernel", kind="fixed"), Column("operations", kind="name"), Column("rule")),
    *(Column("launches", is_number=True), Column("global size", is_number=True)),
    *(Column("local size", is_number=True), Column("arguments", is_number=True)),
    *(Column("constants", is_number=True), Column("lines", is_number=True)),
)
_PARAMETERS = tuple(Column(name) for name in ("parameter", "value", "meaning", "domain"))
_ARGUMENTS = (
    *(Column("argument"), Column("kind"), Column("type"), Column("shape"), Column("access")),
    *(Column("in the first launch"), Column("bytes", is_number=True)),
)


def kernels_section(model: ReportedModel) -> Content:
    """Return a table of the kernels, followed by a folded part for each one."""
    kernels = model.description.kernels
    marks = [{"data_for": f"k{i}"} for i in range(len(kernels))]
    parts: list[Content] = []
    if kernels:
        rows = [_row(model, i) for i in range(len(kernels))]
        hint = "part of a name, a node, a rule or of the source"
        parts += [search_box("kernel-rows", hint), table(_COLUMNS, rows, "kernel-rows", marks)]
        parts += [_card(model, i) for i in range(len(kernels))]
    else:
        parts.append(element("p", "No kernel of ours: an accelerator computes everything."))
    return [*parts, [_graph(i, g) for i, g in enumerate(model.description.graphs)]]


def _row(model: ReportedModel, number: int) -> list[Content | NumberCell]:
    kernel = model.description.kernels[number]
    launches = model.launches_of(number)
    size, group = kernel.global_size, kernel.local_size
    constants = sum(bytes_ for _, bytes_ in _constants(model.description, kernel, launches))
    return [
        element("a", kernel.name, href=f"#k{number}"),
        _operations(model, number),
        model.rule_of(kernel),
        NumberCell.of(len(launches)),
        NumberCell(_product(size), _sizes(size)),
        NumberCell(_product(group), _sizes(group)),
        NumberCell.of(len(kernel.parameters)),
        NumberCell(constants, size_text(constants) if constants else ""),
        NumberCell.of(_source(model, kernel).count("\n")),
    ]


def _operations(model: ReportedModel, number: int) -> str:
    """Return the operations of a kernel, or else its nodes."""
    first = model.launches_of(number)[:1]
    regions = [region for command in first for region in model.regions_of(command)]
    return operations_text(regions) or model.description.kernels[number].nodes


def _card(model: ReportedModel, number: int) -> Html:
    kernel = model.description.kernels[number]
    launches = model.launches_of(number)
    title = element("b", kernel.name)
    what = element("span", _operations(model, number), class_="quiet")
    source = _source(model, kernel)
    code = element("pre", element("code", source, class_="opencl"))
    return element(
        "details",
        element("summary", title, " ", what),
        element("dl", _facts(model, number, kernel, launches)),
        [_plan(plan) for plan in model.plans_of(number)],
        element("h4", "Arguments"),
        table(_ARGUMENTS, _arguments(model.description, kernel, launches)),
        code if source else element("p", "Its program is a binary of its accelerator."),
        id=f"k{number}",
        class_="card",
    )


def _facts(
    model: ReportedModel, number: int, kernel: KernelInfo, launches: Sequence[int]
) -> Iterator[Html]:
    nodes = list(dict.fromkeys(node.name for node in model.nodes_of(number)))
    links = [[element("a", command, href=f"#c{command}"), " "] for command in launches]
    facts: dict[str, Content] = {
        "nodes": ", ".join(nodes) or kernel.nodes,
        "commands": links,
        "function": kernel.function if kernel.function != kernel.name else None,
        "NDRange": f"{_sizes(kernel.global_size)} work-items, in groups of "
        f"{_sizes(kernel.local_size) or 'the size that the driver chooses'}",
        "in place": ", ".join(f"arguments {a} and {b}" for a, b in kernel.in_place),
        "plan": element("code", kernel.plan) if kernel.plan else None,
    }
    for name, fact in facts.items():
        if fact:
            yield element("dt", name)
            yield element("dd", fact)


def _plan(plan: ExplainedPlan) -> Html:
    """Return the parameters of a plan and the verdicts on the other rules, folded."""
    rows = [[p.name, element("code", p.value), p.meaning, p.domain] for p in plan.parameters]
    verdicts = [element("li", element("b", rule), " ", text) for rule, text in plan.others]
    others = element("details", element("summary", "Other rules"), element("ul", verdicts))
    return element(
        "div",
        element("h4", f"Rule {plan.rule}, version {plan.version}: {plan.estimate}"),
        table(_PARAMETERS, rows) if rows else None,
        others if verdicts else None,
        class_="plan",
    )


def _arguments(
    description: Description, kernel: KernelInfo, launches: Sequence[int]
) -> Iterator[Sequence[Content | NumberCell]]:
    values = _values(description, launches)
    for number, parameter in enumerate(kernel.parameters):
        bound, size = "", None
        if parameter.kind != "scalar" and values:
            value = description.values[values.pop(0)]
            bound = f"{value.name} ({description.memories[value.memory].kind})"
            size = value.bytes
        elif parameter.kind == "scalar":
            bound = f"always {parameter.value}"
        yield [
            str(number),
            parameter.kind,
            parameter.type,
            "x".join(map(str, parameter.shape)),
            parameter.access,
            bound,
            NumberCell.of(size),
        ]


def _constants(
    description: Description, kernel: KernelInfo, launches: Sequence[int]
) -> Iterator[tuple[ParameterInfo, int]]:
    """Yield the parameters that hold weights in the first launch, with their bytes."""
    arrays = [p for p in kernel.parameters if p.kind != "scalar"]
    for parameter, number in zip(arrays, _values(description, launches), strict=False):
        value = description.values[number]
        if description.memories[value.memory].kind == "constant":
            yield parameter, value.bytes


def _values(description: Description, launches: Sequence[int]) -> list[int]:
    command = description.commands[launches[0]] if launches else None
    return list(command.arguments) if isinstance(command, LaunchInfo) else []


def _graph(number: int, graph: GraphInfo) -> Html:
    title = element("b", graph.name)
    what = element("span", f"{len(graph.commands)} commands of {graph.accelerator}", class_="quiet")
    code = element("pre", element("code", graph.text))
    summary = element("summary", title, " ", what)
    return element("details", summary, code, id=f"g{number}", class_="card")


def _source(model: ReportedModel, kernel: KernelInfo) -> str:
    if kernel.binary:
        return ""
    return model.description.kernel_source(kernel).strip("\n") + "\n"


def _sizes(sizes: Sequence[int]) -> str:
    return " x ".join(map(str, sizes))


def _product(sizes: Sequence[int]) -> int | None:
    result = 1
    for size in sizes:
        result *= size
    return result if sizes else None
