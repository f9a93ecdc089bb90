"""Loop nests on tiles as micro-ops in up to two hardware loops."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations, product
from math import prod
from typing import TypeAlias

import numpy as np

from ....dialects.vta import Loop, Uop

Kernel: TypeAlias = tuple[tuple[Uop, ...], tuple[Loop, ...]]
"""Micro-ops, and the loops around them, outermost first."""

Tap: TypeAlias = tuple[int, int]
"""What one element of a window adds to the indices of inputs and weights."""

MAX_EXTENT = (1 << 14) - 1
_NO_TAP: tuple[Tap, ...] = ((0, 0),)


def fold(
    base: Uop, axes: Sequence[Loop], *, taps: Sequence[Tap] = _NO_TAP, distance: int, room: int
) -> list[Kernel]:
    """The fewest micro-ops that run a nest of `axes` and taps, in one instruction if possible.

    A micro-op reads no sum that one of the `distance - 1` before it wrote; the order of sums is
    free. An instruction has up to `room` micro-ops. Where both cannot be had, an axis becomes
    instructions of its own.
    """
    axes = _joined(axes)
    for loops, outside, inside in _choices(axes, len(taps), room):
        uops = _uops(base, outside, taps, inside)
        if _keeps_distance(uops, loops, distance):
            return [(uops, loops)]
    if len(taps) > 1:
        return [
            kernel
            for tap in taps
            for kernel in fold(base, axes, taps=[tap], distance=distance, room=room)
        ]
    # First an axis of summation, which stands in the way of the distance.
    peeled = min(axes, key=lambda axis: (axis.dst != 0, axis.extent))
    rest = [axis for axis in axes if axis is not peeled]
    return [
        kernel
        for i in range(peeled.extent)
        for kernel in fold(_moved(base, peeled, i), rest, taps=taps, distance=distance, room=room)
    ]


def _moved(base: Uop, axis: Loop, turn: int) -> Uop:
    return Uop(base.dst + axis.dst * turn, base.src + axis.src * turn, base.wgt + axis.wgt * turn)


def _joined(axes: Sequence[Loop]) -> list[Loop]:
    """Axes without those of one turn; two that run through one sequence of indices are one."""
    joined: list[Loop] = []
    for axis in axes:
        if axis.extent == 1:
            continue
        if joined:
            outer = joined[-1]
            steps = tuple(step * axis.extent for step in axis[1:])
            if steps == tuple(outer[1:]) and outer.extent * axis.extent <= MAX_EXTENT:
                joined[-1] = axis._replace(extent=outer.extent * axis.extent)
                continue
        joined.append(axis)
    return joined


def _choices(
    axes: list[Loop], taps: int, room: int
) -> list[tuple[tuple[Loop, ...], list[Loop], list[Loop]]]:
    """Every choice of loops, fewest micro-ops first, with the other axes: those of sums, others."""
    total = taps * prod(axis.extent for axis in axes)
    choices: list[tuple[int, tuple[Loop, ...], list[Loop], list[Loop]]] = []
    for count in range(min(2, len(axes)), -1, -1):
        for chosen in permutations(range(len(axes)), count):
            loops = tuple(axes[i] for i in chosen)
            uops = total // prod(loop.extent for loop in loops)
            rest = [axis for i, axis in enumerate(axes) if i not in chosen]
            if uops <= room:
                outside = [axis for axis in rest if axis.dst == 0]
                choices.append((uops, loops, outside, [axis for axis in rest if axis.dst != 0]))
    return [choice[1:] for choice in sorted(choices, key=lambda choice: choice[0])]


def _uops(
    base: Uop, outside: Sequence[Loop], taps: Sequence[Tap], inside: Sequence[Loop]
) -> tuple[Uop, ...]:
    uops: list[Uop] = []
    for turns in product(*(range(axis.extent) for axis in outside)):
        start = base
        for axis, turn in zip(outside, turns, strict=True):
            start = _moved(start, axis, turn)
        for src, wgt in taps:
            for places in product(*(range(axis.extent) for axis in inside)):
                at = Uop(start.dst, start.src + src, start.wgt + wgt)
                for axis, turn in zip(inside, places, strict=True):
                    at = _moved(at, axis, turn)
                uops.append(at)
    return tuple(uops)


def _keeps_distance(uops: Sequence[Uop], loops: Sequence[Loop], distance: int) -> bool:
    """Whether no sum is written twice within `distance` micro-ops."""
    written = np.array([uop.dst for uop in uops])
    for loop in reversed(loops):
        written = (np.arange(loop.extent)[:, None] * loop.dst + written[None, :]).reshape(-1)
    return all(
        not np.any(written[d:] == written[:-d]) for d in range(1, min(distance, written.size))
    )
