"""Cost tables over all candidates, computed once for kernels that a network repeats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from xdsl.ir import SSAValue

from ....dialects import nn
from .candidates import Candidate, candidates
from .cost import LayoutCostModel
from .kernels import Work
from .solver import Table

_Ids = tuple[int, ...]


@dataclass
class CostTables:
    """The cost tables of one target."""

    model: LayoutCostModel
    _candidates: dict[object, list[Candidate]] = field(
        default_factory=dict[object, list[Candidate]]
    )
    _tables: dict[object, Table] = field(default_factory=dict[object, Table])

    def candidates(
        self, type_: nn.Tensor, axes: Sequence[int] | None, *, is_excess: bool
    ) -> list[Candidate]:
        """Return the candidates for values of a type, packed along one of `axes`."""
        key = (type_, None if axes is None else tuple(axes), is_excess)
        if key not in self._candidates:
            target = self.model.target
            self._candidates[key] = candidates(type_, target, axes, is_excess=is_excess)
        return self._candidates[key]

    def write(self, type_: nn.Tensor, results: Sequence[Candidate]) -> Table:
        """Return the cost of writing a result in each of its candidates."""
        key = ("write", type_, _ids(results))
        if key not in self._tables:
            costs = [self.model.write(type_, c.layout) for c in results]
            self._tables[key] = np.array(costs)
        return self._tables[key]

    def transform(
        self, type_: nn.Tensor, sources: Sequence[Candidate], targets: Sequence[Candidate]
    ) -> Table:
        """Return the cost of a copy from each source to each target."""
        key = ("transform", type_, _ids(sources), _ids(targets))
        if key not in self._tables:
            self._tables[key] = np.array(
                [
                    [self.model.transform(type_, a.layout, b.layout) for b in targets]
                    for a in sources
                ]
            )
        return self._tables[key]

    def read(
        self,
        work: Work,
        operand: SSAValue,
        readable: Sequence[Candidate],
        results: Sequence[Candidate],
    ) -> Table:
        """Return the cost of reading an operand: a row per readable layout, a column per result."""
        key = ("read", work.key, work.number_of(operand), _ids(readable), _ids(results))
        if key not in self._tables:
            self._tables[key] = np.array(
                [
                    [self.model.read(work, operand, a.layout, b.layout) for b in results]
                    for a in readable
                ]
            )
        return self._tables[key]


# `candidates` makes each candidate once, so the identity decides equality and is cheap to hash.
def _ids(candidates: Sequence[Candidate]) -> _Ids:
    return tuple(map(id, candidates))
