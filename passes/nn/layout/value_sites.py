"""Sites of layouts: how values are stored, and whether kernels copy them into other layouts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import NamedTuple

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue

from ....decisions import Choices, SiteKind
from ....dialects.nn import LayoutAttr
from .carry_out import GroupKernels
from .demanded import LayoutSites
from .explain import LayoutReasons, cost_summary
from .problem import LayoutProblem
from .savings import node_of, operand_copies, smaller_layouts
from .solver import FORBIDDEN, Solution

_COPIED, _STORED = StringAttr("copied"), StringAttr("stored")
_WORDS = (_COPIED, _STORED)


class LayoutChoice(NamedTuple):
    """The layouts of a network."""

    problem: LayoutProblem
    solution: Solution

    def layout(self, value: SSAValue) -> LayoutAttr | None:
        """Return the layout of a value."""
        variable = self.problem.variables[value]
        return variable.candidates[self.solution.choice[variable.number]].layout


class ValueSites:
    """The sites of a function's values and kernels, by the values that the kernels write.

    A site of kind `operands` is where a kernel reads values with layouts: as they are stored, or
    some of them copied into other layouts.
    """

    def __init__(self, problem: LayoutProblem, choices: Choices) -> None:
        """Find the sites of a problem without demands."""
        self._choices = choices
        self._usual = problem
        self._layouts = LayoutSites(problem, choices)
        self._operands = {
            value: choices.next_site(SiteKind.OPERANDS, work.digest)
            for value, work in problem.works.items()
            if any(operand in problem.variables for operand in work.inputs)
        }

    def preferred(self, usual: LayoutChoice) -> LayoutChoice:
        """Return the layouts as demanded or recorded, the cheapest for all other values.

        Recorded layouts are ignored if no kernel reads one of them.
        """
        preferred, demanded = self._layouts.preferred(), self._layouts.demanded()
        stored = [value for value in self._operands if self._word(value) == _STORED]
        choice = _solved(usual, preferred, stored) or _solved(usual, demanded, stored)
        if choice is not None:
            return choice
        if demanded:
            raise self._layouts.contradiction(next(iter(demanded)))
        value = stored[0]
        why = "a kernel cannot read its operands in any layout in which they can be stored"
        raise self._choices.refused(self._operands[value], self._nodes(value), why)

    def note(self, choice: LayoutChoice, kernels: Iterable[GroupKernels]) -> None:
        """Note the layouts of a choice, and the kernels that copy operands."""
        self._note_layouts(choice)
        copies = operand_copies(*choice, kernels)
        for value, site in self._operands.items():
            word = self._word(value) or (_COPIED if value in copies else None)
            if word is not None:
                self._choices.note(site, word, self._nodes(value), possible=_WORDS)
        if not self._choices.wants_alternatives:
            return
        for smaller in smaller_layouts(*choice):
            self._layouts.offer(*smaller)
        for value, saving in copies.items():
            ops, site = self._usual.works[value].ops[-1:], self._operands[value]
            self._choices.offer(site, _STORED, saving, ops, self._nodes(value))

    def _note_layouts(self, choice: LayoutChoice) -> None:
        layouts = {value: choice.layout(value) for value in self._usual.variables}
        chosen: list[int] = []
        for value, variable in self._usual.variables.items():
            candidates = [each.layout for each in variable.candidates]
            # A demanded plain layout may be no candidate; the costs of others ignore it.
            is_candidate = layouts[value] in candidates
            chosen.append(candidates.index(layouts[value]) if is_candidate else 0)
        reasons = LayoutReasons(self._usual.problem, chosen)
        reason = partial(reasons.of_layout, self._usual)
        self._layouts.note(layouts, reason, cost_summary(*choice), is_searched=True)

    def _word(self, value: SSAValue) -> StringAttr | None:
        """Return the demanded or recorded word for a kernel's operands.

        Raise CloptError for another choice.
        """
        site = self._operands[value]
        wanted = self._choices.preferred(site, _WORDS)
        if wanted is None or wanted in _WORDS:
            return None if wanted is None else _WORDS[_WORDS.index(wanted)]
        raise self._choices.refused(site, self._nodes(value), "it is copied or stored")

    def _nodes(self, value: SSAValue) -> str:
        return node_of(self._usual.works[value])


def _solved(
    usual: LayoutChoice, given: Mapping[SSAValue, LayoutAttr | None], stored: Collection[SSAValue]
) -> LayoutChoice | None:
    """Return the cheapest layouts if some values have these; None if no kernel reads one."""
    if not given and not stored:
        return usual
    problem = usual.problem.demanding(given, stored)
    solution = problem.solve()
    return None if solution.cost >= FORBIDDEN else LayoutChoice(problem, solution)
