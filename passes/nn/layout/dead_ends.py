"""Dead-end elimination: drops candidates that an optimal choice does not need, before the search.

A candidate is a dead end if another candidate of its variable costs no more for any choice of the
neighbours (Goldstein, "Efficient rotamer elimination applied to protein side-chains and related
spin glasses", 1994). The tables of bucket elimination have one axis for each neighbour, so each
dropped candidate shrinks all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .solver import Problem, Table


def without_dead_ends(problem: Problem) -> tuple[Problem, list[list[int]]]:
    """Return the problem without dead ends, and the candidates of each variable that are left."""
    costs, around = list(problem.costs), problem.neighbours()
    kept = [list(range(len(each))) for each in costs]
    waiting = dict.fromkeys(range(len(kept)))
    while waiting:
        v = next(iter(waiting))
        del waiting[v]
        left = _undominated(costs[v], list(around[v].values()))
        if len(left) < len(kept[v]):
            kept[v] = [kept[v][i] for i in left]
            costs[v] = costs[v][left]
            for u in around[v]:
                around[v][u] = around[v][u][left]
                around[u][v] = around[u][v][:, left]
            waiting |= dict.fromkeys(around[v])
    pairs = {(a, b): around[a][b] for a, b in problem.pairs}
    return replace(problem, costs=costs, pairs=pairs), kept


def _undominated(costs: Table, tables: Sequence[Table]) -> list[int]:
    """Return the candidates that no other one dominates; of equal candidates the first.

    `excess[a, b]` is the least difference, over all choices of the neighbours, by which a costs
    more than b.
    """
    if len(costs) == 1:
        return [0]
    excess = costs[:, None] - costs[None, :]
    for table in tables:
        excess = excess + (table[:, None, :] - table[None, :, :]).min(axis=2)
    left = list(range(len(costs)))
    for a in range(len(costs) - 1, -1, -1):
        if any(excess[a, b] > 0 or (excess[a, b] == 0 and b < a) for b in left if b != a):
            left.remove(a)
    return left
