"""Layouts and offload as one problem: kernels of OpenCL, of an accelerator, or split between both.

A value has states instead of layouts. A state records who computes the value, its layout in OpenCL
memory, and the accelerators whose opaque tensors hold it, too. A value that crosses is copied
between an opaque tensor and a plain buffer, once for all its readers. Transforms from and to that
plain buffer are layout transforms like all others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from xdsl.ir import Operation, SSAValue

from ....dialects import nn
from .candidates import PLAIN, Candidate
from .kernels import Work
from .problem import LayoutProblem, LayoutVariable
from .solver import FORBIDDEN, Problem, Solution, Table, solve

KERNELS = "kernels"
"""The writer of a value that an OpenCL kernel computes."""


@dataclass(frozen=True, eq=False)
class Offer:
    """The part of one kernel that an accelerator can compute."""

    accelerator: str
    """The accelerator's name in the IR."""
    is_whole: bool
    """Whether it is the whole kernel; else an OpenCL kernel computes the last operations."""
    ops: Sequence[Operation]
    result: SSAValue
    microseconds: float
    """The time of its commands, including copies between them."""
    opaque_reads: frozenset[SSAValue]
    """The values that it reads from opaque tensors."""
    plain_reads: frozenset[SSAValue]
    """The values that it reads from plain buffers."""
    writes_opaque: bool

    @property
    def writer(self) -> str:
        """The writer of the kernel's result, such as `toy` or `toy then kernels`."""
        return self.accelerator if self.is_whole else f"{self.accelerator} then {KERNELS}"


@dataclass(frozen=True)
class ValueState:
    """One way to hold a value."""

    offer: Offer | None
    """The accepted offer for its kernel; None if an OpenCL kernel computes it."""
    layout: int | None
    """The number of its layout; None without a buffer."""
    opaque: tuple[str, ...] = ()
    """The accelerators whose opaque tensors hold it."""

    @property
    def writer(self) -> str:
        """The word for who computes the value."""
        return KERNELS if self.offer is None else self.offer.writer

    @property
    def whole(self) -> Offer | None:
        """The accepted offer if it is for the whole kernel."""
        return self.offer if self.offer is not None and self.offer.is_whole else None


@dataclass
class OffloadVariable:
    """A value with its possible layouts and its states."""

    layouts: list[Candidate]
    states: list[ValueState]
    number: int

    def rows(self, table: Table) -> Table:
        """Return the rows of a table over `layouts`, one for each state."""
        none = np.full((1, *table.shape[1:]), FORBIDDEN)
        numbers = [len(table) if s.layout is None else s.layout for s in self.states]
        return np.concatenate([table, none])[numbers]

    def written_by(self, offer: Offer) -> list[bool]:
        """Return, for each state, whether it accepts an offer."""
        return [state.offer is offer for state in self.states]


