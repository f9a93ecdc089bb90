"""The section about time: one inference as a timeline, the roofline, and tables of shares."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from ..drawing import Drawing, DrawnBox, Label, Shape, Stroke, round_step, to_svg
from ..html import Column, Content, Html, NumberCell, element, raw, search_box, table
from ..profile import COPY, KERNEL, Profile, ProfileGroup, ProfileRow
from .reported_model import ReportedModel
from .roofline import roofline_chart
from .times import milliseconds

_WIDTH, _HEIGHT, _TOP, _BOTTOM = 1200, 96, 8, 60
_LEFT, _RIGHT = 16, 1184
_LABEL = 11


def timeline_section(model: ReportedModel, profile: Profile) -> Content:
    """Return the section about the time of a profile's commands."""
    chart = roofline_chart(profile)
    total = profile.total
    sentence = (
        f"An inference takes {milliseconds(profile.nanoseconds)} from its first command to the end "
        f"of its last, of which the commands take {milliseconds(total.nanoseconds)}. All times are "
        f"medians of {profile.runs} runs."
    )
    return [
        element("p", sentence),
        element("div", raw(to_svg(_strip(model, profile))), class_="strip wide"),
        element("h3", "Kernels"),
        search_box("times", "part of a kernel or node"),
        table(_columns("kernel", "nodes"), _rows(profile.by_kernel, total, model), "times"),
        [element("h3", "Roofline"), element("p", _ROOFLINE), raw(to_svg(chart))] if chart else None,
        _nodes(profile),
    ]


_ROOFLINE = (
    "A point is a kernel; the larger, the longer it takes. The lines are what the device can do at "
    "the best, by the facts of its target: limited by memory on the left, by arithmetic on the "
    "right. Caches can lift a point above the left one."
)


def _strip(model: ReportedModel, profile: Profile) -> Drawing:
    """Draw the commands over time, each at its median start."""
    starts = _starts(profile)
    ends = [start + row.nanoseconds for start, row in zip(starts, profile.rows, strict=True)]
    whole = max(ends, default=0) or 1

    def x(nanoseconds: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * nanoseconds / whole

    shapes: list[Shape] = [*_axis(whole)]
    for number, (row, start) in enumerate(zip(profile.rows, starts, strict=True)):
        left, width = x(start), x(row.nanoseconds) - _LEFT
        title = f"{number}: {row.name}\n{row.node}\n{milliseconds(row.nanoseconds)}"
        colour = _colour(model, row)
        edge = "var(--paper)" if width > 3 else "none"
        height = _BOTTOM - _TOP
        shapes.append(
            DrawnBox(left, _TOP, max(width, 0.5), height, colour, edge, title, f"s{number}")
        )
        if width > 6.5 * len(row.name) + 8:
            middle = (_TOP + _BOTTOM) / 2
            shapes.append(Label(left + width / 2, middle, row.name, _LABEL, colour="white"))
    return Drawing(_WIDTH, _HEIGHT, shapes, "none")


def _starts(profile: Profile) -> list[float]:
    """Return when each command starts after the first one."""
    begins = [min(spans) for spans in zip(*([s.start for s in r.spans] for r in profile.rows))]
    return [
        median(span.start - begin for span, begin in zip(row.spans, begins, strict=True))
        for row in profile.rows
    ]


def _axis(whole: float) -> list[Shape]:
    unit, name = (1e6, "ms") if whole >= 2e6 else (1e3, "µs")
    step = round_step(whole / unit / 10)
    shapes: list[Shape] = []
    for i in range(int(whole / unit / step) + 1):
        x = _LEFT + (_RIGHT - _LEFT) * i * step * unit / whole
        text = f"{i * step:g}" if i else f"0 {name}"
        shapes.append(Stroke(x, _BOTTOM, x, _BOTTOM + 5, "var(--quiet)"))
        shapes.append(Label(x, _BOTTOM + 16, text, colour="var(--quiet)"))
    return shapes


def _colour(model: ReportedModel, row: ProfileRow) -> str:
    names = {KERNEL: "kernel", COPY: "copy"}
    if row.kind in names:
        return f"var(--{names[row.kind]})"
    return f"var(--accelerator{model.accelerators.index(row.kind) % 3})"


def _columns(first: str, other: str) -> tuple[Column, ...]:
    figures = ("commands", "time", "share", "Mmad", "MB", "Gmad/s", "GB/s", "roofline")
    numbers = (Column(name, is_number=True) for name in figures)
    return (Column(first, kind="name"), *numbers, Column(other))


def _rows(
    groups: Sequence[ProfileGroup], total: ProfileGroup, model: ReportedModel | None = None
) -> list[list[Content | NumberCell]]:
    kernels = [] if model is None else [k.name for k in model.description.kernels]
    rows: list[list[Content | NumberCell]] = []
    for group in groups:
        name: Content = group.name
        if group.name in kernels:
            name = element("a", group.name, href=f"#k{kernels.index(group.name)}")
        rows.append([name, *_figures(group, total, groups[0]), ", ".join(group.others)])
    return rows


def _figures(group: ProfileGroup, total: ProfileGroup, slowest: ProfileGroup) -> list[NumberCell]:
    mads, size, time = group.work.multiply_adds, group.work.bytes, group.nanoseconds
    share = time / total.nanoseconds if total.nanoseconds else 0.0
    speed = mads / time if mads is not None and time else None
    flow = size / time if time else None
    return [
        NumberCell.of(group.commands),
        NumberCell(time, milliseconds(time)),
        NumberCell(share, _meter(share, time / (slowest.nanoseconds or 1))),
        NumberCell(mads, "" if mads is None else f"{1e-6 * mads:.3f}"),
        NumberCell(size, f"{1e-6 * size:.3f}"),
        NumberCell(speed, "" if speed is None else f"{speed:.1f}"),
        NumberCell(flow, "" if flow is None else f"{flow:.1f}"),
        NumberCell(group.roofline, "" if group.roofline is None else f"{group.roofline:.0%}"),
    ]


def _meter(share: float, length: float) -> Html:
    """Return a share as a number on a bar."""
    return element("span", f"{share:.1%}", class_="meter", style=f"--length: {length:.1%}")


def _nodes(profile: Profile) -> Html:
    rows = _rows(profile.by_node, profile.total)
    summary = element("summary", element("h3", "Nodes"))
    note = "A node that is computed with others counts with the last of them."
    body = [search_box("node-times", "part of a node or kernel")]
    body += [table(_columns("node", "kernels"), rows, "node-times")]
    return element("details", summary, element("p", note, class_="quiet"), body)
