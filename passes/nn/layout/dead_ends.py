"""Dead-end elimination: drops candidates that an optimal choice does not need, before the search.

A candidate is a dead end if another candidate of its variable costs no more for any choice of the
neighbours (Goldstein, "Efficient rotamer elimination applied to protein side-chains and related
spin glasses", 1994). The tables of bucket elimination have one axis for each neighbour, so each
dropped candidate shrinks all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .solver import Problem, Table


def surviving(problem: Problem) -> list[list[int]]:
    """Return the candidates of each variable that survive, from a work list run to a fixpoint."""
    around = problem.neighbours()
    kept = [list(range(len(costs))) for costs in problem.costs]
    waiting = dict.fromkeys(range(len(kept)))
    while waiting:
        v = next(iter(waiting))
        del waiting[v]
        tables = [table[np.ix_(kept[v], kept[u])] for u, table in around[v].items()]
        left = _undominated(problem.costs[v][kept[v]], tables)
        if len(left) < len(kept[v]):
            kept[v] = [kept[v][i] for i in left]
            waiting |= dict.fromkeys(around[v])
    return kept


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
