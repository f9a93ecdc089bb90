"""An offset for every tensor in one arena, or in as few as there must be."""

from __future__ import annotations

from collections.abc import Sequence

from .greedy import ORDERS, Packing, Placer
from .tensors import Plan, Tensor, aligned_bound, lower_bound

EFFORT = 20_000
"""Nodes that the search may visit; a bound in time would give other plans on other machines."""


PLACED_IN_ALL = 20_000
"""Tensors that the greedy orders may place together, once the best three are through."""

WAYS = [(order, True) for order in ORDERS] + [(order, False) for order in ORDERS]


def plan(tensors: Sequence[Tensor], capacity: int | None = None, effort: int = EFFORT) -> Plan:
    """The best of several greedy orders, then of a search that visits `effort` nodes.

    Stops as soon as a plan needs no more than what is live at once. `capacity`: bytes that one
    arena may have; what does not fit goes to further arenas. ValueError for a tensor that is
    larger. The same tensors always give the same plan.
    """
    if capacity is not None:
        for i, tensor in enumerate(tensors):
            if tensor.size > capacity:
                raise ValueError(
                    f"tensor {i} takes {tensor.size} bytes, an arena may have {capacity}"
                )
    least = lower_bound(tensors)
    if not tensors:
        return Plan((), (), (), least, "empty")
    goal = aligned_bound(tensors)
    placer = Placer(tensors)
    best: Packing | None = None
    method = ""
    for name, tightest in WAYS[: max(3, PLACED_IN_ALL // len(tensors))]:
        packing = placer.place(ORDERS[name](tensors), capacity, tightest)
        if best is None or _cost(packing) < _cost(best):
            best, method = packing, f"by {name}, {'tightest' if tightest else 'lowest'} gap"
        if len(best.sizes) == 1 and best.sizes[0] <= goal:
            break
    assert best is not None
    return Plan(tuple(best.offsets), tuple(best.arenas), tuple(best.sizes), least, method)


def _cost(packing: Packing) -> tuple[int, int]:
    """Fewer arenas, then fewer bytes."""
    return len(packing.sizes), sum(packing.sizes)
