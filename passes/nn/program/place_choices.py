"""Choices of places: whether slices and concatenations are parts of other values' memory."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass

from xdsl.dialects.builtin import StringAttr

from ....decisions import Choices, Site, SiteKind
from ....dialects import nn
from ...locations import node_name
from ..structure import structure_digest

PART, KERNEL = "part", "kernel"


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

    def demands(self, fused: nn.FusedOp, word: str) -> bool:
        """Return whether the module demands `PART` or `KERNEL` for a region."""
        site = self.sites.get(fused)
        return site is not None and self.choices.demanded(site) == StringAttr(word)

    def note(self, parts: Container[nn.FusedOp]) -> None:
        """Note which regions became parts. Raise CloptError if that is not as demanded."""
        for fused, site in self.sites.items():
            word, nodes = PART if fused in parts else KERNEL, node_name(fused)
            if self.choices.decide(site, word, (PART, KERNEL), nodes) != word:
                raise self.choices.refused(site, nodes, "with the other demands, it has no place")


def _digest(fused: nn.FusedOp) -> str:
    return structure_digest(fused.body.block.args, fused.body.block.ops)
