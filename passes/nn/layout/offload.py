"""Layouts and offload as one problem: kernels of OpenCL, of an accelerator, or split between both.

A value has states instead of layouts. A state records who computes the value, its layout in OpenCL
memory, and whether an opaque tensor of the accelerator holds it, too. A value that crosses is
copied between the opaque tensor and a plain buffer, once for all its readers. Transforms from and
to that plain buffer are layout transforms like all others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
from xdsl.ir import Operation, SSAValue

from ....dialects import nn
from .candidates import PLAIN, Candidate
from .kernels import Work
from .problem import LayoutProblem, LayoutVariable
from .solver import FORBIDDEN, Problem, Solution, Table, solve


class Writer(Enum):
    """The producer of a value; OURS is an OpenCL kernel."""

    OURS = "ours"
    WHOLE = "whole"
    """The accelerator computes the kernel."""
    SPLIT = "split"
    """The accelerator computes the first operations of the kernel, an OpenCL kernel the rest."""


@dataclass(frozen=True)
class Offer:
    """The part of one kernel that the accelerator can compute."""

    ops: Sequence[Operation]
    result: SSAValue
    microseconds: float
    """The time of its commands, including copies between them."""
    opaque_reads: frozenset[SSAValue]
    """The values that it reads from opaque tensors."""
    plain_reads: frozenset[SSAValue]
    """The values that it reads from plain buffers."""
    writes_opaque: bool


@dataclass(frozen=True)
class ValueState:
    """One way to hold a value; `layout` is the number of its layout, or None without a buffer."""

    writer: Writer
    layout: int | None
    opaque: bool


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

    def written_by(self, writer: Writer) -> list[bool]:
        """Return, for each state, whether `writer` computes the value."""
        return [state.writer is writer for state in self.states]


@dataclass
class OffloadProblem:
    """The choice of a writer and a layout for each value that minimises the sum of costs."""

    name: str
    """The accelerator's name in the IR."""
    layouts: LayoutProblem
    offers: Mapping[SSAValue, Offer]
    """The accelerator's offers for whole kernels, by the kernels' results."""
    splits: Mapping[SSAValue, Offer]
    """The accelerator's offers for the first operations of kernels, by the kernels' results."""
    imports: Mapping[SSAValue, float]
    """Microseconds to copy a value from a plain buffer into an opaque tensor."""
    exports: Mapping[SSAValue, float]
    """Microseconds to copy a value from an opaque tensor into a plain buffer."""

    def __post_init__(self) -> None:
        self._model = self.layouts.tables.model
        self.problem = Problem()
        self.variables: dict[SSAValue, OffloadVariable] = {}
        self._wanted = {
            value
            for offer in (*self.offers.values(), *self.splits.values())
            for value in offer.opaque_reads
        }
        for value, variable in self.layouts.variables.items():
            self._add(value, variable)
        for value, variable in self.layouts.variables.items():
            if variable.work is not None:
                self._relate(value, variable.work)

    def solve(
        self,
        forced: Mapping[SSAValue, bool] | None = None,
        charges: Mapping[tuple[SSAValue, SSAValue], float] | None = None,
    ) -> Solution:
        """Return the best choice, with its cost.

        The accelerator computes the values that are true in `forced`, and none that are false.
        `charges` are microseconds added if it writes both values of a pair; the solution's cost
        includes them.
        """
        forced = forced or {}
        problem = self._with(forced, charges or {})
        solution = solve(problem)
        if solution.exact:
            return solution
        # An inexact search may miss even the choice of OpenCL kernels for all other values.
        rest = {value: False for value in self.variables if value not in forced}
        safe = solve(self._with({**rest, **forced}, {}))
        return solution if solution.cost <= safe.cost else replace(safe, exact=False)

    def cost_of(self, solution: Solution) -> float:
        """Return the cost of a choice, without charges."""
        return self.problem.cost_of(solution.choice)

    def state_of(self, solution: Solution, value: SSAValue) -> ValueState:
        """Return the chosen state of a value."""
        variable = self.variables[value]
        return variable.states[solution.choice[variable.number]]

    def offloaded(self, solution: Solution) -> list[Offer]:
        """Return the accepted offers, in program order."""
        offers = (self.offer_of(solution, value) for value in self.variables)
        return [offer for offer in offers if offer is not None]

    def offer_of(self, solution: Solution, value: SSAValue) -> Offer | None:
        """Return the accepted offer for a value's kernel, or None."""
        match self.state_of(solution, value).writer:
            case Writer.WHOLE:
                return self.offers[value]
            case Writer.SPLIT:
                return self.splits[value]
            case Writer.OURS:
                return None

    def copies_of(self, solution: Solution) -> float:
        """Return the part of the cost for copies between opaque tensors and plain buffers."""
        return sum(self._copy_cost(v, self.state_of(solution, v)) for v in self.variables)

    def _with(
        self,
        forced: Mapping[SSAValue, bool],
        charges: Mapping[tuple[SSAValue, SSAValue], float],
    ) -> Problem:
        problem = Problem(list(self.problem.costs), dict(self.problem.pairs))
        for value, offloaded in forced.items():
            variable = self.variables[value]
            wrong = np.array(variable.written_by(Writer.OURS)) == offloaded
            problem.costs[variable.number] = problem.costs[variable.number] + wrong * FORBIDDEN
        for (first, second), microseconds in charges.items():
            a, b = self.variables[first], self.variables[second]
            both = np.outer(a.written_by(Writer.WHOLE), b.written_by(Writer.WHOLE))
            problem.relate(a.number, b.number, np.where(both, microseconds, 0.0))
        return problem

    def _add(self, value: SSAValue, variable: LayoutVariable) -> None:
        layouts = list(variable.candidates)
        if PLAIN not in layouts:
            layouts.append(PLAIN)
        states = list(self._states(value, len(variable.candidates), layouts.index(PLAIN)))
        costs = [self._alone(value, variable, layouts, state) for state in states]
        self.variables[value] = OffloadVariable(layouts, states, self.problem.add(costs))

    def _states(self, value: SSAValue, ours: int, plain: int) -> Iterator[ValueState]:
        """Yield the states of a value, OpenCL kernels without an opaque copy first."""
        copied = [False, True] if value in self._wanted else [False]
        for opaque in copied:
            yield from (ValueState(Writer.OURS, i, opaque) for i in range(ours))
        if value in self.splits:
            for opaque in copied:
                yield from (ValueState(Writer.SPLIT, i, opaque) for i in range(ours))
        offer = self.offers.get(value)
        if offer is not None and offer.writes_opaque:
            yield ValueState(Writer.WHOLE, None, True)
            yield ValueState(Writer.WHOLE, plain, True)
        elif offer is not None:
            yield from (ValueState(Writer.WHOLE, plain, opaque) for opaque in copied)

    def _alone(
        self,
        value: SSAValue,
        variable: LayoutVariable,
        layouts: Sequence[Candidate],
        state: ValueState,
    ) -> float:
        """Return the cost of a state, excluding the kernel's reads of computed values."""
        work = variable.work
        cost = self._copy_cost(value, state)
        if state.layout is None:
            cost += FORBIDDEN if value in self.layouts.returned else 0.0
        elif state.opaque:
            # Opaque tensors are copied only from plain buffers: other layouts need a transform.
            type_ = nn.plain_type(value.type)
            cost += self._model.transform(type_, layouts[state.layout].layout, None)
        if state.writer is Writer.WHOLE:
            return cost + self.offers[value].microseconds
        assert state.layout is not None
        cost += float(self.layouts.problem.costs[variable.number][state.layout])
        if state.writer is Writer.SPLIT:
            assert work is not None
            return cost + self._split_cost(self.splits[value], work, state.layout)
        return cost if work is None else cost + self._fixed(work)

    def _copy_cost(self, value: SSAValue, state: ValueState) -> float:
        """Return the cost of the copies between opaque tensors and plain buffers."""
        if state.writer is Writer.WHOLE and self.offers[value].writes_opaque:
            return 0.0 if state.layout is None else self.exports[value]
        cost = self.imports[value] if state.opaque else 0.0
        if state.writer is Writer.SPLIT and self.splits[value].writes_opaque:
            cost += self.exports[self.splits[value].result]
        return cost

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
        value = work.result
        # Columns of results that the accelerator writes are placeholders, replaced below.
        ours = [0 if s.writer is Writer.WHOLE else s.layout or 0 for s in result.states]
        table = self._our_reads(operand, work)[:, ours]
        if (offer := self.offers.get(value)) is not None:
            theirs = self._their_reads(operand, offer)[:, None]
            table = np.where(result.written_by(Writer.WHOLE), theirs, table)
        if (split := self.splits.get(value)) is not None:
            rest = self._our_reads(operand, rest_of(work, split))[:, ours]
            both = self._their_reads(operand, split)[:, None] + rest
            table = np.where(result.written_by(Writer.SPLIT), both, table)
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
        """Return the accelerator's read cost for each state of the operand.

        A read from an opaque tensor is free if that tensor holds the operand.
        """
        variable = self.variables[operand]
        costs = np.zeros(len(variable.states))
        if operand in offer.opaque_reads:
            costs = costs + [0.0 if s.opaque else FORBIDDEN for s in variable.states]
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
