"""Properties of operations that passes ask for: the role in a kernel, the storage as half."""

from __future__ import annotations

from enum import Enum, auto
from typing import Protocol

from xdsl.ir import Operation, SSAValue


class Role(Enum):
    """The role of an operation in its kernel, from which fusion and layouts follow."""

    ELEMENTWISE = auto()
    """Each result element comes from one element of each operand, at the same (broadcast) index."""
    INDEX = auto()
    """Each result element is one operand element at another index."""
    WINDOW = auto()
    """Reads several operand elements per result: it starts a kernel, and inlines cheap producers.
    """
    CONTRACTION = auto()
    """Reads each operand element many times: its operands should be in memory."""
    PIECES = auto()
    """Stores its operands piece by piece: a kernel of its own, producers inlined."""

    @property
    def starts_kernel(self) -> bool:
        """Whether such an operation has its own stages; a kernel has at most one of them."""
        return self in (Role.WINDOW, Role.CONTRACTION, Role.PIECES)


class HalfRule(Enum):
    """The behaviour of an operation of f32 tensors in a network that stores halves."""

    ROUNDS = auto()
    """Rounds its operands to half: it reads each many times, so their size is its time."""
    FOLLOWS = auto()
    """Stores half if all of its computed operands are half; it is not worth a cast of one in f32.
    """
    JOINS = auto()
    """Stores half if one of its computed operands is half: it only brings them together."""
    SINGLE = auto()
    """Stores f32: its result may leave the range of half, or small differences change a decision.
    """


class Zeros(Protocol):
    """The zeros beyond the extents of tensors, where packed layouts have tails.

    Numbers are taken to be finite: a product with zero is zero.
    """

    def is_zero(self, value: SSAValue, axis: int) -> bool:
        """Whether a tensor is zero beyond the extent of one of its axes."""
        ...

    def linked_zero(self, op: Operation, axis: int, operand: SSAValue) -> bool:
        """Whether an operand is zero where the operation reads it for elements beyond the extent of
        the result's axis.
        """
        ...
