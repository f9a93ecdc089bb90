"""Layouts and offload as one problem: each kernel is ours, or CLML's, or CLML's with our epilogue.

A value then has states instead of layouts: who computes it, the layout of ours it lies in, and
whether it lies in an opaque tensor of CLML's, too. One that crosses between the two is copied, once
for all its readers, between CLML's tensor and a plain buffer; what our kernels make of that buffer,
or need to get there, is a matter of layouts as it always is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
from xdsl.ir import Operation, SSAValue

from ....dialects import nn
from .candidates import PLAIN, Candidate
from .dead_ends import solve_pruned
from .kernels import Work
from .problem import LayoutProblem, Variable
from .solver import Problem, Solution, Table

FORBIDDEN = 1e9
"""Microseconds of what cannot be: finite, so that a search gets out of it step by step."""


class Writer(Enum):
    """Who computes a value."""

    OURS = "ours"
    CLML = "clml"
    SPLIT = "split"
    """CLML the first operations of the kernel, a kernel of ours the rest."""


@dataclass(frozen=True)
class Offer:
    """What CLML would do of one kernel."""

    ops: Sequence[Operation]
    result: SSAValue
    microseconds: float
    """The time of its commands, copies between them included."""
    opaque_reads: frozenset[SSAValue]
    """What it reads from opaque tensors."""
    plain_reads: frozenset[SSAValue]
    """What it reads from plain buffers."""
    writes_opaque: bool


@dataclass(frozen=True)
class State:
    """One way to have a value: the number of its layout, None where it lies in none of ours."""

    writer: Writer
    layout: int | None
    opaque: bool


@dataclass
class OffloadVariable:
    """A value, the layouts it may lie in, and its states."""

    layouts: list[Candidate]
    states: list[State]
    number: int

    def rows(self, table: Table) -> Table:
        """The rows of a table over `layouts`, one for each state."""
        none = np.full((1, *table.shape[1:]), FORBIDDEN)
        numbers = [len(table) if s.layout is None else s.layout for s in self.states]
        return np.concatenate([table, none])[numbers]

    def written_by(self, writer: Writer) -> list[bool]:
        """For each state, whether it is that writer's."""
        return [state.writer is writer for state in self.states]