@dataclass
class OffloadProblem:
    """The choice of a writer and a layout for each value that minimises the sum of costs."""

    layouts: LayoutProblem
    offers: Mapping[SSAValue, Sequence[Offer]]
    """The offers of accelerators for kernels, by the kernels' results."""
    imports: Mapping[tuple[str, SSAValue], float]
    """Microseconds to copy a value from a plain buffer into an accelerator's opaque tensor."""
    exports: Mapping[tuple[str, SSAValue], float]
    """Microseconds to copy a value from an accelerator's opaque tensor into a plain buffer."""

    def __post_init__(self) -> None:
        self._model = self.layouts.tables.model
        self.problem = Problem()
        self.variables: dict[SSAValue, OffloadVariable] = {}
        self._wanted: dict[SSAValue, dict[str, None]] = {}
        """The accelerators that can read a value from an opaque tensor."""
        self._read_plain: set[SSAValue] = set()
        """The values that an accelerator can read from a plain buffer."""
        for offer in (offer for offers in self.offers.values() for offer in offers):
            self._read_plain |= offer.plain_reads
            for value in offer.opaque_reads:
                self._wanted.setdefault(value, {})[offer.accelerator] = None
        for value, variable in self.layouts.variables.items():
            self._add(value, variable)
        for value, variable in self.layouts.variables.items():
            if variable.work is not None:
                self._relate(value, variable.work)

    def solve(
        self,
        writers: Mapping[SSAValue, Collection[str]] | None = None,
        charges: Mapping[tuple[Offer, Offer], float] | None = None,
    ) -> Solution:
        """Return the best choice, with its cost.

        `writers` are the only ones that may compute a value. `charges` are microseconds added if
        both offers of a pair, each for a whole kernel, are accepted; the cost includes them.
        """
        writers = writers or {}
        problem = self._with(writers, charges or {})
        solution = solve(problem)
        if solution.exact:
            return solution
        # An inexact search may miss even the choice of OpenCL kernels for all other values.
        safe = solve(self._with({**self.kernels(), **writers}, {}))
        return solution if solution.cost <= safe.cost else replace(safe, exact=False)

    def kernels(self) -> dict[SSAValue, Collection[str]]:
        """Return the writers of all values if no accelerator computes any."""
        return dict.fromkeys(self.offers, (KERNELS,))

    def writers(self, value: SSAValue) -> list[str]:
        """Return who can compute a value, OpenCL kernels first."""
        return [KERNELS, *(offer.writer for offer in self.offers.get(value, ()))]

    def cost_of(self, solution: Solution) -> float:
        """Return the cost of a choice, without charges."""
        return self.problem.cost_of(solution.choice)

    def state_of(self, solution: Solution, value: SSAValue) -> ValueState:
        """Return the chosen state of a value."""
        variable = self.variables[value]
        return variable.states[solution.choice[variable.number]]

    def offloaded(self, solution: Solution) -> list[Offer]:
        """Return the accepted offers, in program order."""
        offers = (self.state_of(solution, value).offer for value in self.variables)
        return [offer for offer in offers if offer is not None]

    def copies_of(self, solution: Solution) -> float:
        """Return the part of the cost for copies between opaque tensors and plain buffers."""
        return sum(self._copy_cost(v, self.state_of(solution, v)) for v in self.variables)

    def _with(
        self,
        writers: Mapping[SSAValue, Collection[str]],
        charges: Mapping[tuple[Offer, Offer], float],
    ) -> Problem:
        problem = Problem(list(self.problem.costs), dict(self.problem.pairs))
        for value, allowed in writers.items():
            variable = self.variables[value]
            wrong = np.array([state.writer not in allowed for state in variable.states])
            problem.costs[variable.number] = problem.costs[variable.number] + wrong * FORBIDDEN
        for (first, second), microseconds in charges.items():
            a, b = self.variables[first.result], self.variables[second.result]
            both = np.outer(a.written_by(first), b.written_by(second))
            problem.relate(a.number, b.number, np.where(both, microseconds, 0.0))
        return problem

    def _add(self, value: SSAValue, variable: LayoutVariable) -> None:
        layouts = list(variable.candidates)
        if PLAIN not in layouts:
            layouts.append(PLAIN)
        states = list(self._states(value, variable, layouts.index(PLAIN)))
        costs = [self._alone(value, variable, layouts, state) for state in states]
        self.variables[value] = OffloadVariable(layouts, states, self.problem.add(costs))

    def _states(
        self, value: SSAValue, variable: LayoutVariable, plain: int
    ) -> Iterator[ValueState]:
        """Yield the states of a value, OpenCL kernels without an opaque copy first."""
        wanted = self._wanted.get(value, ())
        ours = len(variable.candidates)
        uncopied = ours - (variable.is_plain_offered and value not in self._read_plain)
        copies = [each for n in range(len(wanted) + 1) for each in combinations(wanted, n)]
        for offer in (None, *self.offers.get(value, ())):
            if offer is None or not offer.is_whole:
                for copied in copies:
                    numbers = range(ours if copied else uncopied)
                    yield from (ValueState(offer, i, copied) for i in numbers)
            elif offer.writes_opaque:
                name = offer.accelerator
                yield ValueState(offer, None, (name,))
                others = [copied for copied in copies if name not in copied]
                yield from (ValueState(offer, plain, (name, *copied)) for copied in others)
            else:
                yield from (ValueState(offer, plain, copied) for copied in copies)

    def _alone(
        self,
        value: SSAValue,
        variable: LayoutVariable,
        layouts: Sequence[Candidate],
        state: ValueState,
    ) -> float:
        """Return the cost of a state, excluding the kernel's reads of computed values."""
        work, offer = variable.work, state.offer
        cost = self._copy_cost(value, state)
        if state.layout is None:
            cost += FORBIDDEN if value in self.layouts.returned else 0.0
        elif state.opaque:
            # Opaque tensors are copied only from plain buffers: other layouts need a transform.
            type_ = nn.plain_type(value.type)
            cost += self._model.transform(type_, layouts[state.layout].layout, None)
        if offer is not None and offer.is_whole:
            return cost + offer.microseconds
        assert state.layout is not None
        cost += float(self.layouts.problem.costs[variable.number][state.layout])
        if offer is not None:
            assert work is not None
            return cost + self._split_cost(offer, work, state.layout)
        return cost if work is None else cost + self._fixed(work)

    def _copy_cost(self, value: SSAValue, state: ValueState) -> float:
        """Return the cost of the copies between opaque tensors and plain buffers."""
        offer, cost, written = state.offer, 0.0, ""
        if offer is not None and offer.writes_opaque:
            written = offer.accelerator if offer.is_whole else ""
            # Without a buffer only the accelerator reads it.
            cost = 0.0 if state.layout is None else self.exports[offer.accelerator, offer.result]
        return cost + sum(self.imports[name, value] for name in state.opaque if name != written)

    def _fixed(self, work: Work) -> float:
        """Return the cost of a kernel that no layout changes, which the layout problem leaves out.

        It is zero for reshapes: if they become kernels, the cost of their reads includes it.
        """
        if work.is_view:
            return 0.0
        constants = [v for v in work.inputs if nn.constant_of(v) is not None]
        traffic = sum(self._model.traffic(nn.tensor_type(v), None) for v in constants)
        return self._model.target.machine.launch_microseconds + traffic

    def _split_cost(self, offer: Offer, work: Work, layout: int) -> float:
        """Return the cost of the accelerator's part and of reading its result from a kernel."""
        rest = rest_of(work, offer)
        read = self.layouts.detours(rest, self.crossing(offer)).min(axis=1)[0, layout]
        return offer.microseconds + float(read) + self._fixed(rest)

    def crossing(self, offer: Offer) -> LayoutVariable:
        """Return the variable of a split kernel's intermediate result, a plain buffer."""
        value = offer.result
        packed = [c for c in self.layouts.candidates_for(value) if c is not PLAIN]
        return LayoutVariable(value, [PLAIN], [PLAIN, *packed])

    def _relate(self, value: SSAValue, work: Work) -> None:
        result = self.variables[value]
        for operand in dict.fromkeys(work.inputs):
            if operand in self.variables:
                table = self._reads(operand, work, result)
                self.problem.relate(self.variables[operand].number, result.number, table)

    def _reads(self, operand: SSAValue, work: Work, result: OffloadVariable) -> Table:
        """Return the cost of reading an operand: one row per state, a column per result state."""
        # Columns of results that accelerators write are placeholders, replaced below.
        ours = [0 if state.whole else state.layout or 0 for state in result.states]
        table = self._our_reads(operand, work)[:, ours]
        for offer in self.offers.get(work.result, ()):
            reads = self._their_reads(operand, offer)[:, None]
            if not offer.is_whole:
                reads = reads + self._our_reads(operand, rest_of(work, offer))[:, ours]
            table = np.where(result.written_by(offer), reads, table)
        return table

    def _our_reads(self, operand: SSAValue, work: Work) -> Table:
        """Return an OpenCL kernel's read costs: operand states by result layouts."""
        variable = self.variables[operand]
        results = len(self.layouts.variables[work.result].candidates)
        if operand not in work.inputs:
            return np.zeros((len(variable.states), results))
        source = replace(self.layouts.variables[operand], candidates=variable.layouts)
        return variable.rows(self.layouts.detours(work, source).min(axis=1))

    def _their_reads(self, operand: SSAValue, offer: Offer) -> Table:
        """Return an accelerator's read cost for each state of the operand.

        A read from an opaque tensor is free if that tensor holds the operand.
        """
        variable = self.variables[operand]
        costs = np.zeros(len(variable.states))
        if operand in offer.opaque_reads:
            costs = costs + [
                0.0 if offer.accelerator in state.opaque else FORBIDDEN for state in variable.states
            ]
        if operand in offer.plain_reads:
            type_ = nn.plain_type(operand.type)
            costs = costs + variable.rows(
                self.layouts.tables.transform(type_, variable.layouts, [PLAIN])[:, 0]
            )
        return costs


def rest_of(work: Work, offer: Offer) -> Work:
    """Return the rest of a kernel whose first operations the accelerator computes."""
    done = set(offer.ops)
    ops = [op for op in work.ops if op not in done]
    outside = dict.fromkeys(v for op in ops for v in op.operands if v.owner not in ops)
    readable = {*work.inputs, offer.result}
    inputs = [value for value in outside if value in readable]
    return Work(ops, inputs, work.result)
