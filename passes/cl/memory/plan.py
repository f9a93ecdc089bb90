"""Planning of offsets for all tensors in one arena, or in as few arenas as possible."""

from __future__ import annotations

from collections.abc import Sequence

from .greedy import ORDERS, Packing, Placer
from .search import least_stack, stack
from .tensors import ArenaPlan, LiveTensor, aligned_bound, lower_bound

EFFORT = 200_000
"""States that the search may visit to shrink a plan: about a second.

The limit is not in seconds because plans must not depend on the speed of the machine.
"""

FITTING = 5
"""Factor on the effort if greedy orders need a second arena.

A second arena costs more than some seconds of compilation. All instances of MiniMalloc fit after
0.5 million states.
"""

HALVINGS = 5
"""Steps of the bisection between the best capacity so far and one that proved too small."""

PLACED_IN_ALL = 20_000
"""Tensors that all greedy orders may place in total; the first two orders always run."""

WAYS = [(order, True) for order in ORDERS] + [(order, False) for order in ORDERS]


def plan(
    tensors: Sequence[LiveTensor], capacity: int | None = None, effort: int = EFFORT
) -> ArenaPlan:
    """Return the best plan of several greedy orders and a search of about `effort` states.

    The search stops when a plan needs no more bytes than are live at once. `capacity` is the
    maximum size of an arena in bytes. If no greedy order fits all tensors into one arena, a search
    of `FITTING` times the effort tries to; otherwise the rest goes to further arenas. Raises
    ValueError if a tensor exceeds `capacity`. The result is deterministic.
    """
    if capacity is not None:
        for i, tensor in enumerate(tensors):
            if tensor.size > capacity:
                raise ValueError(
                    f"tensor {i} takes {tensor.size} bytes, an arena may have {capacity}"
                )
    least = lower_bound(tensors)
    if not tensors:
        return ArenaPlan((), (), (), least, "empty")
    goal = aligned_bound(tensors)
    packing, method = _greedy(tensors, capacity, goal)
    best = _Best(tensors, packing, method)
    if len(packing.sizes) > 1 and capacity is not None and goal <= capacity:
        best.search(capacity, effort * FITTING)
    if len(best.packing.sizes) == 1 and best.bytes > goal:
        best.improve(effort)
    packing = best.packing
    return ArenaPlan(
        tuple(packing.offsets), tuple(packing.arenas), tuple(packing.sizes), least, best.method
    )


def _greedy(tensors: Sequence[LiveTensor], capacity: int | None, goal: int) -> tuple[Packing, str]:
    """Return the best greedy packing and its method; stop at `goal` bytes in one arena."""
    placer = Placer(tensors)
    best: Packing | None = None
    method = ""
    for name, tightest in WAYS[: max(2, PLACED_IN_ALL // len(tensors))]:
        packing = placer.place(ORDERS[name](tensors), capacity, tightest)
        if best is None or _cost(packing) < _cost(best):
            best, method = packing, f"by {name}, {'tightest' if tightest else 'lowest'} gap"
        if len(best.sizes) == 1 and best.sizes[0] <= goal:
            break
    assert best is not None
    return best, method


def _cost(packing: Packing) -> tuple[int, int]:
    """Return a sort key: the number of arenas, then their total bytes."""
    return len(packing.sizes), sum(packing.sizes)


class _Best:
    """The best packing so far, and the method that found it."""

    def __init__(self, tensors: Sequence[LiveTensor], packing: Packing, method: str) -> None:
        self.tensors = tensors
        self.packing = packing
        self.method = method

    @property
    def bytes(self) -> int:
        return sum(self.packing.sizes)

    def search(self, limit: int, effort: int) -> int:
        """Search for a packing in one arena of at most `limit` bytes; return the effort spent."""
        offsets, spent = stack(self.tensors, limit, effort)
        if offsets is not None:
            size = max(o + t.size for o, t in zip(offsets, self.tensors, strict=True))
            if len(self.packing.sizes) > 1 or size < self.bytes:
                self.packing = Packing(offsets, [0] * len(offsets), [size])
                self.method = "search"
        return spent

    def improve(self, effort: int) -> None:
        """Try the lower bound first, then bisect between it and the current size."""
        low, unit = least_stack(self.tensors)
        limit = low
        share = effort // 2
        while self.bytes >= limit + unit and effort > 0:
            effort -= self.search(limit, min(share, effort))
            share = effort // HALVINGS if limit == low else share
            low = limit if self.bytes > limit else low
            limit = low + max((self.bytes - low) // unit // 2, 1) * unit
