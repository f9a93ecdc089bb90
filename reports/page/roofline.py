"""The roofline of a device, and the kernels of a profile below it."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..drawing import Drawing, DrawnBox, Label, Shape, Stroke
from ..profile import Profile, ProfileGroup

_WIDTH, _HEIGHT = 1200, 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 1180, 20, 360
_NAMED = 6
"""Number of the slowest kernels, which are labelled."""
_QUIET, _GRID = "var(--quiet)", "var(--grid)"


def roofline_chart(profile: Profile) -> Drawing | None:
    """Draw speed over multiply-adds per byte, both logarithmic; None without known work."""
    groups = [g for g in profile.by_kernel if g.work.multiply_adds and g.work.bytes]
    groups = [g for g in groups if g.nanoseconds]
    if not groups:
        return None
    axes = _RooflineAxes(profile, groups)
    shapes = [*axes.grid(), *axes.roof()]
    for rank, group in reversed([*enumerate(groups)]):
        shapes += axes.point(group, rank < _NAMED)
    return Drawing(_WIDTH, _HEIGHT, shapes, "none")


def _intensity(group: ProfileGroup) -> float:
    return (group.work.multiply_adds or 0) / group.work.bytes


def _speed(group: ProfileGroup) -> float:
    return (group.work.multiply_adds or 0) / group.nanoseconds


class _RooflineAxes:
    """Two scales of powers of ten around the points and the knee of the roof."""

    def __init__(self, profile: Profile, groups: list[ProfileGroup]) -> None:
        self.peak = profile.roof.mads_per_nanosecond
        self.bandwidth = profile.roof.bytes_per_nanosecond
        self.longest = max(group.nanoseconds for group in groups)
        self.total = profile.total.nanoseconds
        knee = self.peak / self.bandwidth
        across = [*map(_intensity, groups), knee]
        up = [*map(_speed, groups), self.peak]
        self.x0, self.x1 = _decades(across)
        self.y0, self.y1 = _decades(up)

    def x(self, intensity: float) -> float:
        """Return the x coordinate of an intensity."""
        share = (math.log10(intensity) - self.x0) / (self.x1 - self.x0)
        return _LEFT + (_RIGHT - _LEFT) * share

    def y(self, speed: float) -> float:
        """Return the y coordinate of a speed."""
        share = (math.log10(speed) - self.y0) / (self.y1 - self.y0)
        return _BOTTOM - (_BOTTOM - _TOP) * share

    def grid(self) -> Iterator[Shape]:
        """Yield a line for each power of ten, and the titles."""
        for power in range(self.x0, self.x1 + 1):
            x = self.x(10.0**power)
            yield Stroke(x, _TOP, x, _BOTTOM, _GRID)
            yield Label(x, _BOTTOM + 16, f"{10.0**power:g}", colour=_QUIET)
        for power in range(self.y0, self.y1 + 1):
            y = self.y(10.0**power)
            yield Stroke(_LEFT, y, _RIGHT, y, _GRID)
            yield Label(_LEFT - 8, y, f"{10.0**power:g}", anchor="end", colour=_QUIET)
        middle = (_LEFT + _RIGHT) / 2
        yield Label(middle, _BOTTOM + 40, "multiply-adds per byte", colour=_QUIET)
        yield Label(16, (_TOP + _BOTTOM) / 2, "Gmad/s", colour=_QUIET, upright=True)

    def roof(self) -> Iterator[Shape]:
        """Yield the two limits, clipped to the axes."""
        knee = self.peak / self.bandwidth
        left = max(10.0**self.x0, 10.0**self.y0 / self.bandwidth)
        low = self.y(left * self.bandwidth)
        yield Stroke(self.x(left), low, self.x(knee), self.y(self.peak), "var(--ink)", 1.5)
        yield Stroke(self.x(knee), self.y(self.peak), _RIGHT, self.y(self.peak), "var(--ink)", 1.5)
        text = f"{self.peak:g} Gmad/s, {self.bandwidth:g} GB/s"
        yield Label(_RIGHT, self.y(self.peak) - 10, text, 11, "end", _QUIET)

    def point(self, group: ProfileGroup, is_named: bool) -> Iterator[Shape]:
        """Yield a point with an area proportional to its time, and its name if it is slow."""
        x, y = self.x(_intensity(group)), self.y(_speed(group))
        size = 7 + 15 * math.sqrt(group.nanoseconds / self.longest)
        share = group.nanoseconds / self.total
        best = "" if group.roofline is None else f", {group.roofline:.0%} of the roofline"
        title = f"{group.name}\n{_speed(group):.3g} Gmad/s, {share:.1%} of the time{best}"
        corner = (x - size / 2, y - size / 2)
        yield DrawnBox(*corner, size, size, "var(--kernel)", "var(--paper)", title, radius=size / 2)
        if is_named:
            yield Label(x + size / 2 + 4, y, group.name, 11, "start")


def _decades(values: list[float]) -> tuple[int, int]:
    """Return the powers of ten around `values`: at least two different ones."""
    low = math.floor(math.log10(min(values)))
    return low, max(low + 1, math.ceil(math.log10(max(values) * 1.2)))
