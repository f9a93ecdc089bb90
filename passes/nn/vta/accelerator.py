"""VTA as an accelerator for `nn-choose`."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects import func

from ....dialects import cl
from ....dialects.vta import BinaryOp, CallOp
from ....dialects.vta.binary import MOST_TENSORS
from ....dialects.vta.facts import VTAFacts
from ....weights import Weights
from ..offload.accelerator import Accelerator
from ..offload.matches import Match, Matches
from ..offload.regions import Region
from .cost import copy_microseconds, layer_microseconds
from .graphs import outline
from .matching import VTAMatch, find_matches, split_dequantizes


class VTA(Accelerator):
    """VTA: its layers, their costs and the graphs made from them."""

    name: ClassVar[str] = "vta"
    title: ClassVar[str] = BinaryOp.ACCELERATOR
    most_tensors: ClassVar[int | None] = MOST_TENSORS - 1  # one holds values between layers

    def absence(self, target: cl.Target) -> str:
        return ""  # clopt's VTA core is an OpenCL kernel, so every device can run it

    def prepare(self, function: func.FuncOp) -> None:
        split_dequantizes(function)

    def find_matches(self, function: func.FuncOp, target: cl.Target, weights: Weights) -> Matches:
        return find_matches(function, VTAFacts.of(target).config, weights)

    def microseconds(self, match: Match, target: cl.Target) -> float:
        assert isinstance(match, VTAMatch)
        return layer_microseconds(match.layer, VTAFacts.of(target))

    def copy_microseconds(self, size: int, target: cl.Target) -> float:
        return copy_microseconds(size, target)

    def outline(self, region: Region, name: str, weights: Weights) -> tuple[BinaryOp, CallOp]:
        first = region.matches[0]
        assert isinstance(first, VTAMatch)
        return outline(region, name, first.config, weights)
