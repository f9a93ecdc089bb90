"""The estimated times of finished programs, and what alternatives change in them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ..decisions.alternatives import Alternative
from ..dialects import cl, tir
from ..dialects.node_names import operation_number
from .estimate import estimate, work_of


@dataclass(frozen=True)
class ProgramTimes:
    """The estimated times of a module's launches, as plain data that outlasts the module."""

    microseconds: Mapping[int | None, float]
    """The time of the launches that stem from each operation, by number."""
    touched: Mapping[int | None, frozenset[int | None]]
    """The operations whose results these launches read or write."""

    @property
    def total(self) -> float:
        """Return the time of all launches."""
        return sum(self.microseconds.values())

    def changes(
        self, after: ProgramTimes, taken: Iterable[Alternative]
    ) -> dict[Alternative, float]:
        """Return the extra time of each alternative that was taken to get another program.

        If several alternatives touch a launch, each gets an equal share of the change.
        """
        concerned: defaultdict[int, list[Alternative]] = defaultdict(list)
        for each in taken:
            for number in each.operations:
                concerned[number].append(each)
        found = dict.fromkeys((x for several in concerned.values() for x in several), 0.0)
        for number in dict.fromkeys((*self.microseconds, *after.microseconds)):
            near = self.touched.get(number, frozenset()) | after.touched.get(number, frozenset())
            causes = {x for n in near if n is not None for x in concerned.get(n, ())}
            change = after.microseconds.get(number, 0.0) - self.microseconds.get(number, 0.0)
            for each in causes:
                found[each] += change / len(causes)
        return found


def times_of(module: ModuleOp) -> ProgramTimes:
    """Return the times of a module whose kernels are scheduled and whose programs are planned."""
    target = cl.target_of(module)
    kernels = {
        op.sym_name.data: estimate([work_of(op)], target).microseconds
        for op in module.ops
        if isinstance(op, tir.FuncOp)
    }
    times: defaultdict[int | None, float] = defaultdict(float)
    touched: defaultdict[int | None, set[int | None]] = defaultdict(set)
    for program in module.ops:
        if isinstance(program, cl.ProgramOp):
            commands, lives = cl.commands(program), cl.lifetimes(program)
            for command in commands:
                number = operation_number(command)
                if isinstance(command, cl.EnqueueKernelOp):
                    times[number] += kernels[command.kernel_name] * cl.trips_of(command)
                writers = (lives[value].first for value in command.operands if value in lives)
                touched[number] |= {number, *(operation_number(commands[i]) for i in writers)}
    return ProgramTimes(times, {number: frozenset(near) for number, near in touched.items()})
