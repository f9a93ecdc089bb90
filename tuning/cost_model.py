"""What a plan may take, learned from what others took on the device.

Gradient-boosted trees (Friedman, "Greedy function approximation: a gradient boosting machine",
2001) over the numbers of a plan and of its kernel, as in Chen et al., "Learning to optimize tensor
programs" (2018). They rank the plans of one kernel: the target is the logarithm of the time by the
time of the kernel's default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from math import log
from typing import Any, Protocol, TypeAlias

import numpy as np

from ..dialects import tir
from ..errors import CloptError

Features: TypeAlias = Mapping[str, float]
Table: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"

LEAST = 24
"""Measured plans from which on trees say something."""

_GROWTH = 1.25
"""How many times the plans are known from which the trees were grown, before others are."""

_FAULTY = 3.0
"""What a plan with a fault counts as: twenty times the default's time."""


def features_of(plan: tir.Plan, cost: float | None, kernel: Features) -> dict[str, float]:
    """The numbers of a plan by name: logarithms of sizes, places of words, the kernel's own."""
    found = {f"rule {plan.rule}": 1.0, **kernel}
    if cost is not None:
        found["cost"] = log(1 + cost)
    for name, value in plan.parameters.items():
        if isinstance(value, str):
            found[f"{name} {value}"] = 1.0
            continue
        numbers = value if isinstance(value, tuple) else (value,)
        for i, number in enumerate(numbers):
            found[f"{plan.rule} {name} {i}"] = log(1 + max(number, 0))
    return found


class _Trees(Protocol):
    """What scikit-learn, which has no types, gives us."""

    def fit(self, rows: Table, targets: Table) -> object: ...
    def predict(self, rows: Table) -> Table: ...


def _regressor() -> Callable[..., _Trees]:
    try:
        return getattr(import_module("sklearn.ensemble"), "HistGradientBoostingRegressor")
    except ImportError as error:
        raise CloptError(
            "Tuning learns with scikit-learn, which is not installed; pip install 'clopt[tune]'."
        ) from error


def _one_thread() -> AbstractContextManager[object]:
    """While trees grow, other cores may be timing kernels."""
    limits: Callable[..., AbstractContextManager[object]]
    limits = getattr(import_module("threadpoolctl"), "threadpool_limits")
    return limits(1)


class CostModel:
    """Learns from one plan after another, and says which of others it would try first."""

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed
        self._columns: dict[str, int] = {}
        self._rows: list[dict[str, float]] = []
        self._targets: list[float] = []
        self._trees: _Trees | None = None
        self._learned = 0

    def add(self, features: dict[str, float], ratio: float | None) -> None:
        """A plan that took `ratio` of its default's time; None for one with a fault."""
        self._rows.append(features)
        self._targets.append(_FAULTY if ratio is None else min(log(ratio), _FAULTY))

    def predict(self, plans: Sequence[dict[str, float]]) -> Table | None:
        """The logarithm of each plan's time by its default's; None before enough is known."""
        if len(self._rows) < LEAST:
            return None
        if self._trees is None or len(self._rows) > _GROWTH * self._learned:
            self._trees = self._fitted()
        with _one_thread():
            return self._trees.predict(self._table(plans))

    def _fitted(self) -> _Trees:
        self._learned = len(self._rows)
        names = dict.fromkeys(name for row in self._rows for name in row)
        self._columns = {name: i for i, name in enumerate(names)}
        trees = _regressor()(max_iter=60, min_samples_leaf=5, random_state=self._seed)
        with _one_thread():
            trees.fit(self._table(self._rows), np.array(self._targets))
        return trees

    def _table(self, rows: Iterable[Mapping[str, float]]) -> Table:
        rows = list(rows)
        table = np.zeros((len(rows), len(self._columns)))
        for i, row in enumerate(rows):
            for name, value in row.items():
                if name in self._columns:
                    table[i, self._columns[name]] = value
        return table
