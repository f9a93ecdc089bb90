"""Choices of places: whether slices and concatenations are parts of other values' memory."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from ....decisions import Choices, Site, SiteKind
from ....decisions.alternatives import Saving
from ....dialects import nn
from ....messages.explanations import Reason
from ...locations import node_name
from ..structure import structure_digest

PART, KERNEL = "part", "kernel"
_WORDS = (StringAttr(PART), StringAttr(KERNEL))


@dataclass(frozen=True)
class PlaceChoices:
    """The sites of a function's slices and concatenations that could be parts."""

    choices: Choices
    sites: dict[nn.FusedOp, Site]

    @classmethod
    def of(cls, choices: Choices, possible: Iterable[nn.FusedOp]) -> PlaceChoices:
        """Return the sites of the regions that could be parts, in program order."""
        return cls(
            choices, {each: choices.next_site(SiteKind.PLACE, _digest(each)) for each in possible}
        )

    def wants(self, fused: nn.FusedOp, word: str) -> bool:
        """Return whether `PART` or `KERNEL` is demanded or recorded for a region."""
        site = self.sites.get(fused)
        return site is not None and self.choices.preferred(site, _WORDS) == StringAttr(word)

    def offer_kernel(self, fused: nn.FusedOp, saving: Saving, ops: Iterable[Operation]) -> None:
        """Offer a kernel for a region that is a part."""
        self.choices.offer(self.sites[fused], StringAttr(KERNEL), saving, ops, node_name(fused))

    def note(self, parts: Container[nn.FusedOp]) -> None:
        """Note which regions became parts. Raise CloptError if that is not as demanded."""
        for fused, site in self.sites.items():
            word, nodes = StringAttr(PART if fused in parts else KERNEL), node_name(fused)
            demanded = self.choices.demanded(site)
            if demanded not in (None, *_WORDS):
                raise self.choices.refused(site, nodes, f"it is {PART} or {KERNEL}")
            if demanded not in (None, word):
                raise self.choices.refused(site, nodes, "with the other demands, it has no place")
            self.choices.note(site, word, nodes, _reason, possible=_WORDS)


def _reason() -> Reason:
    return Reason(times={PART: None, KERNEL: None})


def _digest(fused: nn.FusedOp) -> str:
    return structure_digest(fused.body.block.args, fused.body.block.ops)
