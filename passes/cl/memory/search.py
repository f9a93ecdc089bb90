"""A beam search for a plan within a number of bytes.

It stacks boxes from the bottom up, as the search of Moffitt (MiniMalloc: A Lightweight Memory
Allocator for Hardware-Accelerated Machine Learning, ASPLOS 2023) does. Any plan can be compacted
downwards until each tensor lies on the ground or on another tensor, and can then be built in the
order of its offsets. A state is therefore a skyline. Its lowest niche either receives a box that
fits between its walls, or stays empty up to the lower wall, provided that the remaining boxes have
room above. Instead of one state at a time, the search keeps the best few hundred states after each
box (a beam) and computes them together in arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .skyline import Bools, Boxes, Ints, boxes_of
from .tensors import LiveTensor

WALL = 1 << 40
"""A height above any skyline, in units."""
SCALE = 1 << 20
"""Scores are integers in units of 1 / SCALE, because sums of floats differ between processors."""
RAISES = 7
"""Maximum number of consecutive times that a niche may stay empty."""
NARROWEST = 48
"""The number of states that the first beams keep."""
ROUNDS = 8
"""The number of beams of each width in each style."""
BROAD = 500
"""A state counts as one more for every BROAD boxes and sections, because it costs more."""
LAYER = 40
"""The fixed cost of a layer of the beam, in states."""


@dataclass(frozen=True)
class Style:
    """The criteria by which states with the same number of boxes are ranked."""

    chained: bool
    """Whether tensors of equal size that follow one another get the same offset."""
    siblings: int
    """States with the same parent that a beam prefers to others, for diversity; 0 means all."""
    early: str
    """The weight of boxes that should be placed low: "life", its "square" or "root", or "area"."""
    rough: int
    """The weight of steps in the skyline."""


COMMON = (("life", 1), ("square", 1), ("area", 1), ("root", 3), ("square", 3))
STYLES = [
    Style(chained, siblings, early, rough)
    for siblings, kinds in ((4, COMMON), (0, (("area", 10), ("root", 3))), (3, COMMON), (2, COMMON))
    for early, rough in kinds
    for chained in (True, False)
]


class State(NamedTuple):
    """Skylines of a beam, one per row. Columns are sections, boundaries of sections, or boxes."""

    heights: Ints
    rest: Ints
    """Units in each section of boxes not yet placed."""
    crossing: Ints
    """The part of `rest` in boxes that also cover the next section."""
    waiting: Bools
    """Whether each box is not yet placed."""
    key: Ints
    """A hash of the set of placed boxes."""
    spent: Ints
    """The score without the steps in the skyline."""
    parent: Ints
    """The row in the previous layer."""

    def rows(self, rows: Ints) -> State:
        """Return the states at the indices `rows`."""
        return State(
            self.heights[rows],
            self.rest[rows],
            self.crossing[rows],
            self.waiting[rows],
            self.key[rows],
            self.spent[rows],
            self.parent[rows],
        )


def _joined(states: Sequence[State]) -> State:
    """Concatenate the rows of all states."""
    return State(
        np.concatenate([s.heights for s in states]),
        np.concatenate([s.rest for s in states]),
        np.concatenate([s.crossing for s in states]),
        np.concatenate([s.waiting for s in states]),
        np.concatenate([s.key for s in states]),
        np.concatenate([s.spent for s in states]),
        np.concatenate([s.parent for s in states]),
    )


class Niche(NamedTuple):
    """The lowest flat part of each skyline: sections `begin` up to `end` at height `floor`."""

    begin: Ints
    end: Ints
    floor: Ints
    left: Ints
    """The height of the wall; WALL if no remaining box crosses it."""
    right: Ints


class Beam:
    """A search over one set of boxes for a stack of at most `capacity` units, in one style."""

    def __init__(self, boxes: Boxes, capacity: int, style: Style, urgency: Ints) -> None:
        self.boxes = boxes
        self.capacity = capacity
        self.style = style
        sections = np.arange(len(boxes.totals))
        covers = (sections >= boxes.begin[:, None]) & (sections < boxes.end[:, None])
        self.covered: Ints = covers * boxes.sizes[:, None]
        ends = sections == boxes.end[:, None] - 1
        self.crossed: Ints = (covers & ~ends) * boxes.sizes[:, None]
        self.sections = sections
        self.early = self._weights() + urgency
        waste = 4 * SCALE // (capacity - boxes.totals + 5) // 4
        self.waste = np.concatenate([[0], np.cumsum(waste)])
        random = np.random.default_rng(0)
        self.box_keys = random.integers(1, 1 << 62, len(boxes.boxes))
        self.height_keys = random.integers(1, 1 << 40, len(sections))
        self.states = 0
        self.complete = True
        """Whether no state was dropped, so that a failure proves that no stack exists."""

    def _weights(self) -> Ints:
        """Return the score of each box for being placed early."""
        life = (self.boxes.end - self.boxes.begin) / len(self.sections)
        weights = {
            "life": life,
            "square": life * life,
            "root": np.sqrt(life),
            "area": life * self.boxes.sizes / self.capacity,
        }
        return (weights[self.style.early] * SCALE).astype(np.int64)

    def run(self, width: int) -> list[int] | None:
        """Return the offsets of the boxes in units, or None; `states` counts the cost."""
        state = self._start()
        history: list[tuple[Ints, Ints, Ints]] = []
        for _ in self.boxes.boxes:
            layer = self._layer(state, width)
            if layer is None:
                return None
            state, placed, floor = layer
            history.append((state.parent, placed, floor))
        offsets = [0] * len(self.boxes.boxes)
        row = 0
        for parent, placed, floor in reversed(history):
            offsets[placed[row]] = int(floor[row])
            row = parent[row]
        return offsets

    def blame(self) -> Ints:
        """Return scores for boxes to place earlier: those left where the search failed."""
        state, niche = self.stuck
        inside = (self.sections >= niche.begin[:, None]) & (self.sections < niche.end[:, None])
        covered = self.covered > 0
        often = state.waiting.sum(0) * (covered @ inside.sum(0))
        return SCALE * often * 3 // (10 * len(state.key) ** 2 * covered.sum(1))

    def _start(self) -> State:
        """Return the empty skyline."""
        none = np.zeros(1, np.int64)
        return State(
            np.zeros((1, len(self.sections)), np.int64),
            self.boxes.totals[None],
            self.crossed.sum(0)[None],
            np.ones((1, len(self.boxes.boxes)), np.bool_),
            none,
            none,
            none,
        )

    def _layer(self, state: State, width: int) -> tuple[State, Ints, Ints] | None:
        """Return the best states with one more box, the box and its offset, or None."""
        self.states += LAYER
        state = state._replace(parent=np.arange(len(state.key)))
        sources: list[State] = []
        choices: list[tuple[Ints, ...]] = []  # source, row, box, floor, score for each choice
        while len(state.key):
            self.states += len(state.key)
            niche = self._niche(state)
            if not sources:
                self.stuck = state, niche
            row, box = np.nonzero(
                state.waiting
                & (self.boxes.begin >= niche.begin[:, None])
                & (self.boxes.end <= niche.end[:, None])
            )
            score = state.spent[row] - self.early[box] + self._new_steps(niche, row, box)
            choices.append((np.full(len(row), len(sources)), row, box, niche.floor[row], score))
            sources.append(state)
            state = self._raised(state, niche)
            if len(sources) == RAISES:
                self.complete &= not len(state.key)
                break
        source, row, box, floor, score = (np.concatenate(c) for c in zip(*choices, strict=True))
        best = np.argsort(score, kind="stable")
        if not len(best):
            return None
        tried = (self.style.siblings or 2) * width
        self.complete &= len(best) <= tried
        best = best[:tried]
        source, row, box, floor = source[best], row[best], box[best], floor[best]
        # The states of all sources concatenated, source after source.
        starts = np.cumsum([0, *(len(s.key) for s in sources)])
        merged = _joined(sources).rows(starts[source] + row)
        return self._best(self._place(merged, box, floor), box, floor, width)

    def _niche(self, state: State) -> Niche:
        """Return the lowest niche of each state."""
        # From the first live section up to the first boundary that no box crosses: spans of time ||
        # that share no box are filled one after the other.
        first = (state.rest > 0).argmax(1)[:, None]
        last = ((state.crossing == 0) & (self.sections >= first)).argmax(1)[:, None]
        live = (self.sections >= first) & (self.sections <= last)
        heights = np.where(live, state.heights, WALL)
        floor = heights.min(1)
        low = heights == floor[:, None]
        begin = low.argmax(1)
        after = ~low & (self.sections >= begin[:, None])
        end = np.where(after.any(1), after.argmax(1), len(self.sections))
        rows = np.arange(len(floor))
        left = np.where(begin > 0, heights[rows, begin - 1], WALL)
        right = np.where(end < len(self.sections), heights[rows, end - len(self.sections)], WALL)
        return Niche(begin, end, floor, left, right)

    def _new_steps(self, niche: Niche, row: Ints, box: Ints) -> Ints:
        """Return the growth of the steps at both ends of a box, as a score."""
        floor = niche.floor[row]
        top = floor + self.boxes.sizes[box]
        total = np.zeros(len(row), np.int64)
        for wall, at_wall in (
            (niche.left[row], self.boxes.begin[box] == niche.begin[row]),
            (niche.right[row], self.boxes.end[box] == niche.end[row]),
        ):
            beside = np.where(at_wall, wall, floor)
            total += np.where(beside < WALL, np.abs(top - beside) - (beside - floor), 0)
        return self._steps_score(total)

    def _steps_score(self, steps: Ints) -> Ints:
        return self.style.rough * steps * SCALE // self.capacity

    def _raised(self, state: State, niche: Niche) -> State:
        """Return the states whose niche can stay empty up to its lower wall, after filling it."""
        wall = np.minimum(niche.left, niche.right)
        inside = (self.sections >= niche.begin[:, None]) & (self.sections < niche.end[:, None])
        most = np.where(inside, state.rest, 0).max(1)
        rows = np.flatnonzero((wall < WALL) & (wall + most <= self.capacity))
        wall, inside = wall[rows], inside[rows]
        height = wall - niche.floor[rows]
        waste = height * (self.waste[niche.end[rows]] - self.waste[niche.begin[rows]])
        raised = state.rows(rows)
        return raised._replace(
            heights=np.where(inside, wall[:, None], raised.heights), spent=raised.spent + waste
        )

    def _place(self, state: State, box: Ints, floor: Ints) -> State:
        """Return the states after each places `box` at height `floor`."""
        waiting = state.waiting
        waiting[np.arange(len(box)), box] = False
        rest = state.rest - self.covered[box]
        crossing = state.crossing - self.crossed[box]
        top = (floor + self.boxes.sizes[box])[:, None]
        heights = np.where(self.covered[box] > 0, top, state.heights)
        return state._replace(
            heights=_settled(heights, rest, crossing),
            rest=rest,
            crossing=crossing,
            waiting=waiting,
            key=state.key + self.box_keys[box],
            spent=state.spent - self.early[box],
        )

    def _best(self, state: State, box: Ints, floor: Ints, width: int) -> tuple[State, Ints, Ints]:
        """Return the `width` best distinct states; the first few of each parent come first."""
        skyline = state.key + np.where(state.rest > 0, state.heights, 0) @ self.height_keys
        _, different = np.unique(skyline, return_index=True)
        different.sort()
        steps = (np.abs(np.diff(state.heights, axis=1)) * (state.crossing[:, :-1] > 0)).sum(1)
        score = (state.spent + self._steps_score(steps))[different]
        self.complete &= len(different) <= width
        kept = different[np.argsort(score, kind="stable")]
        if self.style.siblings:
            kept = _mixed(kept, state.parent, self.style.siblings)
        kept = kept[:width]
        return state.rows(kept), box[kept], floor[kept]


def _mixed(rows: Ints, parents: Ints, siblings: int) -> Ints:
    """Return the rows in order, but with the first `siblings` of each parent before all others."""
    by_parent = np.argsort(parents[rows], kind="stable")
    ordered = parents[rows][by_parent]
    rank = np.empty(len(rows), np.int64)
    rank[by_parent] = np.arange(len(rows)) - np.searchsorted(ordered, ordered)
    return rows[np.argsort(rank >= siblings, kind="stable")]


def _settled(heights: Ints, rest: Ints, crossing: Ints) -> Ints:
    """Raise a section to its neighbor's height if its remaining boxes all cover both."""
    shared = crossing[:, :-1]
    rightwards = np.ones(heights.shape, np.bool_)
    rightwards[:, 1:] = (rest[:, 1:] != shared) | (shared == 0)
    leftwards = np.ones(heights.shape, np.bool_)
    leftwards[:, 1:] = ((rest[:, :-1] != shared) | (shared == 0))[:, ::-1]
    heights = _highest_so_far(heights, rightwards)
    return _highest_so_far(heights[:, ::-1], leftwards)[:, ::-1]


