"""Choice of layouts by measured times from tuning databases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from xdsl.ir import SSAValue

from ....decisions.database import DeviceDriver, TuningDatabase
from ....decisions.record import Record
from ....dialects import cl
from ....dialects.nn import LayoutAttr
from ..network_records import NetworkRecords, digest
from .carry_out import kernels_of_layouts
from .kernels import works_of_group
from .measured import MeasuredTimes, Variant, main_operand
from .problem import LayoutProblem, median_ratio
from .solver import Solution

_Ends: TypeAlias = tuple[LayoutAttr | None, LayoutAttr | None]


@dataclass(frozen=True)
class LayoutChoice:
    """The chosen layouts of a network."""

    problem: LayoutProblem
    solution: Solution
    remarks: Sequence[str] = ()


@dataclass(frozen=True)
class TunedLayouts:
    """Tuning databases, and the device whose records take precedence."""

    database: TuningDatabase
    device: DeviceDriver
    target: cl.Target

    def choose(self, problem: LayoutProblem) -> LayoutChoice:
        """Return the cheapest layouts by measured times, or by the model without measurements.

        Layouts other than the model's must be faster by more than the noise of both. If the whole
        network was measured with both choices, the faster one is used.
        """
        default = LayoutChoice(problem, problem.solve())
        records = self._records(problem)
        if records is None:
            return default
        times = _times(default, records.newest)
        if not times:
            return default
        tuned = LayoutProblem(
            problem.function,
            problem.groups,
            problem.target,
            problem.budget,
            times,
            _ratio(problem, records.newest),
        )
        solution = tuned.solve()
        network = network_key(problem)
        usual, other = choice_key(problem, default.solution), choice_key(tuned, solution)
        if usual == other or records.is_refuted(network, usual, other):
            return default
        return LayoutChoice(tuned, solution, records.remarks("layouts", self.device))

    def _records(self, problem: LayoutProblem) -> NetworkRecords | None:
        """Return the records of the network's kernels from the nearest device that has any."""
        if not self.database.has("layouts", problem.target.name):
            return None  # before computing the keys, which takes time
        keys = {work.digest for work in problem.works.values()} | {network_key(problem)}
        return NetworkRecords.nearest(self.database, "layouts", keys, self.target, self.device)


def kernels_in_layouts(problem: LayoutProblem) -> Iterator[list[tuple[Variant, float]]]:
    """Yield all variants, with the model's costs, of each kernel with a choice of layouts."""
    for work in problem.works.values():
        if not work.is_view and main_operand(work, problem.variables) is not None:
            variants = list(problem.variants(work))
            if len(variants) > 1:
                yield variants


def chosen_variants(problem: LayoutProblem, solution: Solution) -> set[tuple[str, str]]:
    """Return the keys of the kernels in the layouts of a solution."""
    chosen = _chosen(problem, solution)
    return {
        variant.key
        for found in kernels_in_layouts(problem)
        for variant, _ in found
        if _ends(problem, variant) == chosen[variant.work.result]
    }


def network_key(problem: LayoutProblem) -> str:
    """Return a digest of all kernels of a network, independent of names."""
    return digest(work.digest for work in problem.works.values())


def choice_key(problem: LayoutProblem, solution: Solution) -> str:
    """Return a digest of the layouts of a network."""
    return digest(map(str, _chosen(problem, solution).values()))


def _chosen(problem: LayoutProblem, solution: Solution) -> dict[SSAValue, _Ends]:
    """Return the layouts of each kernel's main operand and result, by result."""
    chosen: dict[SSAValue, _Ends] = {}
    for group in kernels_of_layouts(problem, solution):
        for work, kernel in zip(works_of_group(group.group), group.kernels, strict=True):
            main = main_operand(work, problem.variables)
            read = None if main is None else kernel.operands[work.number_of(main)]
            chosen[work.result] = read, kernel.result.layout
    return chosen


def _ends(problem: LayoutProblem, variant: Variant) -> _Ends:
    main = main_operand(variant.work, problem.variables)
    assert main is not None
    return variant.operands[variant.work.number_of(main)], variant.result


def _times(default: LayoutChoice, newest: Mapping[tuple[str, str], Record]) -> MeasuredTimes:
    """Return the measured times of kernels: the least of the default, the most of all others.

    The interval is the noise of a measurement, so that an alternative must win by more than that.
    """
    usual = chosen_variants(default.problem, default.solution)
    return {
        key: record.least if key in usual else record.most
        for found in kernels_in_layouts(default.problem)
        for variant, _ in found
        if (record := newest.get(key := variant.key)) is not None
    }


def _ratio(problem: LayoutProblem, newest: Mapping[tuple[str, str], Record]) -> float:
    """Return the median of measured over estimated times, or 1 without measurements."""
    pairs = [
        (record.microseconds, cost)
        for found in kernels_in_layouts(problem)
        for variant, cost in found
        if (record := newest.get(variant.key)) is not None and record.microseconds is not None
    ]
    if not pairs:
        return 1.0
    times, model = np.array(pairs).T
    return median_ratio(times, model)
