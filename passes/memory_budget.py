"""Choices that trade memory for time, and the ones that a memory limit forces the other way."""

from __future__ import annotations

from collections.abc import Container, Set
from dataclasses import dataclass, field
from enum import Enum


class MemorySaving(Enum):
    """A way to trade time for memory; the value names it in remarks."""

    TRANSFORMS = "no Winograd"
    """Compute a convolution directly: Winograd keeps the transforms of whole maps in memory."""
    LAYOUT = "least layout"
    """Store a value in its smallest layout, without padding of blocks and row pitch."""
    COPY = "no other layout"
    """Let a kernel read its operands in their layouts instead of copies in other layouts."""
    BORDER = "no border"
    """Test for the border of an operand in the loops instead of padding it in memory."""
    PLACE = "no shared place"
    """Run a kernel for a slice or a concatenation instead of sharing another value's memory."""
    SUMS = "whole sums"
    """Compute a reduction's sums in one launch, without partial sums in memory."""


@dataclass(frozen=True)
class Saving:
    """A saving of one kind at one node."""

    kind: MemorySaving
    node: str
    bytes: int = field(compare=False)
    """Estimated bytes saved while results of the node are live."""
    microseconds: float = field(compare=False)
    """Estimated extra time, by the target's cost model."""

    def helps(self, nodes: Container[str]) -> bool:
        """Return whether this saves memory at a command where results of `nodes` are live."""
        # A place's bytes belong to the values that share it: `node` itself need not be live.
        return self.kind is MemorySaving.PLACE or self.node in nodes


@dataclass
class MemoryBudget:
    """The savings that a memory limit requires, and further savings that passes offer."""

    taken: Set[Saving] = frozenset()
    offers: dict[Saving, Saving] = field(default_factory=dict[Saving, Saving])

    def must(self, kind: MemorySaving, node: str) -> bool:
        """Return whether `node` must make the saving of this kind."""
        return Saving(kind, node, 0, 0.0) in self.taken

    def offer(self, kind: MemorySaving, node: str, saved: int, microseconds: float) -> None:
        """Record a saving that a pass did not make.

        Offers of one kind for one node add up.
        """
        if saved <= 0:
            return
        new = Saving(kind, node, saved, max(microseconds, 0.0))
        if (old := self.offers.get(new)) is not None:
            new = Saving(kind, node, new.bytes + old.bytes, new.microseconds + old.microseconds)
        self.offers[new] = new
