"""Properties of operations that passes query: the role in a kernel, and storage as f16."""

from __future__ import annotations

from enum import Enum, auto
from typing import Protocol

from xdsl.ir import Operation, SSAValue


class Role(Enum):
    """The role of an operation in its kernel; fusion and layouts follow from it."""

    ELEMENTWISE = auto()
    """Each result element depends on one element of each operand, at the same (broadcast) index."""
    INDEX = auto()
    """Each result element is one operand element at another index."""
    WINDOW = auto()
    """Reads several operand elements per result: starts a kernel and inlines cheap producers."""
    CONTRACTION = auto()
    """Reads each operand element many times, so its operands should be in memory."""
    PIECES = auto()
    """Stores its operands piece by piece: a separate kernel with inlined producers."""

    @property
    def starts_kernel(self) -> bool:
        """Return whether such an operation has its own stages; a kernel has at most one."""
        return self in (Role.WINDOW, Role.CONTRACTION, Role.PIECES)


class HalfRule(Enum):
    """How an operation of f32 tensors behaves in a network that stores f16."""

    ROUNDS = auto()
    """Rounds its operands to f16: it reads each many times, so their size determines its time."""
    FOLLOWS = auto()
    """Stores f16 if all computed operands are f16; casting an operand for it does not pay off."""
    JOINS = auto()
    """Stores f16 if one computed operand is f16, as it only joins operands."""
    SINGLE = auto()
    """Stores f32: its result may overflow f16, or small differences change a decision."""


class Zeros(Protocol):
    """Knowledge about zeros beyond the extents of tensors, in the tails of packed layouts.

    All numbers are assumed finite: a product with zero is zero.
    """

    def is_zero(self, value: SSAValue, axis: int) -> bool:
        """Return whether a tensor is zero beyond the extent of one of its axes."""
        ...

    def linked_zero(self, op: Operation, axis: int, operand: SSAValue) -> bool:
        """Return whether an operand is zero wherever the tail of a result axis reads it."""
        ...