@dataclass
class OffloadProblem:
    """Who computes each value, and in which layouts, so that the sum of costs is least."""

    layouts: LayoutProblem
    offers: Mapping[SSAValue, Offer]
    """What CLML would do of whole kernels, by their results."""
    splits: Mapping[SSAValue, Offer]
    """What it would do of their first operations."""
    imports: Mapping[SSAValue, float]
    """The microseconds of a copy of a value from a plain buffer into an opaque tensor."""
    exports: Mapping[SSAValue, float]
    """The same in the other direction."""

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
        """The best choice, with its cost.

        Of the values in `forced`, CLML computes those that are true, and no others. `charges` are
        microseconds more for CLML's writing both values; the cost has them.
        """
        forced = forced or {}
        problem = self._with(forced, charges or {})
        found = solve_pruned(problem)
        if found.exact:
            return found
        # What was found is no worse than what takes no search.
        rest = {value: False for value in self.variables if value not in forced}
        safe = solve_pruned(self._with({**rest, **forced}, {}))
        return found if found.cost <= safe.cost else Solution(safe.choice, safe.cost, False)

    def cost_of(self, solution: Solution) -> float:
        """What a choice costs, without charges."""
        return self.problem.cost_of(solution.choice)

    def state_of(self, solution: Solution, value: SSAValue) -> State:
        """The chosen state of a value."""
        variable = self.variables[value]
        return variable.states[solution.choice[variable.number]]

    def offloaded(self, solution: Solution) -> list[Offer]:
        """What CLML does, in program order."""
        found: list[Offer] = []
        for value in self.variables:
            match self.state_of(solution, value).writer:
                case Writer.CLML:
                    found.append(self.offers[value])
                case Writer.SPLIT:
                    found.append(self.splits[value])
                case Writer.OURS:
                    pass
        return found

    def copies_of(self, solution: Solution) -> float:
        """What of that are copies between opaque tensors and plain buffers."""
        return sum(self._copy_cost(v, self.state_of(solution, v)) for v in self.variables)

    def _with(
        self,
        forced: Mapping[SSAValue, bool],
        charges: Mapping[tuple[SSAValue, SSAValue], float],
    ) -> Problem:
        problem = Problem(list(self.problem.costs), dict(self.problem.pairs))
        for value, by_clml in forced.items():
            variable = self.variables[value]
            wrong = np.array(variable.written_by(Writer.OURS)) == by_clml
            problem.costs[variable.number] = problem.costs[variable.number] + wrong * FORBIDDEN
        for (first, second), microseconds in charges.items():
            a, b = self.variables[first], self.variables[second]
            both = np.outer(a.written_by(Writer.CLML), b.written_by(Writer.CLML))
            problem.relate(a.number, b.number, np.where(both, microseconds, 0.0))
        return problem

    def _add(self, value: SSAValue, variable: Variable) -> None:
        layouts = list(variable.candidates)
        if PLAIN not in layouts:
            layouts.append(PLAIN)
        states = list(self._states(value, len(variable.candidates), layouts.index(PLAIN)))
        costs = [self._alone(value, variable, layouts, state) for state in states]
        self.variables[value] = OffloadVariable(layouts, states, self.problem.add(costs))

    def _states(self, value: SSAValue, ours: int, plain: int) -> Iterator[State]:
        """The first are ours, without a copy."""
        copied = [False, True] if value in self._wanted else [False]
        for opaque in copied:
            yield from (State(Writer.OURS, i, opaque) for i in range(ours))
        if value in self.splits:
            for opaque in copied:
                yield from (State(Writer.SPLIT, i, opaque) for i in range(ours))
        offer = self.offers.get(value)
        if offer is not None and offer.writes_opaque:
            yield State(Writer.CLML, None, True)
            yield State(Writer.CLML, plain, True)
        elif offer is not None:
            yield from (State(Writer.CLML, plain, opaque) for opaque in copied)

    def _alone(
        self, value: SSAValue, variable: Variable, layouts: Sequence[Candidate], state: State
    ) -> float:
        """What a state costs, but for the kernel's reads of what is no constant."""
        work = variable.work
        cost = self._copy_cost(value, state)
        if state.layout is None:
            cost += FORBIDDEN if value in self.layouts.returned else 0.0
        elif state.opaque:
            # Copies are from and to plain buffers.
            type_ = nn.plain_type(value.type)
            cost += self._model.transform(type_, layouts[state.layout].layout, None)
        if state.writer is Writer.CLML:
            return cost + self.offers[value].microseconds
        assert state.layout is not None
        cost += float(self.layouts.problem.costs[variable.number][state.layout])
        if state.writer is Writer.SPLIT:
            assert work is not None
            return cost + self._split_cost(self.splits[value], work, state.layout)
        return cost if work is None else cost + self._fixed(work)

    def _copy_cost(self, value: SSAValue, state: State) -> float:
        """The copies between opaque tensors and plain buffers."""
        if state.writer is Writer.CLML and self.offers[value].writes_opaque:
            return 0.0 if state.layout is None else self.exports[value]
        cost = self.imports[value] if state.opaque else 0.0
        if state.writer is Writer.SPLIT and self.splits[value].writes_opaque:
            cost += self.exports[self.splits[value].result]
        return cost

    def _fixed(self, work: Work) -> float:
        """What a kernel costs in any layout, and the layout problem leaves out.

        Reshapes need neither; where they are kernels, their reads say so.
        """
        if work.is_view:
            return 0.0
        constants = [v for v in work.inputs if nn.constant_of(v) is not None]
        traffic = sum(self._model.traffic(nn.tensor_type(v), None) for v in constants)
        terms = _transposed_terms(work) / self._model.rate
        return self._model.target.launch_microseconds + traffic + terms

    def _split_cost(self, offer: Offer, work: Work, layout: int) -> float:
        """CLML's part, and our kernel's reads of its result."""
        crossing = offer.result
        rest = rest_of(work, offer)
        source = Variable(crossing, [PLAIN], [PLAIN, *self._others(crossing)])
        read = self.layouts.detours(rest, source).min(axis=1)[0, layout]
        return offer.microseconds + float(read) + self._fixed(rest)

    def _others(self, value: SSAValue) -> list[Candidate]:
        return [c for c in self.layouts.candidates_for(value) if c is not PLAIN]

    def _relate(self, value: SSAValue, work: Work) -> None:
        result = self.variables[value]
        for operand in dict.fromkeys(work.inputs):
            if operand in self.variables:
                table = self._reads(operand, work, result)
                self.problem.relate(self.variables[operand].number, result.number, table)

    def _reads(self, operand: SSAValue, work: Work, result: OffloadVariable) -> Table:
        """The cost of reading an operand, for each of its states and each of the result's."""
        value = work.result
        # Where CLML writes the result, any column serves: it is replaced.
        ours = [0 if s.writer is Writer.CLML else s.layout or 0 for s in result.states]
        table = self._our_reads(operand, work)[:, ours]
        if (offer := self.offers.get(value)) is not None:
            theirs = self._their_reads(operand, offer)[:, None]
            table = np.where(result.written_by(Writer.CLML), theirs, table)
        if (split := self.splits.get(value)) is not None:
            rest = self._our_reads(operand, rest_of(work, split))[:, ours]
            both = self._their_reads(operand, split)[:, None] + rest
            table = np.where(result.written_by(Writer.SPLIT), both, table)
        return table

    def _our_reads(self, operand: SSAValue, work: Work) -> Table:
        """By a kernel of ours: rows are the operand's states, columns the result's layouts."""
        variable = self.variables[operand]
        results = len(self.layouts.variables[work.result].candidates)
        if operand not in work.inputs:
            return np.zeros((len(variable.states), results))
        source = replace(self.layouts.variables[operand], candidates=variable.layouts)
        return variable.rows(self.layouts.detours(work, source).min(axis=1))

    def _their_reads(self, operand: SSAValue, offer: Offer) -> Table:
        """By CLML: nothing, if it is there; a row for each state of the operand."""
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


def _transposed_terms(work: Work) -> int:
    """The multiply-adds of a transposed convolution, each input by each tap of each filter.

    Later passes make most of these ordinary ones, which the layout problem knows.
    """
    op = work.contraction
    if not isinstance(op, nn.ConvTransposeOp):
        return 0
    return nn.count(nn.shape_of(op.x)) * nn.count(nn.shape_of(op.w)[1:])


def rest_of(work: Work, offer: Offer) -> Work:
    """The kernel that is left of one whose first operations CLML computes."""
    done = set(offer.ops)
    ops = [op for op in work.ops if op not in done]
    outside = dict.fromkeys(v for op in ops for v in op.operands if v.owner not in ops)
    known = {*work.inputs, offer.result}
    inputs = [value for value in outside if value in known]
    return Work(ops, inputs, work.result)
