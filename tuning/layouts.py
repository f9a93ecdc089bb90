"""The kernels of a network in their possible layouts.

Copies into and out of the layouts are excluded, because the layout problem prices them separately
(`passes/nn/layout/problem.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ..decisions.record import Kind
from ..dialects import cl, nn
from ..passes.locations import node_name
from ..passes.nn.layout.alone import network_of
from ..passes.nn.layout.cost import bytes_of
from ..passes.nn.layout.kernels import Work
from ..passes.nn.layout.measured import Variant
from ..passes.nn.layout.problem import LayoutProblem
from ..passes.nn.layout.tuned_layouts import chosen_variants, kernels_in_layouts
from ..weights import Weights
from .choices import as_cold, tasks_alone
from .trial import Task

_NEAR = 2.0
"""Layouts are tried up to this estimated cost, relative to the kernel's cheapest ones."""


@dataclass(frozen=True)
class InLayouts:
    """A kernel of a network in some of its possible layouts: a `TunedChoice`."""

    kind: ClassVar[Kind] = "layouts"
    network: Networks
    variant: Variant
    cost: float
    """Microseconds of a launch, as the cost model estimates them."""
    is_default: bool

    @property
    def key(self) -> tuple[str, str]:
        return self.variant.key

    @property
    def nodes(self) -> str:
        names = (node_name(op) for op in self.variant.work.ops)
        return ", ".join(dict.fromkeys(filter(None, names)))

    def tasks(self) -> list[Task]:
        tasks = tasks_alone(network_of(self.variant, self.network.target), self.network.weights)
        return as_cold(tasks, self.network.traffic - traffic([self.variant.work]))


@dataclass(frozen=True)
class Networks:
    """The networks of a model before their layouts are chosen."""

    problems: Sequence[LayoutProblem]
    """Empty if accelerators take part in the choice of layouts."""
    weights: Weights
    target: cl.Target

    def kernels(self) -> list[list[InLayouts]]:
        """Return the distinct kernels that have several layouts, the most expensive first.

        Each is listed in all promising layouts and in the cost model's choice.
        """
        found: dict[str, list[InLayouts]] = {}
        shares: dict[str, float] = {}
        for problem in self.problems:
            usual = chosen_variants(problem, problem.solve())
            for pairs in kernels_in_layouts(problem):
                least = min(cost for _, cost in pairs)
                near = [
                    InLayouts(self, variant, cost, variant.key in usual)
                    for variant, cost in pairs
                    if cost <= _NEAR * least or variant.key in usual
                ]
                key = pairs[0][0].work.digest
                found.setdefault(key, near)
                shares[key] = shares.get(key, 0.0) + least
        return [found[key] for key in sorted(found, key=lambda key: (-shares[key], key))]

    @property
    def traffic(self) -> int:
        """Bytes that one inference reads and writes."""
        return traffic(work for each in self.problems for work in each.works.values())


def traffic(works: Iterable[Work]) -> int:
    """Return the bytes that kernels read and write if all values are plain."""
    values = (value for work in works for value in (*work.inputs, work.result))
    return sum(bytes_of(nn.tensor_type(value), None) for value in values)
