"""The layouts that cost least by what a device said, from tuning databases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from xdsl.ir import SSAValue

from ....dialects import cl
from ....dialects.nn import LayoutAttr
from ...tir.tuning_database import DeviceDriver, TuningDatabase
from ...tir.tuning_record import Record
from ..network_records import NetworkRecords, digest
from .carry_out import kernels_of_layouts
from .kernels import works_of_group
from .measured import MeasuredTimes, Variant, main_operand
from .problem import LayoutProblem, median_ratio
from .solver import Solution

_Ends: TypeAlias = tuple[LayoutAttr | None, LayoutAttr | None]


@dataclass(frozen=True)
class LayoutChoice:
    """Layouts of a network."""

    problem: LayoutProblem
    solution: Solution
    remarks: Sequence[str] = ()


@dataclass(frozen=True)
class TunedLayouts:
    """Databases, and the device whose records come first."""

    database: TuningDatabase
    device: DeviceDriver
    target: cl.Target

    def choose(self, problem: LayoutProblem) -> LayoutChoice:
        """The cheapest layouts by measured times, where a device has compared some, else the model.

        Layouts other than the model's must be faster by more than the noise of both. Where the
        model's and the tuned layouts of the whole network were compared, the faster ones stay.
        """
        default = LayoutChoice(problem, problem.solve())
        known = self._records(problem)
        if known is None:
            return default
        times = _times(default, known.newest)
        if not times:
            return default
        tuned = LayoutProblem(
            problem.function,
            problem.groups,
            problem.target,
            problem.budget,
            times,
            _ratio(problem, known.newest),
        )
        solution = tuned.solve()
        network = network_key(problem)
        usual, other = choice_key(problem, default.solution), choice_key(tuned, solution)
        if usual == other or known.is_refuted(network, usual, other):
            return default
        return LayoutChoice(tuned, solution, known.remarks("layouts", self.device))

    def _records(self, problem: LayoutProblem) -> NetworkRecords | None:
        """The records of the network's kernels from the nearest device that has any."""
        if problem.target.name not in self.database.targets_of_layouts:
            return None  # so that nobody needs the keys
        keys = {work.digest for work in problem.works.values()} | {network_key(problem)}
        return NetworkRecords.nearest(self.database, keys, self.target, self.device)


def kernels_in_layouts(problem: LayoutProblem) -> Iterator[list[tuple[Variant, float]]]:
    """For each kernel whose layouts are a choice all of them, with the model's cost."""
    for work in problem.works.values():
        if not work.is_view and main_operand(work, problem.variables) is not None:
            found = list(problem.variants(work))
            if len(found) > 1:
                yield found


def chosen_variants(problem: LayoutProblem, solution: Solution) -> set[tuple[str, str]]:
    """The keys of the kernels in the layouts of a solution."""
    chosen = _chosen(problem, solution)
    return {
        variant.key
        for found in kernels_in_layouts(problem)
        for variant, _ in found
        if _ends(problem, variant) == chosen[variant.work.result]
    }


def network_key(problem: LayoutProblem) -> str:
    """A number for all kernels of a network, in which no names count."""
    return digest(work.digest for work in problem.works.values())


def choice_key(problem: LayoutProblem, solution: Solution) -> str:
    """A number for the layouts of a network."""
    return digest(map(str, _chosen(problem, solution).values()))


def _chosen(problem: LayoutProblem, solution: Solution) -> dict[SSAValue, _Ends]:
    """The layouts of each kernel's main operand and of its result, by the latter."""
    found: dict[SSAValue, _Ends] = {}
    for each in kernels_of_layouts(problem, solution):
        for work, kernel in zip(works_of_group(each.group), each.kernels, strict=True):
            main = main_operand(work, problem.variables)
            read = None if main is None else kernel.operands[work.number_of(main)]
            found[work.result] = read, kernel.result.layout
    return found


def _ends(problem: LayoutProblem, variant: Variant) -> _Ends:
    main = main_operand(variant.work, problem.variables)
    assert main is not None
    return variant.operands[variant.work.number_of(main)], variant.result


def _times(default: LayoutChoice, newest: Mapping[tuple[str, str], Record]) -> MeasuredTimes:
    """Times of kernels in layouts: at the least those of the default, at the most all others."""
    usual = chosen_variants(default.problem, default.solution)
    return {
        key: record.least if key in usual else record.most
        for found in kernels_in_layouts(default.problem)
        for variant, _ in found
        if (record := newest.get(key := variant.key)) is not None
    }


def _ratio(problem: LayoutProblem, newest: Mapping[tuple[str, str], Record]) -> float:
    """By how much kernels took longer than the model says."""
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
