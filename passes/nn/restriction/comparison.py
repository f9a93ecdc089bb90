"""Operations of a smaller and a larger network that are compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from xdsl.ir import Operation

from .parts import Parts


class Compare(Protocol):
    """Compares two operations by their naive loop nests."""

    def __call__(self, small: Operation, large: Operation, operands: Parts) -> Parts | None:
        """Return the parts that the results are, for operands with these axes; None if unknown."""
        ...


@dataclass(frozen=True)
class TwoSizes:
    """An operation at two sizes."""

    position: int
    """The position in the network."""
    small: Operation
    large: Operation
    operands: Parts
    """The axes of the operands."""
