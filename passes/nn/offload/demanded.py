"""Writers of values that a module's choices demand: kernels, or an accelerator."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue

from ....decisions import Choices, Site, SiteKind
from ....dialects.properties import text
from ....messages.explanations import Reason
from ..layout.kernels import Work
from ..layout.offload import OffloadProblem
from ..layout.savings import node_of


class OffloadSites:
    """The kernels that an accelerator could compute, with the writers that are demanded.

    Reshapes are no sites: they are views of memory, unless a graph has their neighbours.
    """

    def __init__(self, problem: OffloadProblem, choices: Choices | None) -> None:
        self._choices = choices
        self._sites: list[tuple[Site, Work]] = []
        self.demanded: dict[SSAValue, Collection[str]] = {}
        """The only writer that a value may have."""
        for value, work in problem.layouts.works.items() if choices else ():
            if value in problem.offers and not work.is_view:
                assert choices is not None
                site = choices.next_site(SiteKind.OFFLOAD, work.digest)
                self._sites.append((site, work))
                if (demanded := choices.demanded(site)) is not None:
                    words, word = problem.writers(value), text(demanded)
                    if word is None or word not in words:
                        raise choices.refused(site, node_of(work), f"it is {' or '.join(words)}")
                    self.demanded[value] = (word,)

    def note(self, writers: Mapping[SSAValue, str], reason: Callable[[SSAValue], Reason]) -> None:
        """Note the writers that were chosen."""
        if self._choices is not None:
            for site, work in self._sites:
                word, why = StringAttr(writers[work.result]), partial(reason, work.result)
                self._choices.note(site, word, node_of(work), why)

    def contradict(self) -> None:
        """Raise CloptError if a writer is demanded; together the demands have no solution."""
        for site, work in self._sites:
            if self._choices is not None and work.result in self.demanded:
                why = "no graph can hold it, or another demand contradicts it"
                raise self._choices.refused(site, node_of(work), why)
