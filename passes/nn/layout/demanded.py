"""Layouts that a module's choices demand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, SSAValue

from ....decisions import Choices, Site, SiteKind
from ....dialects.nn import LayoutAttr
from .explain import LayoutReasons, cost_summary, explain_images
from .kernels import Work
from .problem import LayoutProblem
from .savings import node_of
from .solver import FORBIDDEN
from .tuned_layouts import LayoutChoice

_PLAIN = StringAttr("plain")


def demanded_layouts(usual: LayoutChoice, choices: Choices) -> LayoutChoice:
    """Return the layouts of a network as its module demands, the cheapest for all other values.

    Note the layouts of all values that could have another one.
    """
    open_sites = list(_sites(usual.problem, choices))
    demanded: dict[SSAValue, LayoutAttr | None] = {}
    for site, work in open_sites:
        if choices.demanded(site) is not None:
            demanded[work.result] = _allowed(usual.problem, site, work, choices)
    choice = usual
    if demanded:
        problem = usual.problem.demanding(demanded)
        choice = replace(usual, problem=problem, solution=problem.solve())
        if choice.solution.cost >= FORBIDDEN:
            site, work = next(each for each in open_sites if each[1].result in demanded)
            raise choices.refused(site, node_of(work), "with the other demands, no kernel reads it")
    _note(usual.problem, choice, dict((work, site) for site, work in open_sites), choices)
    return choice


def _note(
    problem: LayoutProblem, choice: LayoutChoice, sites: Mapping[Work, Site], choices: Choices
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
        if work in sites:
            variable = problem.variables[value]
            layout = variable.candidates[chosen[variable.number]].layout
            choices.note(sites[work], _attribute(layout), node_of(work), reason)
        elif choices.explained is not None:
            choices.explain(SiteKind.LAYOUT, node_of(work), reason())
    choices.summarise(SiteKind.LAYOUT, cost_summary(choice.problem, choice.solution))


def _sites(problem: LayoutProblem, choices: Choices) -> Iterator[tuple[Site, Work]]:
    """Yield the kernels whose results have several possible layouts."""
    for value, work in problem.works.items():
        if len(problem.variables[value].candidates) > 1:
            yield choices.next_site(SiteKind.LAYOUT, work.digest), work


def _allowed(problem: LayoutProblem, site: Site, work: Work, choices: Choices) -> LayoutAttr | None:
    """Return a demanded layout. Raise CloptError if the value cannot have it."""
    layouts = [each.layout for each in problem.variables[work.result].candidates]
    for layout in layouts:
        if _attribute(layout) == choices.demanded(site):
            return layout
    names = " or ".join(_text(layout) for layout in layouts)
    raise choices.refused(site, node_of(work), f"it is {names}")


def _attribute(layout: LayoutAttr | None) -> Attribute:
    return _PLAIN if layout is None else layout


def _text(layout: LayoutAttr | None) -> str:
    return _PLAIN.data if layout is None else str(layout)
