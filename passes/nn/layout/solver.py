"""Minimisation of a sum of pairwise costs by bucket elimination, exact if the graph is narrow.

Each variable has a few candidates, each with a cost; factors add a cost for each pair of candidates
of two variables. Eliminating a variable replaces its factors by one over its neighbours, the least
cost for each of their choices (Dechter, "Bucket elimination: a unifying framework for reasoning",
1999). In min-fill order the tables stay small on trees, chains, residual networks and U-Nets. If a
table would grow too large, the solver drops dead ends. If that is not enough, it starts from the
choice of message passing, fixes the variables with most neighbours, solves the rest exactly, and
repeats this with others fixed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from math import prod
from typing import TypeAlias

import numpy as np

from .dead_ends import without_dead_ends
from .messages import pass_messages

Table: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.float64]]"

LARGEST_TABLE = 1 << 16
"""Most entries of a table made by elimination; a variable that needs more is fixed."""

# Counting is quadratic in the neighbours, and hubs are eliminated late whatever their fill is.
_SMALL = 8
"""Most neighbours for which the fill of an elimination is counted; beyond, it is bounded."""

# Finite, so that a local search can leave a forbidden choice step by step.
FORBIDDEN = 1e9
"""Microseconds charged for an impossible choice."""

_ROUNDS = 64
"""Most rounds of fixing some variables and solving the others."""


@dataclass(frozen=True)
class Solution:
    """A candidate for each variable, their cost, and whether that cost is proven minimal."""

    choice: tuple[int, ...]
    cost: float
    exact: bool


@dataclass
class Problem:
    """Unary and pairwise costs; `add` numbers the variables, ties go to the first candidates."""

    costs: list[Table] = field(default_factory=list[Table])
    pairs: dict[tuple[int, int], Table] = field(default_factory=dict[tuple[int, int], Table])

    def add(self, costs: Sequence[float]) -> int:
        """Add a variable with the cost of each of its candidates; return its number."""
        self.costs.append(np.asarray(costs, float))
        return len(self.costs) - 1

    def relate(self, first: int, second: int, costs: Table) -> None:
        """Add the cost of each pair of candidates, `costs[candidate of first, of second]`."""
        if first == second:
            self.costs[first] = self.costs[first] + np.diagonal(costs)
            return
        key, table = ((first, second), costs) if first < second else ((second, first), costs.T)
        self.pairs[key] = self.pairs[key] + table if key in self.pairs else table

    def cost_of(self, choice: Sequence[int]) -> float:
        """Return the cost of one candidate for each variable."""
        alone = sum(float(costs[choice[i]]) for i, costs in enumerate(self.costs))
        return alone + sum(float(t[choice[a], choice[b]]) for (a, b), t in self.pairs.items())

    def neighbours(self) -> list[dict[int, Table]]:
        """Return each variable's neighbours with their factors, rows being its own candidates."""
        neighbours: list[dict[int, Table]] = [{} for _ in self.costs]
        for (a, b), table in self.pairs.items():
            neighbours[a][b] = table
            neighbours[b][a] = table.T
        return neighbours

    def local_costs(self, variable: int, choice: Sequence[int], around: dict[int, Table]) -> Table:
        """Return the cost of each candidate of a variable, with all others as in `choice`."""
        return self.costs[variable] + sum(t[:, choice[other]] for other, t in around.items())


def solve(problem: Problem, largest_table: int = LARGEST_TABLE) -> Solution:
    """Return the cheapest choice, or the best found (`exact` is false) if tables grow too large."""
    order, fixed = _plan(problem, largest_table)
    if not fixed:
        choice = _eliminate(problem, order, {})
        return Solution(choice, problem.cost_of(choice), True)
    small, kept = without_dead_ends(problem)
    order, fixed = _plan(small, largest_table)
    best = _improve(small, largest_table) if fixed else _eliminate(small, order, {})
    choice = tuple(candidates[c] for candidates, c in zip(kept, best, strict=True))
    return Solution(choice, problem.cost_of(choice), not fixed)


