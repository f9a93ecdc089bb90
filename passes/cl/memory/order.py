"""Reorder independent steps if that lowers the peak of live bytes.

Finding an order with the lowest peak is NP-hard in general (Sethi, Complete Register Allocation
Problems, SIAM Journal on Computing 4, 1975). But a step that all paths pass through divides the
order into parts, and only the parts with the highest peak matter. A small part is ordered exactly,
by a search over sets of steps that can come first, as in Ahn et al., Ordering Chaos: Memory-Aware
Scheduling of Irregularly Wired Neural Networks for Edge Devices (MLSys 2020). A large part is
ordered greedily, by the step that frees the most bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

EXACT_STEPS = 64
"""Largest number of steps of a part that is ordered exactly."""
EXACT_SETS = 20_000
"""Total number of sets of steps that the exact searches of all parts may visit."""
PARTS = 50
"""Maximum number of parts to reorder."""


@dataclass(frozen=True)
class QueueStep:
    """The tensors that one command reads and writes, as numbers.

    Tensors that share storage have the same number.
    """

    reads: tuple[int, ...]
    writes: tuple[int, ...]


def order(steps: Sequence[QueueStep], sizes: Sequence[int], kept: Iterable[int] = ()) -> list[int]:
    """Return the indices of `steps` in an order with a lower peak, or in the given order.

    `sizes[t]` is the size of tensor `t` in bytes. A tensor is live from its first step to its
    last, from the start if it is read before it is written, and to the end if it is in `kept`. A
    step stays after all earlier writers of its inputs, and after all earlier readers and writers of
    its outputs.
    """
    graph = _DependenceGraph(steps, sizes, frozenset(kept))
    orders = graph.parts()
    worst = [(-graph.part(part).peak(part), i) for i, part in enumerate(orders)]
    heapify(worst)
    sets = EXACT_SETS
    for _ in range(PARTS):
        if not worst:
            break
        # The other parts matter only if the worst part improves.
        peak, i = heappop(worst)
        part = graph.part(orders[i])
        better, visited = part.better(-peak, sets)
        sets -= visited
        if better is None:
            break
        orders[i] = better
        heappush(worst, (-part.peak(better), i))
    reached = max((graph.part(part).peak(part) for part in orders), default=0)
    for i, given in enumerate(map(sorted, orders)):
        # Another part has at least this peak, so the new order of this part gains nothing.
        if graph.part(given).peak(given) <= reached:
            orders[i] = given
    return [step for part in orders for step in part]


class _DependenceGraph:
    """The dependences between steps, and the users of each tensor."""

    def __init__(
        self, steps: Sequence[QueueStep], sizes: Sequence[int], kept: frozenset[int]
    ) -> None:
        self.sizes = sizes
        self.kept = kept
        self.tensors = [tuple(dict.fromkeys(step.reads + step.writes)) for step in steps]
        self.users: list[list[int]] = [[] for _ in sizes]
        for i, tensors in enumerate(self.tensors):
            for t in tensors:
                self.users[t].append(i)
        self.given = {
            t for t, users in enumerate(self.users) if users and t in steps[users[0]].reads
        }
        self.before = _dependences(steps, len(sizes))
        self.live_before = self._live_before()

    def _live_before(self) -> list[int]:
        """Return the bytes that are live before each step, between it and its predecessor."""
        changes = [0] * (len(self.tensors) + 1)
        for t, users in enumerate(self.users):
            if users or t in self.kept:
                first = 0 if t in self.given or not users else users[0] + 1
                last = len(self.tensors) if t in self.kept else users[-1]
                if first <= last:
                    changes[first] += self.sizes[t]
                    if last < len(self.tensors):
                        changes[last + 1] -= self.sizes[t]
        live = 0
        return [live := live + change for change in changes]

    def parts(self) -> list[list[int]]:
        """Cut the steps after each step that all others precede or follow; return the parts."""
        count = len(self.before)
        next_user = [count] * count
        for i, before in enumerate(self.before):
            for j in before:
                next_user[j] = min(next_user[j], i)
        # All later steps depend on a step if each depends directly on it or on a step after it.
        least = [count] * (count + 1)
        for i in reversed(range(count)):
            least[i] = min(least[i + 1], max(self.before[i], default=-1))
        parts: list[list[int]] = [[]]
        used_by = -1
        for i in range(count):
            parts[-1].append(i)
            if used_by <= i <= least[i + 1]:
                parts.append([])
            used_by = max(used_by, next_user[i])
        return [part for part in parts if part]

    def part(self, steps: Sequence[int]) -> _Part:
        return _Part(self, sorted(steps))


def _dependences(steps: Sequence[QueueStep], tensors: int) -> list[list[int]]:
    """Return for each step its direct dependences, which are earlier steps."""
    writer: list[int | None] = [None] * tensors
    readers: list[list[int]] = [[] for _ in range(tensors)]
    result: list[list[int]] = []
    for i, step in enumerate(steps):
        needed: set[int] = set()
        for t in (*step.reads, *step.writes):
            last = writer[t]
            if last is not None:
                needed.add(last)
        for t in step.writes:
            needed.update(readers[t])
        for t in step.reads:
            readers[t].append(i)
        for t in step.writes:
            writer[t], readers[t] = i, []
        needed.discard(i)
        result.append(sorted(needed))
    return result


class _Part:
    """Successive steps that stay together. A set of them is an integer with one bit per step."""

    def __init__(self, graph: _DependenceGraph, steps: list[int]) -> None:
        self.steps = steps
        first, end = steps[0], steps[-1] + 1
        self.live = graph.live_before[first]
        self.sizes = graph.sizes
        self.tensors = [graph.tensors[i] for i in steps]
        self.before = [[j - first for j in graph.before[i] if j >= first] for i in steps]
        self.after: list[list[int]] = [[] for _ in steps]
        for i, before in enumerate(self.before):
            for j in before:
                self.after[j].append(i)
        used = dict.fromkeys(t for tensors in self.tensors for t in tensors)
        self.users = {t: [i - first for i in graph.users[t] if first <= i < end] for t in used}
        self.early = {t for t in used if t in graph.given or graph.users[t][0] < first}
        self.late = {t for t in used if t in graph.kept or graph.users[t][-1] >= end}

    def peak(self, steps: Sequence[int]) -> int:
        """Return the peak of live bytes over the steps."""
        first = self.steps[0]
        return self._peak([step - first for step in steps])

    def _peak(self, steps: Sequence[int]) -> int:
        left = {t: len(users) for t, users in self.users.items()}
        live, peak = self.live, 0
        for i in steps:
            live += self._born(i, left)
            peak = max(peak, live)
            for t in self.tensors[i]:
                left[t] -= 1
                if not left[t] and t not in self.late:
                    live -= self.sizes[t]
        return peak

    def _born(self, step: int, left: dict[int, int]) -> int:
        """Return the bytes of tensors that are first used by `step`."""
        return sum(
            self.sizes[t]
            for t in self.tensors[step]
            if t not in self.early and left[t] == len(self.users[t])
        )

    def better(self, peak: int, sets: int) -> tuple[list[int] | None, int]:
        """Return an order with a peak below `peak`, or None, and the number of visited sets."""
        visited = 0
        best = min((self._greedy(latest) for latest in (False, True)), key=self._peak)
        if len(self.steps) <= EXACT_STEPS:
            exact, visited = self._exact(min(peak, self._peak(best)), sets // 4)
            best = exact or best
        if self._peak(best) >= peak:
            return None, visited
        return [self.steps[i] for i in best], visited

    def _greedy(self, latest: bool) -> list[int]:
        """Return an order that repeatedly takes the ready step with the lowest price.

        The price is the change in live bytes, or, with `latest`, prefers the step that became ready
        last. Ties go to the first step in the given order.
        """
        left = {t: len(users) for t, users in self.users.items()}
        waits = [len(before) for before in self.before]
        done: list[int] = []
        cost = [0] * len(self.steps)

        def price(i: int) -> int:
            if latest:
                return -len(done)
            dies = (t for t in self.tensors[i] if left[t] == 1 and t not in self.late)
            return self._born(i, left) - sum(self.sizes[t] for t in dies)

        ready: list[tuple[int, int]] = []

        def push(i: int) -> None:
            cost[i] = price(i)
            heappush(ready, (cost[i], i))

        finished = [False] * len(self.steps)
        for i in range(len(self.steps)):
            if not waits[i]:
                push(i)
        while ready:
            paid, i = heappop(ready)
            if finished[i] or paid != cost[i]:
                continue
            finished[i] = True
            done.append(i)
            changed: set[int] = set()
            for t in self.tensors[i]:
                left[t] -= 1
                if not latest and (left[t] == 1 or left[t] == len(self.users[t]) - 1):
                    changed.update(j for j in self.users[t] if not finished[j] and not waits[j])
            for j in self.after[i]:
                waits[j] -= 1
                if not waits[j]:
                    changed.add(j)
            for j in sorted(changed):
                push(j)
        return done

    def _exact(self, below: int, sets: int) -> tuple[list[int] | None, int]:
        """Return an order with the lowest peak if that is `below`, and the number of visited sets.

        The search expands sets in the order of their peak (Dijkstra), so the first path to the full
        set is optimal. The order is also None if the search would visit more than `sets` sets.
        """
        count = len(self.steps)
        needs = [sum(1 << j for j in before) for before in self.before]
        users = {t: sum(1 << i for i in users) for t, users in self.users.items()}
        came: dict[int, tuple[int, int]] = {}
        # peak, steps to go, set, bytes live after it, the set before, the last step
        heap = [(0, count, 0, self.live, 0, -1)]
        while heap and len(came) < sets:
            peak, to_go, done, live, source, last = heappop(heap)
            if done in came:
                continue
            came[done] = source, last
            if not to_go:
                return _way(came, done), len(came)
            for i in range(count):
                bit = 1 << i
                now = done | bit
                if done & bit or needs[i] & ~done or now in came:
                    continue
                during = after = live
                for t in self.tensors[i]:
                    if t not in self.early and not users[t] & done:
                        during += self.sizes[t]
                        after += self.sizes[t]
                    if t not in self.late and not users[t] & ~now:
                        after -= self.sizes[t]
                if during < below:
                    heappush(heap, (max(peak, during), to_go - 1, now, after, done, i))
        return None, len(came)


def _way(came: dict[int, tuple[int, int]], done: int) -> list[int]:
    """Return the steps on the path to the set `done`."""
    steps: list[int] = []
    while done:
        done, last = came[done]
        steps.append(last)
    return steps[::-1]
