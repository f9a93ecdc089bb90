"""Fold loop nests on tiles into micro-ops in up to two hardware loops."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain, permutations, product
from math import prod
from typing import NamedTuple, TypeAlias

import numpy as np

from ....dialects.vta import Loop, Uop, UopsAttr


class UopKernel(NamedTuple):
    """Micro-ops and the loops around them, outermost first."""

    uops: UopsAttr
    loops: tuple[Loop, ...]


Tap: TypeAlias = tuple[int, int]
"""Offsets that an element of a window adds to the indices of inputs and weights."""

MAX_EXTENT = (1 << 14) - 1


@lru_cache(maxsize=1 << 14)
def fold(
    base: Uop,
    axes: tuple[Loop, ...],
    taps: tuple[Tap, ...] = ((0, 0),),
    *,
    distance: int,
    room: int,
) -> tuple[UopKernel, ...]:
    """Return the fewest micro-ops for a nest of `axes` and taps, in one instruction if possible.

    A micro-op must not read a sum that one of the `distance - 1` before it wrote; sums may be
    computed in any order. An instruction has up to `room` micro-ops. If both cannot be met, an axis
    is split into separate instructions. Layers use the same few nests often, so results are cached.
    """
    axes = _joined(axes)
    for loops, outside, inside in _choices(axes, len(taps), room):
        uops = _uops(base, outside, taps, inside)
        if _keeps_distance(uops, loops, distance):
            return (UopKernel(UopsAttr(tuple(uops)), loops),)
    if len(taps) > 1:
        parts = [fold(base, axes, (tap,), distance=distance, room=room) for tap in taps]
    else:
        # Prefer an axis of summation, since it makes the distance hard to keep.
        peeled = min(axes, key=lambda axis: (axis.dst != 0, axis.extent))
        rest = tuple(axis for axis in axes if axis is not peeled)
        parts = [
            fold(_moved(base, peeled, i), rest, taps, distance=distance, room=room)
            for i in range(peeled.extent)
        ]
    return tuple(chain.from_iterable(parts))


def _moved(base: Uop, axis: Loop, turn: int) -> Uop:
    return Uop(base.dst + axis.dst * turn, base.src + axis.src * turn, base.wgt + axis.wgt * turn)


def _joined(axes: Sequence[Loop]) -> tuple[Loop, ...]:
    """Return the axes without trivial ones, merging two that form one sequence of indices."""
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
    return tuple(joined)


def _choices(
    axes: tuple[Loop, ...], taps: int, room: int
) -> list[tuple[tuple[Loop, ...], list[Loop], list[Loop]]]:
    """Return the choices of hardware loops, fewest micro-ops first.

    Each comes with the remaining axes: first the axes of summation, then the others.
    """
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
) -> list[Uop]:
    uops: list[Uop] = []
    places = [
        _moved_by(inside, turns) for turns in product(*(range(axis.extent) for axis in inside))
    ]
    for turns in product(*(range(axis.extent) for axis in outside)):
        dst, src, wgt = _moved_by(outside, turns)
        for tap_src, tap_wgt in taps:
            first = Uop(base.dst + dst, base.src + src + tap_src, base.wgt + wgt + tap_wgt)
            uops += [Uop(first.dst + d, first.src + s, first.wgt + w) for d, s, w in places]
    return uops


def _moved_by(axes: Sequence[Loop], turns: Sequence[int]) -> tuple[int, int, int]:
    """Return the index offsets for an iteration of each axis."""
    pairs = list(zip(axes, turns, strict=True))
    return (
        sum(axis.dst * turn for axis, turn in pairs),
        sum(axis.src * turn for axis, turn in pairs),
        sum(axis.wgt * turn for axis, turn in pairs),
    )


def _keeps_distance(uops: Sequence[Uop], loops: Sequence[Loop], distance: int) -> bool:
    """Return whether no sum is written twice within `distance` micro-ops."""
    written = np.array([uop.dst for uop in uops])
    for loop in reversed(loops):
        written = (np.arange(loop.extent)[:, None] * loop.dst + written[None, :]).reshape(-1)
    return all(
        not np.any(written[d:] == written[:-d]) for d in range(1, min(distance, written.size))
    )
