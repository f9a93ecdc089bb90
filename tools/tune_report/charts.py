"""Charts of a search: the time of each trial and the best so far; the page defines colours."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...decisions.record import Record
from ...messages.printable import printable
from ...reports.drawing import Drawing, DrawnBox, Label, Shape, Stroke, round_step
from ...tuning.history import History, HistoryStep, KernelHistory

_INK, _QUIET, _GRID = "var(--ink)", "var(--quiet)", "var(--grid)"
_BEST, FAULT = "var(--best)", "var(--fault)"
SERIES = 7
"""Colours of rules: the variables --c0 and on of the page."""

_WIDTH, _HEIGHT = 600, 300
_LEFT, _RIGHT, _TOP = 64, 12, 30
"""Space beside the plot and above it, where faults are marked."""
_BOTTOM = 44
_LANE = 14
"""The height at which faults are marked."""
_POINT = 6


def kernel_chart(kernel: KernelHistory, colours: Mapping[str, str]) -> Drawing:
    """Draw a point for each trial, a line for the best so far, the faults, and a dashed default."""
    timed = [s.record for s in kernel.steps if s.record.microseconds is not None]
    times = [time for record in timed for time in (record.least, record.most)]
    axes = _Axes(_WIDTH, _HEIGHT, len(kernel.steps), _range(times), "microseconds")
    shapes = [*axes.shapes("trial of this kernel")]
    if kernel.untuned is not None:
        y = axes.y(kernel.untuned)
        shapes.append(Stroke(_LEFT, y, axes.right, y, _QUIET, 1, 5))
    best = [None if step.best is None else step.best.microseconds for step in kernel.steps]
    shapes += [*_whiskers(axes, kernel.steps), *_stairs(axes, best)]
    shapes += [_mark(axes, i, step, colours) for i, step in enumerate(kernel.steps, 1)]
    return Drawing(_WIDTH, _HEIGHT, shapes, "none")


def course_chart(history: History) -> Drawing:
    """Draw the time of an inference with the best plans after each trial."""
    times = history.course()
    unit, name = (1e3, "milliseconds") if max(times) >= 1e3 else (1.0, "microseconds")
    times = [time / unit for time in times]
    axes = _Axes(2 * _WIDTH, _HEIGHT, len(times), _range(times), name)
    shapes = [*axes.shapes("trial"), *_stairs(axes, times)]
    for number, step in enumerate(history.steps, 1):
        if step.record.fault:
            shapes.append(_fault(axes, number, step))
    return Drawing(2 * _WIDTH, _HEIGHT, shapes, "none")


def describe(number: int, record: Record) -> str:
    """Describe a trial in a few lines."""
    what = f"trial {number}{', the default' if record.default else ''}"
    if record.microseconds is None:
        result = f"{record.fault}: {printable(record.reason, 300)}"
    else:
        result = f"{record.microseconds:.4g} µs, within {record.noise:.1%}, {record.runs} runs"
    return f"{what}\n{result}\n{printable(record.choice, 300)}"


@dataclass(frozen=True)
class _Axes:
    """Trials from left to right; times, by their logarithms, from below."""

    width: int
    height: int
    trials: int
    range: tuple[float, float]
    unit: str

    @property
    def right(self) -> float:
        return self.width - _RIGHT

    @property
    def bottom(self) -> float:
        return self.height - _BOTTOM

    def x(self, number: float) -> float:
        """Return the position of a trial by its number, from 1."""
        return _LEFT + (self.right - _LEFT) * (number - 0.5) / self.trials

    def y(self, time: float) -> float:
        """Return the height of a time."""
        low, high = map(math.log, self.range)
        return self.bottom - (self.bottom - _TOP) * (math.log(time) - low) / (high - low)

    def shapes(self, title: str) -> Iterator[Shape]:
        """Yield lines, numbers and titles of both axes."""
        for tick in _ticks(self.range):
            y = self.y(tick)
            yield Stroke(_LEFT, y, self.right, y, _GRID)
            yield Label(_LEFT - 8, y, f"{tick:g}", anchor="end", colour=_QUIET)
        yield Label(14, (_TOP + self.bottom) / 2, self.unit, colour=_QUIET, upright=True)
        yield Stroke(_LEFT, self.bottom, self.right, self.bottom, _QUIET)
        every = max(1, round(round_step(self.trials * 40 / self.width)))
        for number in range(every, self.trials + 1, every):
            x = self.x(number)
            yield Stroke(x, self.bottom, x, self.bottom + 4, _QUIET)
            yield Label(x, self.bottom + 14, str(number), colour=_QUIET)
        yield Label((_LEFT + self.right) / 2, self.height - 9, title, colour=_QUIET)


def _mark(axes: _Axes, number: int, step: HistoryStep, colours: Mapping[str, str]) -> DrawnBox:
    record = step.record
    if record.microseconds is None:
        return _fault(axes, number, step)
    colour = colours[record.rule] if record.rule else "var(--c0)"
    x, y = axes.x(number) - _POINT / 2, axes.y(record.microseconds) - _POINT / 2
    title = describe(number, record)
    return DrawnBox(x, y, _POINT, _POINT, colour, title=title, radius=_POINT / 2)


def _whiskers(axes: _Axes, steps: Sequence[HistoryStep]) -> Iterator[Stroke]:
    """Yield the interval of each time, which shows whether points below the best are noise."""
    for number, step in enumerate(steps, 1):
        record = step.record
        if record.microseconds is not None and record.noise:
            x = axes.x(number)
            yield Stroke(x, axes.y(record.least), x, axes.y(record.most), _QUIET)


def _fault(axes: _Axes, number: int, step: HistoryStep) -> DrawnBox:
    x = axes.x(number) - _POINT / 2
    title = describe(number, step.record)
    return DrawnBox(x, _LANE - _POINT / 2, _POINT, _POINT, FAULT, title=title)


def _stairs(axes: _Axes, times: Sequence[float | None]) -> Iterator[Stroke]:
    """Yield a line that stays at the height of each time until the next one."""
    known = [(number, time) for number, time in enumerate(times, 1) if time]
    changes = [each for i, each in enumerate(known) if i == 0 or each[1] != known[i - 1][1]]
    ends = [(len(times) + 0.5, changes[-1][1])] if changes else []
    for (start, time), (end, then) in zip(changes, [*changes[1:], *ends], strict=True):
        yield Stroke(axes.x(start), axes.y(time), axes.x(end), axes.y(time), _BEST, 2)
        if then != time:
            yield Stroke(axes.x(end), axes.y(time), axes.x(end), axes.y(then), _BEST, 2)


def _range(times: Sequence[float]) -> tuple[float, float]:
    """Return a range slightly larger than the times, and never empty."""
    if not any(times):
        return 1.0, 10.0
    low, high = min(times), max(times)
    room = max(1.03, (high / low) ** 0.04)
    return low / room, high * room


def _ticks(range_: tuple[float, float]) -> list[float]:
    """Return round numbers within a range of times, not too close to each other."""
    low, high = range_
    if high < 8 * low:
        step = round_step((high - low) / 5)
        return [n * step for n in range(math.ceil(low / step), math.floor(high / step) + 1)]
    decades = [10.0**n for n in range(math.floor(math.log10(low)), math.ceil(math.log10(high)))]
    factors = (1, 2, 5) if len(decades) < 5 else (1,)
    found = [factor * decade for decade in decades for factor in factors]
    return [tick for tick in found if low <= tick <= high]
