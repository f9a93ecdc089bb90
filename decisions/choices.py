"""The choices of a module: those that its user demands, and those that its passes made.

Both are the attribute `cl.choices`. Its presence asks passes to note their choices; without it they
save the time for digests. A pass that takes a decision replaces the demanded choice by the one that
it made, which is the same, with the names of the nodes.

The attribute `cl.recorded` has choices that were faster than the usual ones when networks were
timed (`recorded.py`). They apply where nothing is demanded and the site still has them. Their
nodes tell where they were measured, if not on this device.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute, Operation

from ..context import explanations_of
from ..dialects.cl import ChoiceAttr
from ..dialects.node_names import operation_number
from ..dialects.properties import text
from ..dialects.remarks import add_remarks
from ..errors import CloptError
from ..messages.explanations import Explained, ExplainedSummary, Explanation, Reason, Why
from ..messages.printable import printable
from .alternatives import ATTRIBUTE_NAME as ALTERNATIVES
from .alternatives import Alternative, Saving, alternatives_of, write_alternatives
from .sites import Site, SiteKind

ATTRIBUTE_NAME = "cl.choices"
RECORDED_NAME = "cl.recorded"

_MOST_SITES = 4
"""Longest list of sites in a remark."""


class Choices:
    """The choices of a module while one of its passes decides."""

    def __init__(
        self,
        found: Iterable[ChoiceAttr],
        explained: list[Explained] | None = None,
        recorded: Iterable[ChoiceAttr] = (),
        alternatives: list[Alternative] | None = None,
    ) -> None:
        """Start with the choices of a module.

        `explained` takes the explanations and `alternatives` the alternatives, if wanted.
        """
        self.explained = explained
        self._alternatives = alternatives
        self._found = {site_of(each): each for each in found}
        self._wanted = {site.of_all for site in self._found}
        self._recorded = {site_of(each): each for each in recorded}
        self._from_others: dict[str, None] = {}
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

    def demands_any(self, site: Site) -> bool:
        """Return whether the module demands a choice for a site or for an equal computation."""
        return site.of_all in self._wanted

    def preferred(self, site: Site, possible: Collection[Attribute]) -> Attribute | None:
        """Return the demanded choice for a site, or the recorded one if it is possible, or None."""
        demanded = self.demanded(site)
        if demanded is not None:
            return demanded
        recorded = self._recorded_at(site)
        if recorded is None or recorded.choice not in possible:
            return None
        if where := text(recorded.nodes):
            self._from_others[f"each {site.kind.value} that was fastest {where}"] = None
        return recorded.choice

    def _recorded_at(self, site: Site) -> ChoiceAttr | None:
        return self._recorded.get(site) or self._recorded.get(site.of_all)

    def remarks(self) -> list[str]:
        """Return remarks about recorded choices of other devices."""
        return [
            f"the module has {choices}; run clopt-tune to measure on this device."
            for choices in self._from_others
        ]

    def note(
        self,
        site: Site,
        choice: Attribute,
        nodes: str,
        reason: Callable[[], Reason] = Reason,
        *,
        possible: Iterable[Attribute] = (),
    ) -> None:
        """Note the choice among the possible ones that a pass made for a site with these nodes.

        `reason` is called if explanations are wanted. A demand and a record come before what it
        says.
        """
        others = [each for each in possible if each != choice]
        self._made[site] = choice_of(site, choice, nodes or "-", others)
        if self.explained is not None:
            why, recorded = reason(), self._recorded_at(site)
            if self.demanded(site) == choice:
                by = Why.LIMIT if self.wants_alternatives else Why.DEMANDED
                why = replace(why, why=by)
            elif recorded is not None and recorded.choice == choice:
                why = replace(why, why=Why.MEASURED, times=dict.fromkeys(why.times))
            shown = why.choice or choice_text(choice)
            self.explained.append(Explanation(site.kind.value, site.text, nodes, shown, why))

    def explain(self, kind: SiteKind, nodes: str, reason: Reason) -> None:
        """Explain what follows for other nodes from the choices of this kind."""
        if self.explained is not None:
            self.explained.append(Explanation(kind.value, "", nodes, reason.choice, reason))

    def summarise(self, kind: SiteKind, sentence: str) -> None:
        """Add a sentence about all choices of a kind to their explanation."""
        if self.explained is not None:
            self.explained.append(ExplainedSummary(kind.value, sentence))

    def decide(
        self,
        site: Site,
        usual: str,
        words: Collection[str],
        nodes: str,
        reason: Callable[[], Reason] = Reason,
    ) -> str:
        """Return the word that `chosen` returns, and note it.

        Raises CloptError if the module demands something else. `reason` explains the usual word.
        """
        chosen = self.chosen(site, usual, words, nodes)

        def with_words() -> Reason:
            found = reason()
            return replace(found, times={word: found.times.get(word) for word in words})

        possible = map(StringAttr, words)
        self.note(site, StringAttr(chosen), nodes, with_words, possible=possible)
        return chosen

    def chosen(self, site: Site, usual: str, words: Collection[str], nodes: str) -> str:
        """Return the demanded one of some words, or the recorded or else the usual one.

        Raises CloptError if the module demands something else.
        """
        preferred = self.preferred(site, list(map(StringAttr, words)))
        chosen = usual if preferred is None else text(preferred)
        if chosen is None or chosen not in words:
            raise self.refused(site, nodes, f"it is {' or '.join(words)}")
        return chosen

    @property
    def wants_alternatives(self) -> bool:
        """Return whether passes should offer alternatives to their choices."""
        return self._alternatives is not None

    def offer(
        self,
        site: Site,
        choice: Attribute,
        saving: Saving,
        ops: Iterable[Operation],
        nodes: str,
    ) -> None:
        """Offer a choice that takes fewer bytes and more time than the one that was made.

        The bytes are those of results of `ops`, or of the operations that these stem from. Choices
        that save nothing are left out.
        """
        if self._alternatives is not None and saving.bytes > 0:
            numbers = frozenset(n for op in ops if (n := operation_number(op)) is not None)
            time = max(saving.microseconds, 0.0)
            alternative = Alternative(
                saving.bytes,
                time,
                saving.needed,
                site=site,
                choice=choice,
                operations=numbers,
                nodes=nodes,
            )
            self._alternatives.append(alternative)

    def refused(self, site: Site, nodes: str, why: str) -> CloptError:
        """Return the error for a demanded choice that a site does not have."""
        found = self._found.get(site) or self._found[site.of_all]
        shown = printable(choice_text(found.choice))
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
            shared = ChoiceAttr(
                *(first.kind, StringAttr(of_all.text), first.choice, first.nodes, first.others)
            )
            made += [shared] if are_equal else several
        rest = [
            choice
            for site, choice in self._found.items()
            if site not in self._made and site not in together
        ]
        taken = (choice for choice in rest if choice.is_taken)
        waiting = (choice for choice in rest if not choice.is_taken)
        return ArrayAttr([*taken, *made, *waiting])


def choice_text(choice: Attribute) -> str:
    """Return a choice as in a file of choices: a word, or an attribute as printed."""
    return text(choice) or str(choice)


def choice_of(
    site: Site, choice: Attribute, nodes: str = "", others: Iterable[Attribute] = ()
) -> ChoiceAttr:
    """Return the attribute of a choice; without nodes, it waits for a pass."""
    kind, digest = StringAttr(site.kind.value), StringAttr(site.text)
    return ChoiceAttr(kind, digest, choice, StringAttr(nodes), ArrayAttr(list(others)))


def site_of(choice: ChoiceAttr) -> Site:
    """Return the site of a choice. Raise CloptError if its words name none."""
    try:
        return Site.parse(choice.kind.data, choice.digest.data)
    except ValueError as error:
        raise CloptError(f"{choice}: {error}.") from error


def choices_of(module: ModuleOp) -> list[ChoiceAttr] | None:
    """Return the choices of a module; None if it neither demands any nor wants them noted."""
    return _listed(module, ATTRIBUTE_NAME)


def _listed(module: ModuleOp, name: str) -> list[ChoiceAttr] | None:
    found = module.attributes.get(name)
    if not isinstance(found, ArrayAttr):
        return None
    return [each for each in cast("ArrayAttr[Attribute]", found) if isinstance(each, ChoiceAttr)]


def demand(module: ModuleOp, choices: Iterable[ChoiceAttr]) -> None:
    """Demand choices from the passes that follow, and let them note all others."""
    module.attributes[ATTRIBUTE_NAME] = ArrayAttr(list(choices))


def forget_choices(module: ModuleOp, demands: Sequence[ChoiceAttr] | None) -> None:
    """Remove what a search left: alternatives, demands of its own that nothing met, notes.

    `demands` are those of the user, who does not want notes if this is None.
    """
    module.attributes.pop(ALTERNATIVES, None)
    if demands is None:
        module.attributes.pop(ATTRIBUTE_NAME, None)
    else:
        demand(module, [x for x in choices_of(module) or () if x.is_taken or x in demands])


@contextmanager
def deciding(module: ModuleOp, ctx: Context | None = None) -> Generator[Choices | None]:
    """Give a pass the choices of its module, and write down what it notes.

    None if the module neither demands choices nor wants them noted, has no recorded ones, and `ctx`
    wants no explanations.
    """
    found, recorded = choices_of(module), _listed(module, RECORDED_NAME)
    explained = None if ctx is None else explanations_of(ctx)
    alternatives = alternatives_of(module)
    is_idle = found is None and recorded is None and explained is None
    choices = None if is_idle else Choices(found or (), explained, recorded or (), alternatives)
    yield choices
    if choices is not None:
        add_remarks(module, choices.remarks())
        if found is not None:
            demand(module, choices.written())
    if alternatives is not None:
        write_alternatives(module, alternatives)


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
