"""The choices of a module: those that its user demands, and those that its passes made.

Both are the attribute `cl.choices`. Its presence asks passes to note their choices; without it they
save the time for digests. A pass that takes a decision replaces the demanded choice by the one that
it made, which is the same, with the names of the nodes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Generator, Iterable
from contextlib import contextmanager
from dataclasses import replace
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute

from ..dialects.cl import ChoiceAttr
from ..dialects.properties import text
from ..dialects.remarks import add_remarks
from ..errors import CloptError
from ..messages.printable import printable
from .sites import Site, SiteKind

ATTRIBUTE_NAME = "cl.choices"

_MOST_SITES = 4
"""Longest list of sites in a remark."""


class Choices:
    """The choices of a module while one of its passes decides."""

    def __init__(self, found: Iterable[ChoiceAttr]) -> None:
        self._found = {site_of(each): each for each in found}
        self._made: dict[Site, ChoiceAttr] = {}
        self._seen: Counter[Site] = Counter()

    def next_site(self, kind: SiteKind, digest: str) -> Site:
        """Return the site of a computation; equal ones are numbered as a pass comes to them."""
        of_all = Site(kind, digest)
        self._seen[of_all] += 1
        return replace(of_all, number=self._seen[of_all])

    def demanded(self, site: Site) -> Attribute | None:
        """Return the choice that the module demands for a site, or None."""
        found = self._found.get(site) or self._found.get(site.of_all)
        return None if found is None else found.choice

    def note(self, site: Site, choice: Attribute, nodes: str) -> None:
        """Note the choice that a pass made for a site that computes these nodes."""
        self._made[site] = choice_of(site, choice, nodes or "-")

    def decide(self, site: Site, usual: str, words: Collection[str], nodes: str) -> str:
        """Return the demanded one of some words, or the usual one, and note it.

        Raises CloptError if the module demands something else.
        """
        demanded = self.demanded(site)
        chosen = usual if demanded is None else text(demanded)
        if demanded is not None and chosen not in words:
            raise self.refused(site, nodes, f"it is {' or '.join(words)}")
        assert chosen is not None
        self.note(site, StringAttr(chosen), nodes)
        return chosen

    def refused(self, site: Site, nodes: str, why: str) -> CloptError:
        """Return the error for a demanded choice that a site does not have."""
        found = self._found.get(site) or self._found[site.of_all]
        shown = printable(text(found.choice) or str(found.choice))
        return CloptError(
            f"the choice {site_of(found)} {shown} does not fit {printable(nodes)}: {why}."
        )

    def written(self) -> ArrayAttr[ChoiceAttr]:
        """Return the choices of earlier passes, those of this pass, and demands for later ones.

        Equal computations with equal choices share one.
        """
        together: dict[Site, list[ChoiceAttr]] = {}
        for site, choice in self._made.items():
            together.setdefault(site.of_all, []).append(choice)
        made: list[ChoiceAttr] = []
        for of_all, several in together.items():
            first = several[0]
            are_equal = all(each.choice == first.choice for each in several)
            shared = ChoiceAttr(first.kind, StringAttr(of_all.text), first.choice, first.nodes)
            made += [shared] if are_equal else several
        rest = [
            choice
            for site, choice in self._found.items()
            if site not in self._made and site not in together
        ]
        taken = (choice for choice in rest if choice.is_taken)
        waiting = (choice for choice in rest if not choice.is_taken)
        return ArrayAttr([*taken, *made, *waiting])


def choice_of(site: Site, choice: Attribute, nodes: str = "") -> ChoiceAttr:
    """Return the attribute of a choice; without nodes, it waits for a pass."""
    kind = StringAttr(site.kind.value)
    return ChoiceAttr(kind, StringAttr(site.text), choice, StringAttr(nodes))


def site_of(choice: ChoiceAttr) -> Site:
    """Return the site of a choice. Raise CloptError if its words name none."""
    try:
        return Site.parse(choice.kind.data, choice.digest.data)
    except ValueError as error:
        raise CloptError(f"{choice}: {error}.") from error


def choices_of(module: ModuleOp) -> list[ChoiceAttr] | None:
    """Return the choices of a module; None if it neither demands any nor wants them noted."""
    found = module.attributes.get(ATTRIBUTE_NAME)
    if not isinstance(found, ArrayAttr):
        return None
    return [each for each in cast("ArrayAttr[Attribute]", found) if isinstance(each, ChoiceAttr)]


def demand(module: ModuleOp, choices: Iterable[ChoiceAttr]) -> None:
    """Demand choices from the passes that follow, and let them note all others."""
    module.attributes[ATTRIBUTE_NAME] = ArrayAttr(list(choices))


@contextmanager
def deciding(module: ModuleOp) -> Generator[Choices | None]:
    """Give a pass the choices of its module, and write down what it notes.

    None if the module neither demands choices nor wants them noted.
    """
    found = choices_of(module)
    choices = None if found is None else Choices(found)
    yield choices
    if choices is not None:
        demand(module, choices.written())


def remark_unmatched(module: ModuleOp, name: str) -> None:
    """Add a remark about demands of a file that no pass has met."""
    waiting = [str(site_of(each)) for each in choices_of(module) or [] if not each.is_taken]
    if waiting:
        more = f" and {len(waiting) - _MOST_SITES} more" if len(waiting) > _MOST_SITES else ""
        add_remarks(
            module,
            [
                f"{name}: nothing is decided here for {', '.join(waiting[:_MOST_SITES])}{more}; "
                "the model, the target or clopt has changed since the file was written."
            ],
        )
