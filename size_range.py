"""The sizes that an open dimension may have, and the sizes of the programs that serve them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from operator import index
from typing import SupportsIndex, TypeAlias, cast

from .errors import CloptError
from .messages.arguments import type_name
from .messages.printable import printable

Sizes: TypeAlias = "int | tuple[int, int] | tuple[int, int, int]"
"""A size; or the least and the largest, and perhaps the usual one."""

_LEAST_STEP = 8
"""Smaller steps would compile more programs for little work."""

_WANTED = 'dims must be a mapping of names to sizes, for example {"batch": 1}'


@dataclass(frozen=True)
class SizeRange:
    """The least, the largest and the usual size of a dimension; None if they are not known."""

    least: int = 0
    most: int | None = None
    usual: int | None = None

    def check(self, name: str, size: int) -> None:
        """Raise CloptError for a size outside of the range of the dimension `name`."""
        if size < self.least or (self.most is not None and size > self.most):
            raise CloptError(
                f"The dimension {printable(name)} is {size}, but its range is from {self.least} "
                f"to {self.most}."
            )

    def rounded(self, size: int, shares: int = 1) -> int:
        """Return the size of the program that serves `size`.

        It is the next power of two, or the next of so many shares of it, which are at least 8; or
        the usual or largest size if that is less. If the largest size is the usual one, its program
        serves all.
        """
        if size and self.most is not None and self.most == self.usual:
            return self.most
        power = 1 << max(0, size - 1).bit_length()
        step = min(power, max(power // shares, _LEAST_STEP))
        ends = (end for end in (self.usual, self.most) if end is not None and end >= size)
        return min([-(-size // step) * step, *ends]) if size else 0

    def least_rounded(self, size: int, shares: int = 1) -> int:
        """Return the least size, at least 1, that the program for `size` serves."""
        sizes = range(size + 1)
        least = bisect_left(sizes, size, key=lambda each: self.rounded(each, shares))
        return max(1, self.least, least)


def split_dims(dims: object) -> tuple[dict[str, int] | None, dict[str, SizeRange]]:
    """Return the fixed sizes of the argument `dims`, and its ranges.

    Sizes may be of any integer type. Raises CloptError for anything else.
    """
    if dims is None:
        return None, {}
    if not isinstance(dims, Mapping):
        raise CloptError(f"{_WANTED}, not {type_name(dims)}.")
    fixed: dict[str, int] = {}
    ranges: dict[str, SizeRange] = {}
    for name, given in cast("Mapping[object, object]", dims).items():
        sizes = _whole_numbers(given)
        if not isinstance(name, str) or sizes is None:
            raise CloptError(f"{_WANTED}; {name!r}: {given!r} is not a name with a whole number.")
        if isinstance(given, tuple):
            ranges[name] = _range(name, sizes)
        else:
            (fixed[name],) = sizes
    return fixed, ranges


def _whole_numbers(given: object) -> list[int] | None:
    """Return a size, or the members of a tuple of sizes."""
    members = cast("tuple[object, ...]", given) if isinstance(given, tuple) else (given,)
    sizes = [index(each) for each in members if isinstance(each, SupportsIndex)]
    return None if len(sizes) < len(members) or any(each is True for each in members) else sizes


def _range(name: str, sizes: list[int]) -> SizeRange:
    if len(sizes) not in (2, 3) or not 0 <= sizes[0] <= sizes[-1] <= sizes[1] or sizes[1] == 0:
        raise CloptError(
            f"dims gives {printable(name)} the range {tuple(sizes)}; write the least and the "
            "largest size, then perhaps the usual one between them."
        )
    return SizeRange(*sizes)
