"""Sharing of whole buffers in turns, for devices without sub-buffers."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence

from .tensors import ArenaPlan, LiveTensor, lower_bound


def share(tensors: Sequence[LiveTensor]) -> ArenaPlan:
    """Place each tensor in the smallest arena that is large enough and free during its lifetime.

    The algorithm is "shared objects, greedy by size" (Pisarchyk and Lee 2020, arXiv:2001.03288):
    the largest tensor comes first, so that no arena has to grow.
    """
    arenas = [0] * len(tensors)
    sizes: list[int] = []
    taken: list[list[tuple[int, int]]] = []  # of each arena, in order: (first, last)
    largest_first = sorted(range(len(tensors)), key=lambda i: (-tensors[i].size, tensors[i].first))
    for i in largest_first:
        tensor = tensors[i]
        # Arenas are in decreasing order of size, so the last free one fits most tightly.
        arena = next((a for a in reversed(range(len(sizes))) if _is_free(taken[a], tensor)), None)
        if arena is None:
            arena = len(sizes)
            sizes.append(tensor.size)
            taken.append([])
        taken[arena].insert(
            bisect(taken[arena], (tensor.first, tensor.last)), (tensor.first, tensor.last)
        )
        arenas[i] = arena
    offsets = (0,) * len(tensors)
    return ArenaPlan(offsets, tuple(arenas), tuple(sizes), lower_bound(tensors), "shared by size")


def _is_free(turns: Sequence[tuple[int, int]], tensor: LiveTensor) -> bool:
    """Return whether no tensor of an arena is live together with `tensor`."""
    after = bisect(turns, (tensor.first, tensor.last))
    before_ends = after == 0 or turns[after - 1][1] < tensor.first
    return before_ends and (after == len(turns) or tensor.last < turns[after][0])
