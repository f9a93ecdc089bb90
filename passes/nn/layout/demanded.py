"""Layouts that a module's choices demand, or that were recorded as faster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, SSAValue

from ....decisions import Choices, Site, SiteKind
from ....dialects.nn import LayoutAttr
from ....dialects.properties import text
from ....messages.explanations import Reason
from .explain import LayoutReasons, cost_summary, explain_images
from .kernels import Work
from .problem import LayoutProblem
from .savings import node_of
from .solver import FORBIDDEN, Solution

_PLAIN = StringAttr("plain")


class LayoutChoice(NamedTuple):
    """The layouts of a network."""

    problem: LayoutProblem
    solution: Solution


class LayoutSites:
    """The layouts that are demanded where accelerators take part; records do not count there."""

    def __init__(self, usual: LayoutProblem, choices: Choices | None) -> None:
        self._usual = usual
        self._choices = choices
        self._sites: dict[SSAValue, Site] = {}
        self._demanded: dict[SSAValue, LayoutAttr | None] = {}
        for value, work in usual.works.items() if choices else ():
            if len(usual.variables[value].candidates) > 1:
                assert choices is not None
                site = self._sites[value] = choices.next_site(SiteKind.LAYOUT, work.digest)
                if choices.demanded(site) is not None:
                    self._demanded[value] = _demanded_layout(usual, site, work, choices)
        self.problem = usual.demanding(self._demanded) if self._demanded else usual
        """The problem in which values have only the layouts that are demanded."""

    def note(
        self,
        layouts: Mapping[SSAValue, LayoutAttr | None],
        reason: Callable[[SSAValue], Reason],
        summary: str,
    ) -> None:
        """Note the layouts of values that have one, and explain those of all values."""
        if self._choices is None:
            return
        explain_images(self._usual.function, self._choices)
        for value, work in self._usual.works.items():
            why = partial(reason, value)
            if value in self._sites and value in layouts:
                layout = _attribute(layouts[value])
                self._choices.note(self._sites[value], layout, node_of(work), why)
            elif self._choices.explained is not None:
                self._choices.explain(SiteKind.LAYOUT, node_of(work), why())
        self._choices.summarise(SiteKind.LAYOUT, summary)

    def contradict(self) -> None:
        """Raise CloptError if a layout is demanded; together the demands have no solution."""
        for value in self._demanded if self._choices else ():
            assert self._choices is not None
            nodes = node_of(self._usual.works[value])
            why = "with the other demands, no kernel reads it"
            raise self._choices.refused(self._sites[value], nodes, why)


def demanded_layouts(usual: LayoutChoice, choices: Choices) -> LayoutChoice:
    """Return the layouts of a network as demanded or recorded, the cheapest for all other values.

    Note the layouts of all values that could have another one. Recorded layouts are ignored if no
    kernel reads one of them.
    """
    open_sites = list(_sites(usual.problem, choices))
    preferred: dict[SSAValue, LayoutAttr | None] = {}
    for site, work in open_sites:
        possible = _possible(usual.problem, work)
        wanted = choices.preferred(site, possible)
        if wanted is not None and wanted not in possible:
            raise choices.refused(site, node_of(work), f"it is {' or '.join(map(_text, possible))}")
        if wanted is not None:
            preferred[work.result] = possible[wanted]
    sites = {work.result: site for site, work in open_sites}
    demanded = {
        value: layout
        for value, layout in preferred.items()
        if choices.demanded(sites[value]) is not None
    }
    choice = _solved(usual, preferred) or _solved(usual, demanded)
    if choice is None:
        site, work = next(each for each in open_sites if each[1].result in demanded)
        raise choices.refused(site, node_of(work), "with the other demands, no kernel reads it")
    _note(usual.problem, choice, sites, choices)
    return choice


def _solved(
    usual: LayoutChoice, given: Mapping[SSAValue, LayoutAttr | None]
) -> LayoutChoice | None:
    """Return the cheapest layouts if some values have these; None if no kernel reads one."""
    if not given:
        return usual
    problem = usual.problem.demanding(given)
    solution = problem.solve()
    return None if solution.cost >= FORBIDDEN else LayoutChoice(problem, solution)


def _note(
    problem: LayoutProblem, choice: LayoutChoice, sites: Mapping[SSAValue, Site], choices: Choices
) -> None:
    """Note the layouts of all values; `problem` has those that demands exclude, too."""
    chosen: list[int] = []
    for value, variable in problem.variables.items():
        demanded = choice.problem.variables[value]
        layout = demanded.candidates[choice.solution.choice[demanded.number]].layout
        chosen.append([each.layout for each in variable.candidates].index(layout))
    reasons = LayoutReasons(problem.problem, chosen)
    explain_images(problem.function, choices)
    for value, work in problem.works.items():
        reason = partial(reasons.of_layout, problem, value)
        if value in sites:
            variable = problem.variables[value]
            layout = _attribute(variable.candidates[chosen[variable.number]].layout)
            possible = _possible(problem, work)
            choices.note(sites[value], layout, node_of(work), reason, possible=possible)
        elif choices.explained is not None:
            choices.explain(SiteKind.LAYOUT, node_of(work), reason())
    choices.summarise(SiteKind.LAYOUT, cost_summary(choice.problem, choice.solution))


def _sites(problem: LayoutProblem, choices: Choices) -> Iterator[tuple[Site, Work]]:
    """Yield the kernels whose results have several possible layouts."""
    for value, work in problem.works.items():
        if len(problem.variables[value].candidates) > 1:
            yield choices.next_site(SiteKind.LAYOUT, work.digest), work


def _demanded_layout(
    problem: LayoutProblem, site: Site, work: Work, choices: Choices
) -> LayoutAttr | None:
    """Return the layout that is demanded. Raise CloptError if the value cannot have it."""
    possible = _possible(problem, work)
    wanted = choices.demanded(site)
    if wanted is None or wanted not in possible:
        raise choices.refused(site, node_of(work), f"it is {' or '.join(map(_text, possible))}")
    return possible[wanted]


def _possible(problem: LayoutProblem, work: Work) -> dict[Attribute, LayoutAttr | None]:
    """Return the layouts that the result of a kernel may have, by their choice."""
    layouts = (each.layout for each in problem.variables[work.result].candidates)
    return {_attribute(layout): layout for layout in layouts}


def _attribute(layout: LayoutAttr | None) -> Attribute:
    return _PLAIN if layout is None else layout


def _text(choice: Attribute) -> str:
    return text(choice) or str(choice)
