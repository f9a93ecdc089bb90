"""CLML as an accelerator for `nn-choose`."""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar

from xdsl.dialects import func

from ....dialects import cl, clml
from ....dialects.clml.facts import CLMLFacts
from ....weights import Weights
from ..offload.accelerator import Accelerator
from ..offload.matches import Match, Matches
from ..offload.regions import Region
from .cost import CommandCosts
from .graphs import outline
from .matching import CLMLMatch, find_matches


class CLML(Accelerator):
    """CLML: its matches, their costs and the graphs made from them."""

    name: ClassVar[str] = "clml"
    title: ClassVar[str] = clml.GraphOp.ACCELERATOR
    producer_reason: ClassVar[str] = (
        "CLML pads results of operations in the same graph, not inputs of the graph"
    )

    def absence(self, target: cl.Target) -> str:
        if CLMLFacts.of(target).clml_version:
            return ""
        return (
            f"clml=prefer needs a device with CLML, and {target.name} has none; name another "
            "target, for example adreno-740, set the version that the device has "
            "(clml_version=3), or use the reference library (clopt-run --accelerator "
            "clml=reference)."
        )

    def find_matches(self, function: func.FuncOp, target: cl.Target, weights: Weights) -> Matches:
        return find_matches(function, target, weights)

    def microseconds(self, match: Match, target: cl.Target) -> float:
        assert isinstance(match, CLMLMatch)
        return sum(map(_costs(target).command, match.commands))

    def copy_microseconds(self, size: int, target: cl.Target) -> float:
        return _costs(target).copy(size)

    def outline(
        self, region: Region, name: str, weights: Weights
    ) -> tuple[clml.GraphOp, clml.CallOp]:
        return outline(region, name, weights)


@lru_cache(maxsize=16)
def _costs(target: cl.Target) -> CommandCosts:
    return CommandCosts(target)
