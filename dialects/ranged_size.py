"""The global size of a launch that serves smaller sizes of a model's symbol, without IR."""

from __future__ import annotations

from typing import NamedTuple


class RangedSize(NamedTuple):
    """`step * ceildiv(factor * s + offset, divisor)`, for a symbol of value s."""

    step: int
    factor: int
    offset: int
    divisor: int

    @classmethod
    def fixed(cls, size: int) -> RangedSize:
        """Return a size that does not depend on the symbol."""
        return cls(size, 0, 1, 1)

    def at(self, value: int) -> int:
        """Return the size for a value of the symbol."""
        return self.step * -(-(self.factor * value + self.offset) // self.divisor)
