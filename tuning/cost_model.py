"""A model of a plan's time, learned from the times of other plans on the device.

Gradient-boosted trees (Friedman, "Greedy function approximation: a gradient boosting machine",
2001) over features of a plan and of its kernel, as in Chen et al., "Learning to optimize tensor
programs" (2018). They rank the plans of one kernel: the target is the logarithm of the time divided
by the time of the kernel's default.
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
"""Measured plans that are needed before trees are grown."""

_GROWTH = 1.25
"""Growth of the number of measured plans after which the trees are grown anew."""

_FAULTY = 3.0
"""Target of a plan with a fault: twenty times the default's time."""


def features_of(plan: tir.Plan, estimate: float | None, kernel: Features) -> dict[str, float]:
    """Return the features of a plan by name: logarithms of sizes, words, and the kernel's features.

    `estimate` is the plan's estimated time in microseconds, or None.
    """
    found = {f"rule {plan.rule}": 1.0, **kernel}
    if estimate is not None:
        found["estimate"] = log(estimate)
    for name, value in plan.parameters.items():
        if isinstance(value, str):
            found[f"{name} {value}"] = 1.0
            continue
        numbers = value if isinstance(value, tuple) else (value,)
        for i, number in enumerate(numbers):
            found[f"{plan.rule} {name} {i}"] = log(1 + max(number, 0))
    return found


class _Trees(Protocol):
    """The methods of scikit-learn's trees, which has no type annotations."""

    def fit(self, rows: Table, targets: Table) -> object: ...
    def predict(self, rows: Table) -> Table: ...


def _regressor() -> Callable[..., _Trees]:
    try:
        return getattr(import_module("sklearn.ensemble"), "HistGradientBoostingRegressor")
    except ImportError as error:
        raise CloptError(
            "Tuning needs scikit-learn; install it with pip install 'clopt[tune]'."
        ) from error


def _one_thread() -> AbstractContextManager[object]:
    """Keep numpy and the trees on one thread, since other cores may be timing kernels."""
    limits: Callable[..., AbstractContextManager[object]]
    limits = getattr(import_module("threadpoolctl"), "threadpool_limits")
    return limits(1)


class CostModel:
    """Learns from measured plans one by one, and predicts the times of others."""

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed
        self._columns: dict[str, int] = {}
        self._rows: list[dict[str, float]] = []
        self._targets: list[float] = []
        self._trees: _Trees | None = None
        self._learned = 0

    def add(self, features: dict[str, float], ratio: float | None) -> None:
        """Add a plan that took `ratio` times its default's time; None is a fault."""
        self._rows.append(features)
        self._targets.append(_FAULTY if ratio is None else min(log(ratio), _FAULTY))

    def predict(self, plans: Sequence[dict[str, float]]) -> Table | None:
        """Return the log of each plan's time over its default's, or None with too few plans."""
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
