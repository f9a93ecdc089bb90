"""The choices that take memory for time, and those that a limit on memory makes otherwise."""

from __future__ import annotations

from collections.abc import Container, Set
from dataclasses import dataclass, field
from enum import Enum


class Means(Enum):
    """A kind of choice by which a plan saves memory and takes more time."""

    TRANSFORMS = "no Winograd"
    """A convolution is computed directly, not by transforms with results for whole maps."""
    LAYOUT = "least layout"
    """A value lies in the layout with the fewest bytes, without tails of blocks and pitch."""
    COPY = "no other layout"
    """A kernel reads its operands as they lie, not copies in other layouts."""
    BORDER = "no border"
    """Loops test for the border of an operand, which has none in memory."""
    PLACE = "no shared place"
    """A slice or a concatenation is a kernel, not a part of the memory of another value."""
    SUMS = "whole sums"
    """One launch computes the sums of a reduction, without parts in memory."""


@dataclass(frozen=True)
class Saving:
    """A choice for one node that saves memory."""

    means: Means
    node: str
    bytes: int = field(compare=False)
    """An estimate of the bytes that it saves while results of the node are live."""
    microseconds: float = field(compare=False)
    """The time that it costs by the model of the target."""

    def helps(self, nodes: Container[str]) -> bool:
        """Whether it saves memory at a command where results of `nodes` are live."""
        # Its bytes belong to the values whose memory the node shares.
        return self.means is Means.PLACE or self.node in nodes


@dataclass
class Thrift:
    """The savings that passes must make, and those that they could make on top."""

    taken: Set[Saving] = frozenset()
    offers: dict[Saving, Saving] = field(default_factory=dict[Saving, Saving])

    def must(self, means: Means, node: str) -> bool:
        """Whether a node must save memory by some means."""
        return Saving(means, node, 0, 0.0) in self.taken

    def offer(self, means: Means, node: str, saved: int, microseconds: float) -> None:
        """Note a saving that a pass did not make; savings by equal means of one node add up."""
        if saved <= 0:
            return
        new = Saving(means, node, saved, max(microseconds, 0.0))
        if (known := self.offers.get(new)) is not None:
            new = Saving(
                means, node, new.bytes + known.bytes, new.microseconds + known.microseconds
            )
        self.offers[new] = new
