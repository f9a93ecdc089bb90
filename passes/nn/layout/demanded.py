"""Layouts that a module's choices demand, or that were recorded as faster."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, SSAValue

from ....decisions import Choices, Site, SiteKind
from ....decisions.alternatives import Saving
from ....decisions.choices import choice_text
from ....dialects.nn import LayoutAttr
from ....errors import CloptError
from ....messages.explanations import Reason
from .candidates import Candidate
from .explain import explain_images
from .problem import LayoutProblem
from .savings import node_of, possible_layouts

_PLAIN = StringAttr("plain")


class LayoutSites:
    """The values of a problem that can have several layouts, as sites."""

    def __init__(self, usual: LayoutProblem, choices: Choices) -> None:
        self._usual = usual
        self._choices = choices
        self._sites = {
            value: choices.next_site(SiteKind.LAYOUT, work.digest)
            for value, work in usual.works.items()
            if len(possible_layouts(usual.variables[value].candidates)) > 1
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
                candidates = [_attribute(each.layout) for each in self._candidates(value)]
                # A plain layout that is no candidate has no estimate, and tuning leaves it out.
                shown = why if layout in candidates else Reason
                possible = candidates if is_searched else ()
                self._choices.note(self._sites[value], layout, nodes, shown, possible=possible)
            elif self._choices.explained is not None:
                self._choices.explain(SiteKind.LAYOUT, nodes, why())
        self._choices.summarise(SiteKind.LAYOUT, summary)

    def contradiction(self, value: SSAValue) -> CloptError:
        """Return the error for the demanded layout of a value: no kernel reads it."""
        why = "with the other demands, no kernel reads it"
        return self._choices.refused(self._sites[value], self._nodes(value), why)

    def offer(self, value: SSAValue, layout: LayoutAttr | None, saving: Saving) -> None:
        """Offer a layout of fewer bytes for a value."""
        site, ops = self._sites[value], self._usual.works[value].ops[-1:]
        self._choices.offer(site, _attribute(layout), saving, ops, self._nodes(value))

    def _candidates(self, value: SSAValue) -> list[Candidate]:
        return self._usual.variables[value].candidates

    def _possible(self, value: SSAValue) -> dict[Attribute, LayoutAttr | None]:
        """Return the layouts that a value may have, by their choice."""
        return {_attribute(layout): layout for layout in possible_layouts(self._candidates(value))}

    def _nodes(self, value: SSAValue) -> str:
        return node_of(self._usual.works[value])


def _attribute(layout: LayoutAttr | None) -> Attribute:
    return _PLAIN if layout is None else layout
