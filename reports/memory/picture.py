"""The picture of a memory plan: commands from left to right, bytes of arenas bottom up."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import accumulate

from ..drawing import Drawing, DrawnBox, Label, Shape, Stroke, round_step, text_width
from .summary import size_text
from .values import BUFFER, IMAGE, IN_PLACE, MemoryReport, MemoryRow

COLOURS = {BUFFER: "#9cc3e6", IMAGE: "#8fd0b0", IN_PLACE: "#f4c07c"}
_BOUND = "#c8203c"
_GRID = "#e3e7eb"
_QUIET = "#5d6a76"
_WIDTH, _HEIGHT = 1200, 640
_LEFT, _RIGHT, _TOP, _BOTTOM = 72, 1180, 100, 580
_LABEL_SIZE = 11
_SHORTEST_LABEL = 5
_THIN = 4
"""Boxes up to this size, in units, have no edge, because the edge would cover them."""


def picture(report: MemoryReport, title: str) -> Drawing:
    """Draw a box for each intermediate of the arenas, over its commands and its bytes."""
    plot = _Plot(report)
    boxes = [
        (plot.box(index, row), row)
        for index, row in enumerate(report.rows)
        if row.arena is not None and row.offset is not None
    ]
    shapes: list[Shape] = [*_heading(report, title), *plot.grid(), *(box for box, _ in boxes)]
    shapes += plot.borders()
    for box, row in boxes:
        shapes += _labels(box, row)
    return Drawing(_WIDTH, _HEIGHT, shapes)


class _Plot:
    """The area of the boxes and its two scales."""

    def __init__(self, report: MemoryReport) -> None:
        self.report = report
        self.starts = [0, *accumulate(report.arenas)]
        self.bytes = max(1, report.arena_bytes)
        self.commands = max(1, len(report.commands))
        # What the next row of the same bytes takes over in place; it starts within this command.
        self.handed_on = {
            (row.arena, row.offset, row.bytes, row.first)
            for row in report.rows
            if row.kind == IN_PLACE
        }

    def x(self, command: float) -> float:
        """Return where a command starts; a command is as wide as the space between two numbers."""
        return _LEFT + (_RIGHT - _LEFT) * command / self.commands

    def y(self, byte: float) -> float:
        """Return the height of a byte in the stacked arenas."""
        return _BOTTOM - (_BOTTOM - _TOP) * byte / self.bytes

    def grid(self) -> Iterator[Shape]:
        """Yield lines, numbers and titles of both axes."""
        unit, name = (1e6, "MB") if self.bytes >= 1e6 else (1e3, "kB")
        step = round_step(self.bytes / unit / 6)
        digits = max(0, -math.floor(math.log10(step)))
        for i in range(int(self.bytes / unit / step) + 1):
            y = self.y(i * step * unit)
            yield Stroke(_LEFT, y, _RIGHT, y, _GRID)
            yield Label(_LEFT - 8, y, f"{i * step:.{digits}f}", anchor="end", colour=_QUIET)
        yield Label(20, (_TOP + _BOTTOM) / 2, f"byte of the arena, {name}", upright=True)
        every = max(1, round(round_step(self.commands / 20)))
        for command in range(0, self.commands, every):
            x = self.x(command + 0.5)
            yield Stroke(x, _BOTTOM, x, _BOTTOM + 4, _QUIET)
            yield Label(x, _BOTTOM + 15, str(command), colour=_QUIET)
        yield Label((_LEFT + _RIGHT) / 2, _BOTTOM + 40, "command of the queue")

    def box(self, index: int, row: MemoryRow) -> DrawnBox:
        """Return the box of an intermediate that lies in an arena."""
        assert row.arena is not None
        assert row.offset is not None
        first, end = float(row.first), row.last + 1.0
        if row.kind == IN_PLACE:
            first += 0.5
        if (row.arena, row.offset, row.bytes, row.last) in self.handed_on:
            end -= 0.5
        low = self.starts[row.arena] + row.offset
        x, y = self.x(first), self.y(low + row.bytes)
        width, height = self.x(end) - x, self.y(low) - y
        edge = "white" if min(width, height) > _THIN else "none"
        return DrawnBox(x, y, width, height, COLOURS[row.kind], edge, describe(row), f"t{index}")

    def borders(self) -> Iterator[Shape]:
        """Yield the axes, the ends of the arenas and the lower bound."""
        yield Stroke(_LEFT, _BOTTOM, _RIGHT, _BOTTOM)
        yield Stroke(_LEFT, _TOP, _LEFT, _BOTTOM)
        for start in self.starts[1:]:
            yield Stroke(_LEFT, self.y(start), _RIGHT, self.y(start))
        busiest = self.report.busiest
        if busiest is not None and self.report.lower_bound:
            bound = self.y(self.report.lower_bound)
            yield Stroke(_LEFT, bound, _RIGHT, bound, _BOUND, 2, 6)
            yield Stroke(self.x(busiest), _BOTTOM + 2, self.x(busiest + 1), _BOTTOM + 2, _BOUND, 4)


def describe(row: MemoryRow) -> str:
    """Return a few lines about an intermediate."""
    place = "" if row.offset is None else f" from byte {row.offset:,}"
    return "\n".join(
        [
            f"{row.node} (%{row.name})",
            row.type,
            f"{size_text(row.bytes)}, {row.bytes:,} bytes{place}, {row.kind}",
            f"commands {row.first} to {row.last}: {', '.join(row.kernels)}",
        ]
    )


def _heading(report: MemoryReport, title: str) -> Iterator[Shape]:
    held = f"{title}: arena of {size_text(report.arena_bytes)}, {report.ratio:.3f} x lower bound"
    yield Label(_LEFT, 26, held, 20, "start")
    others = [f"{size_text(report.without_reuse)} without reuse"]
    if report.separate:
        others.append(f"{size_text(report.separate_bytes)} in {report.separate} separate objects")
    others.append(f"weights {size_text(report.weights)}")
    others.append(f"inputs and outputs {size_text(report.inputs + report.outputs)}")
    yield Label(_LEFT, 50, "; ".join(others), 13, "start", _QUIET)
    x = float(_LEFT)
    for kind in (kind for kind in COLOURS if any(row.kind == kind for row in report.rows)):
        yield DrawnBox(x, 70, 14, 12, COLOURS[kind])
        yield Label(x + 20, 76, kind, 12, "start")
        x += 44 + text_width(kind, 12)
    if report.busiest is not None and report.lower_bound:
        where = f"{report.busiest} ({report.commands[report.busiest]})"
        bound = f"lower bound {size_text(report.lower_bound)}, reached at command {where}"
        yield Stroke(x, 76, x + 24, 76, _BOUND, 2, 6)
        yield Label(x + 30, 76, bound, 12, "start")


def _labels(box: DrawnBox, row: MemoryRow) -> Iterator[Label]:
    """Yield the node's name or its end, vertical if that fits better, and the size below it."""
    upright = box.height > box.width and text_width(row.node, _LABEL_SIZE) > box.width - 6
    along, across = (box.height, box.width) if upright else (box.width, box.height)
    room = int((along - 6) / text_width(" ", _LABEL_SIZE))
    if across < _LABEL_SIZE + 3 or room < _SHORTEST_LABEL:
        return
    lines = [row.node if len(row.node) <= room else "…" + row.node[1 - room :]]
    size = size_text(row.bytes)
    if across >= 2 * _LABEL_SIZE + 8 and len(size) <= room:
        lines.append(size)
    x, y = box.x + box.width / 2, box.y + box.height / 2
    for i, line in enumerate(lines):
        shift = (i - (len(lines) - 1) / 2) * (_LABEL_SIZE + 3)
        dx, dy = (shift, 0.0) if upright else (0.0, shift)
        yield Label(x + dx, y + dy, line, _LABEL_SIZE, upright=upright)
