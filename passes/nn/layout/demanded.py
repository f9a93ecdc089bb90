"""Layouts that a module's choices demand, or that were recorded as faster."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import NamedTuple

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, SSAValue

from ....decisions import Choices, Site, SiteKind
from ....decisions.choices import choice_text
from ....dialects.nn import LayoutAttr
from ....errors import CloptError
from ....messages.explanations import Reason
from .explain import LayoutReasons, cost_summary, explain_images
from .problem import LayoutProblem
from .savings import node_of
from .solver import FORBIDDEN, Solution

_PLAIN = StringAttr("plain")


class LayoutChoice(NamedTuple):
    """The layouts of a network."""

    problem: LayoutProblem
    solution: Solution


class LayoutSites:
    """The values of a problem that can have several layouts, as sites."""

    def __init__(self, usual: LayoutProblem, choices: Choices) -> None:
        self._usual = usual
        self._choices = choices
        self._sites = {
            value: choices.next_site(SiteKind.LAYOUT, work.digest)
            for value, work in usual.works.items()
            if len(usual.variables[value].candidates) > 1
        }

    def demanded(self) -> dict[SSAValue, LayoutAttr | None]:
        """Return the demanded layouts. Raise CloptError if a value cannot have its own."""
        return self._wanted(lambda site, possible: self._choices.demanded(site))

    def preferred(self) -> dict[SSAValue, LayoutAttr | None]:
        """Return the layouts that are demanded, or recorded as faster.

        Raises CloptError if a value cannot have the demanded one.
        """
        return self._wanted(self._choices.preferred)

    def _wanted(
        self, wanted: Callable[[Site, Collection[Attribute]], Attribute | None]
    ) -> dict[SSAValue, LayoutAttr | None]:
        layouts: dict[SSAValue, LayoutAttr | None] = {}
        for value, site in self._sites.items():
            possible = self._possible(value)
            choice = wanted(site, possible)
            if choice is None:
                continue
            if choice not in possible:
                words = " or ".join(map(choice_text, possible))
                raise self._choices.refused(site, self._nodes(value), f"it is {words}")
            layouts[value] = possible[choice]
        return layouts

    def note(
        self,
        layouts: Mapping[SSAValue, LayoutAttr | None],
        reason: Callable[[SSAValue], Reason],
        summary: str,
        *,
        is_searched: bool,
    ) -> None:
        """Note the layouts of values that have one, and explain those of all values.

        If `is_searched`, note the other possible layouts, too, for the tuner.
        """
        explain_images(self._usual.function, self._choices)
        for value in self._usual.works:
            nodes, why = self._nodes(value), partial(reason, value)
            if value in self._sites and value in layouts:
                layout = _attribute(layouts[value])
                possible = self._possible(value) if is_searched else ()
                self._choices.note(self._sites[value], layout, nodes, why, possible=possible)
            elif self._choices.explained is not None:
                self._choices.explain(SiteKind.LAYOUT, nodes, why())
        self._choices.summarise(SiteKind.LAYOUT, summary)

    def contradiction(self, value: SSAValue) -> CloptError:
        """Return the error for the demanded layout of a value: no kernel reads it."""
        why = "with the other demands, no kernel reads it"
        return self._choices.refused(self._sites[value], self._nodes(value), why)

    def _possible(self, value: SSAValue) -> dict[Attribute, LayoutAttr | None]:
        """Return the layouts that a value may have, by their choice."""
        layouts = (each.layout for each in self._usual.variables[value].candidates)
        return {_attribute(layout): layout for layout in layouts}

    def _nodes(self, value: SSAValue) -> str:
        return node_of(self._usual.works[value])


def demanded_layouts(usual: LayoutChoice, choices: Choices) -> LayoutChoice:
    """Return the layouts of a network as demanded or recorded, the cheapest for all other values.

    Note the layouts of all values that could have another one. Recorded layouts are ignored if no
    kernel reads one of them.
    """
    sites = LayoutSites(usual.problem, choices)
    preferred, demanded = sites.preferred(), sites.demanded()
    choice = _solved(usual, preferred) or _solved(usual, demanded)
    if choice is None:
        raise sites.contradiction(next(iter(demanded)))
    layouts = _layouts_of(choice)
    chosen = [
        [each.layout for each in variable.candidates].index(layouts[value])
        for value, variable in usual.problem.variables.items()
    ]
    reasons = LayoutReasons(usual.problem.problem, chosen)
    reason = partial(reasons.of_layout, usual.problem)
    sites.note(layouts, reason, cost_summary(*choice), is_searched=True)
    return choice


def _layouts_of(choice: LayoutChoice) -> dict[SSAValue, LayoutAttr | None]:
    numbers = choice.solution.choice
    return {
        value: variable.candidates[numbers[variable.number]].layout
        for value, variable in choice.problem.variables.items()
    }


def _solved(
    usual: LayoutChoice, given: Mapping[SSAValue, LayoutAttr | None]
) -> LayoutChoice | None:
    """Return the cheapest layouts if some values have these; None if no kernel reads one."""
    if not given:
        return usual
    problem = usual.problem.demanding(given)
    solution = problem.solve()
    return None if solution.cost >= FORBIDDEN else LayoutChoice(problem, solution)


def _attribute(layout: LayoutAttr | None) -> Attribute:
    return _PLAIN if layout is None else layout
