"""What a scheduled kernel does: the description from which its time is estimated."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum


class AccessSpace(Enum):
    """The memory that an access goes to."""

    GLOBAL = "global"
    TEXTURE = "texture"
    LOCAL = "local"
    PRIVATE = "private"
    """An array of a work-item whose indices are not constants after unrolling: its stack."""


class LanePattern(Enum):
    """The elements that the lanes of one vector access."""

    SCALAR = "scalar"
    """One element, for all lanes."""
    CONTIGUOUS = "contiguous"
    EVERY_OTHER = "every other"
    SCATTERED = "scattered"


@dataclass(frozen=True)
class ArithmeticWork:
    """Equal instructions of a phase."""

    count: int
    """Instructions in one iteration."""
    lanes: int
    """Lanes of the vectors that they compute."""
    slots: float
    """Issue slots of each, relative to a multiply-add."""
    is_function: bool
    """Whether it is a division, a root or a function; some devices have units for these."""


@dataclass(frozen=True)
class MemoryAccess:
    """Equal loads or stores of a phase."""

    count: int
    """Instructions in one iteration."""
    lanes: int
    pattern: LanePattern
    space: AccessSpace
    is_store: bool
    neighbour: int | None
    """Elements between the accesses of neighbouring work-items; None if the distance varies."""
    element_bytes: int


@dataclass
class LoopPhase:
    """The instructions in one iteration of a serial loop, or of a work-item outside of its loops.

    Unrolled loops are expanded. Instructions that do not depend on a loop are in the phase around
    it, as compilers hoist them.
    """

    times: int = 1
    """Iterations in one work-item."""
    is_loop: bool = False
    arithmetic: list[ArithmeticWork] = field(default_factory=list[ArithmeticWork])
    accesses: list[MemoryAccess] = field(default_factory=list[MemoryAccess])
    chain: float = 0.0
    """Dependent additions on the longest path through an iteration."""
    barriers: int = 0


class LoopLevel(Enum):
    """The place of a loop in the launch."""

    GROUP = "group"
    """Over work-groups."""
    ITEM = "item"
    """Over the work-items of a group."""
    INNER = "inner"
    """Inside of a work-item."""


@dataclass(frozen=True)
class StreamAxis:
    """A loop around an access: its iterations, and the elements by which each moves the address."""

    size: int
    step: int | None
    """None where the address is no linear function of the loop."""
    level: LoopLevel


@dataclass(frozen=True)
class BufferStream:
    """The elements of a buffer that one load or store of the kernel accesses in all iterations."""

    buffer: int
    """Equal for streams of one buffer."""
    buffer_bytes: int
    element_bytes: int
    axes: tuple[StreamAxis, ...]
    """The loops around it, outermost first."""
    loops: tuple[int, ...]
    """Numbers of these loops, equal for those that streams share."""
    is_store: bool


@dataclass
class LaunchWork:
    """What one launch of a kernel does."""

    groups: int
    """Work-groups."""
    group_items: int
    """Work-items of a group."""
    phases: list[LoopPhase]
    streams: list[BufferStream]
    private_bytes: int
    """Bytes of a work-item's arrays that fit into registers: their indices are constants."""
