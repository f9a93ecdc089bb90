"""The section about decisions: remarks, accelerators, layouts, and rules of kernels."""

from __future__ import annotations

from collections import Counter

from ...messages.explanations import ExplainedTable, is_numeric, tables
from ..html import Column, Content, Html, NumberCell, element, search_box, table
from .nodes import NO_DECISIONS
from .reported_model import ReportedModel

_MEANING = (
    "Each choice, what it follows, its time by the model, and the alternatives. Layouts are chosen "
    "together: one that costs more here saves it elsewhere."
)


def decisions_section(model: ReportedModel) -> Content:
    """Return the section about the compiler's decisions for the whole model."""
    decisions = model.decisions
    explained = () if decisions is None else decisions.explanations
    return [
        _remarks(model),
        _rules(model),
        element("p", NO_DECISIONS if decisions is None else _MEANING, class_="quiet"),
        [_explained(each) for each in tables(explained)],
    ]


def _remarks(model: ReportedModel) -> Html:
    remarks = model.description.remarks
    if not remarks:
        return element("p", "No remarks: the compiler did all that it was asked for.")
    return element("ul", [element("li", remark) for remark in remarks], class_="remarks")


def _rules(model: ReportedModel) -> Content:
    """Return how many kernels and launches each rule schedules."""
    kernels = model.description.kernels
    names = [model.rule_of(kernel) or "written by a pass or an accelerator" for kernel in kernels]
    launches: Counter[str] = Counter()
    for number, name in enumerate(names):
        launches[name] += len(model.launches_of(number))
    if not kernels:
        return None
    columns = (
        Column("rule"),
        Column("kernels", is_number=True),
        Column("launches", is_number=True),
    )
    rows = [
        [name, NumberCell.of(names.count(name)), NumberCell.of(count)]
        for name, count in launches.most_common()
    ]
    meaning = "A rule decides how the loops of a kernel run on the device; each kernel has its own "
    more = ("parameters, ", element("a", "in its row below", href="#kernels"), ".")
    return [element("h3", "Rules"), element("p", meaning, *more), table(columns, rows)]


def _explained(explained: ExplainedTable) -> Html:
    key = f"d-{explained.kind}"
    columns = [Column(name, is_numeric(name)) for name in explained.columns]
    rows = [
        [
            NumberCell(float(cell) if cell else None, cell) if column.is_number else cell
            for cell, column in zip(row, columns, strict=True)
        ]
        for row in explained.rows
    ]
    summary = element("summary", element("h3", explained.kind), " ", explained.counts)
    body = [search_box(key, "part of a row"), table(columns, rows, key)] if rows else None
    sentences = [element("p", sentence) for sentence in explained.summaries]
    return element("details", summary, sentences, body, open=len(rows) < 16)