def _plan(
    problem: Problem, largest_table: int, wanted: Collection[int] = ()
) -> tuple[list[int], list[int]]:
    """Return an elimination order by least fill, and the variables to fix before it.

    Variables that are `wanted` in the order are fixed last.
    """
    graph = [set(around) for around in problem.neighbours()]
    sizes = [len(costs) for costs in problem.costs]
    alive = set(range(len(graph)))
    keys = [_fill(graph, v) for v in range(len(graph))]
    heap = [(key, v) for v, key in enumerate(keys)]
    heapify(heap)
    order: list[int] = []
    fixed: list[int] = []
    while heap:
        key, v = heappop(heap)
        # The heap may hold outdated keys; only the latest key of each variable counts.
        if v not in alive or key != keys[v]:
            continue
        if prod(sizes[u] for u in (v, *graph[v])) > largest_table:
            heappush(heap, (key, v))
            v = max(alive, key=lambda u: (u not in wanted, len(graph[u]), -u))
            fixed.append(v)
        else:
            order.append(v)
            for u in graph[v]:
                graph[u] |= graph[v] - {u}
        alive.remove(v)
        around = graph[v]
        for u in around:
            graph[u].discard(v)
        for u in _affected(graph, around):
            if (fill := _fill(graph, u)) != keys[u]:
                keys[u] = fill
                heappush(heap, (fill, u))
    return order, fixed


def _fill(graph: list[set[int]], v: int) -> tuple[int, int]:
    """Return the number of edges that eliminating `v` adds, and its degree."""
    around = graph[v]
    degree = len(around)
    if degree > _SMALL:
        return degree * (degree - 1) // 2, degree
    present = sum(len(graph[u] & around) for u in around) // 2
    return degree * (degree - 1) // 2 - present, degree


def _affected(graph: list[set[int]], around: Iterable[int]) -> set[int]:
    """Return the variables whose fill may change when edges among `around` do."""
    affected = set(around)
    for u in around:
        if len(graph[u]) <= _SMALL:
            affected |= graph[u]
    return affected


@dataclass
class _Bucket:
    """An eliminated variable, with its best candidate for each choice of its neighbours."""

    variable: int
    others: tuple[int, ...]
    best: np.ndarray[tuple[int, ...], np.dtype[np.intp]]


def _eliminate(problem: Problem, order: Sequence[int], given: Mapping[int, int]) -> tuple[int, ...]:
    """Return the cheapest choice in which the variables in `given` have those candidates."""
    factors: list[list[tuple[tuple[int, ...], Table]]] = [[] for _ in problem.costs]
    alone = list(problem.costs)
    place = {v: i for i, v in enumerate(order)}
    for (a, b), table in problem.pairs.items():
        if a in given and b in given:
            continue
        if a in given:
            alone[b] = alone[b] + table[given[a]]
        elif b in given:
            alone[a] = alone[a] + table[:, given[b]]
        else:
            factors[a if place[a] < place[b] else b].append(((a, b), table))
    buckets: list[_Bucket] = []
    for v in order:
        others = tuple(sorted({u for scope, _ in factors[v] for u in scope} - {v}))
        scope = (*others, v)
        total = alone[v].reshape((1,) * len(others) + (-1,))
        for variables, table in factors[v]:
            total = total + _aligned(table, variables, scope)
        buckets.append(_Bucket(v, others, total.argmin(axis=-1)))
        rest = total.min(axis=-1)
        if len(others) == 1:
            alone[others[0]] = alone[others[0]] + rest
        elif others:
            factors[min(others, key=place.__getitem__)].append((others, rest))
        factors[v] = []
    choice = dict(given)
    for bucket in reversed(buckets):
        choice[bucket.variable] = int(bucket.best[tuple(choice[u] for u in bucket.others)])
    return tuple(choice[v] for v in range(len(problem.costs)))


def _aligned(table: Table, variables: Sequence[int], scope: Sequence[int]) -> Table:
    """Return the table with its axes in the order of `scope`, and extent 1 for other variables."""
    axes = sorted(range(len(variables)), key=lambda i: scope.index(variables[i]))
    shape = [1] * len(scope)
    for i in axes:
        shape[scope.index(variables[i])] = table.shape[i]
    return table.transpose(axes).reshape(shape)


def _improve(problem: Problem, largest_table: int) -> tuple[int, ...]:
    """Return a choice that no round improves which fixes some variables and solves the others.

    The rounds end when each variable was among the others since the last improvement.
    """
    best = tuple(pass_messages(problem))
    cost = problem.cost_of(best)
    waiting = set(range(len(best)))
    for _ in range(_ROUNDS):
        order, fixed = _plan(problem, largest_table, waiting)
        trial = _eliminate(problem, order, {v: best[v] for v in fixed})
        if (other := problem.cost_of(trial)) < cost * (1 - 1e-12):
            best, cost = trial, other
            waiting = set(range(len(best)))
        waiting.difference_update(order)
        if not waiting:
            break
    return best