def _highest_so_far(heights: Ints, anew: Bools) -> Ints:
    """Return the running maximum of each row, restarted at the positions `anew`."""
    lift = np.cumsum(anew, 1) * WALL
    return np.maximum.accumulate(heights + lift, 1) - lift


def least_stack(tensors: Sequence[LiveTensor]) -> tuple[int, int]:
    """Return a lower bound for any stack and the unit of all stacks' sizes, in bytes."""
    boxes = boxes_of(tensors, chained=False)
    return boxes.least, boxes.unit


def stack(tensors: Sequence[LiveTensor], limit: int, effort: int) -> tuple[list[int] | None, int]:
    """Return offsets at which all tensors end at or below `limit` bytes, or None; and the effort.

    The search runs one style after the other, repeatedly, then with wider beams, until it has
    visited `effort` states or proved that no such stack exists. The boxes that remained where a
    beam failed come earlier in the next beam of its style (Joslin and Clements, "Squeaky Wheel"
    Optimization, JAIR 10, 1999).
    """
    variants = {chained: boxes_of(tensors, chained) for chained in (True, False)}
    count, sections = variants[False].shape
    weight = 1 + (count + sections) // BROAD
    width = NARROWEST
    spent = 0
    urgencies: dict[Style, Ints] = {}
    while variants[False].least <= limit and count * (width + LAYER) * weight + spent <= effort:
        for style in STYLES * ROUNDS:
            boxes = variants[style.chained]
            urgency = urgencies.get(style, np.zeros(len(boxes.boxes), np.int64))
            beam = Beam(boxes, limit // boxes.unit, style, urgency)
            offsets = beam.run(width)
            spent += beam.states * weight
            if offsets is not None:
                return boxes.offsets(offsets), spent
            if spent > effort or (beam.complete and not style.chained):
                return None, spent
            urgencies[style] = urgency * 9 // 10 + beam.blame()
        width *= 4
    return None, spent
