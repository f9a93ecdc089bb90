"""Message passing: a good choice for problems whose graphs are too wide for elimination.

Messages share the cost of each pair out between its two variables, until every variable alone
shows which of its candidates belongs to a cheap choice (TRW-S: Kolmogorov, "Convergent
tree-reweighted message passing for energy minimization", 2006). Unlike a search that changes one
variable at a time, this moves a group of kernels to an accelerator together, although each of them
alone costs more there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .solver import Problem, Table

# The second sweep found the optimum of DenseNet-121 with CLML. A sweep takes 10 ms there (Zen 5).
_SWEEPS = 4
"""Sweeps over the variables, backward and forward."""


def pass_messages(problem: Problem) -> list[int]:
    """Return the cheapest choice that any sweep finds."""
    messages = _Messages(problem)
    numbers = range(len(problem.costs))
    found: list[list[int]] = []
    for _ in range(_SWEEPS):
        for v in reversed(numbers):
            messages.send(v, messages.earlier[v])
        choice: list[int] = []
        for v in numbers:
            choice.append(messages.best(v, choice))
            messages.send(v, messages.later[v])
        found.append(choice)
    return min(found, key=problem.cost_of)


class _Messages:
    """For each pair of variables, the share of their cost that each candidate bears."""

    def __init__(self, problem: Problem):
        self.costs = problem.costs
        self.around = problem.neighbours()
        self.earlier = [[u for u in around if u < v] for v, around in enumerate(self.around)]
        self.later = [[u for u in around if u > v] for v, around in enumerate(self.around)]
        self.to: list[dict[int, Table]] = [
            dict.fromkeys(around, np.zeros(len(costs)))
            for costs, around in zip(self.costs, self.around, strict=True)
        ]
        """The messages to each variable, by sender."""

    def send(self, v: int, receivers: Sequence[int]) -> None:
        """Send each receiver the least cost of `v` and of the pair for each of its candidates."""
        largest = max(len(self.earlier[v]), len(self.later[v]), 1)
        share = sum(self.to[v].values(), self.costs[v]) / largest
        for u in receivers:
            message = ((share - self.to[v][u])[:, None] + self.around[v][u]).min(axis=0)
            self.to[u][v] = message - message.min()

    def best(self, v: int, choice: Sequence[int]) -> int:
        """Return the best candidate of `v`, given the choice of all earlier variables."""
        costs = self.costs[v]
        for u in self.earlier[v]:
            costs = costs + self.around[v][u][:, choice[u]]
        for u in self.later[v]:
            costs = costs + self.to[v][u]
        return int(costs.argmin())
