"""Tables of facts, each declared with a default, a unit and a range of values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, TypeAlias, TypeVar, cast

from ..messages.printable import printable

Fact: TypeAlias = str | bool | int | float

_F = TypeVar("_F", str, bool, int, float)
_KEY = "declaration"

_MOST = 1 << 48
"""No device exceeds this. Larger numbers are mistakes, and sums of them overflow 64 bits."""


@dataclass(frozen=True)
class Declaration:
    """The unit of a fact, and the range of its values."""

    unit: str = ""
    choices: tuple[str, ...] = ()
    least: int | None = None
    most: int = _MOST
    above: int | None = None
    """An exclusive lower bound."""
    power_of_two: bool = False

    def check(self, name: str, value: Any) -> None:
        """Raise ValueError if `value` is out of range."""
        if self.choices and value not in self.choices:
            names = " or ".join(f'"{choice}"' for choice in self.choices)
            raise ValueError(f'{name} must be {names}, not "{value}"')
        if isinstance(value, float):
            self._check_float(name, value)
        elif isinstance(value, int):
            self._check_int(name, value)

    def _check_float(self, name: str, value: float) -> None:
        if self.above is not None and not self.above < value < math.inf:
            raise ValueError(f"{name} must be a positive number, not {value}")
        if self.least is not None and not self.least <= value < math.inf:
            raise ValueError(f"{name} must be a number from {self.least}, not {value}")

    def _check_int(self, name: str, value: int) -> None:
        if self.least is not None and value < self.least:
            raise ValueError(f"{name} must be at least {self.least}, not {value}")
        if not 0 <= value <= self.most:
            whole = "" if self.least is not None else "a whole number from 0 to "
            raise ValueError(f"{name} must be {whole or 'at most '}{self.most}, not {value}")
        if self.power_of_two and value & (value - 1):
            zero = "0 or " if self.least is None else ""
            raise ValueError(f"{name} must be {zero}a power of two, not {value}")


def fact(
    default: _F,
    unit: str = "",
    *,
    choices: tuple[str, ...] = (),
    least: int | None = None,
    most: int = _MOST,
    above: int | None = None,
    power_of_two: bool = False,
) -> _F:
    """Declare a fact of a table: a field with a default, a unit and a range."""
    declaration = Declaration(unit, choices, least, most, above, power_of_two)
    return field(default=default, metadata={_KEY: declaration})


@dataclass(frozen=True)
class FactTable:
    """A table of facts. The string below each field documents it."""

    def __post_init__(self) -> None:
        """Raise ValueError if a fact is out of range."""
        for name, declaration in declarations(type(self)).items():
            declaration.check(name, getattr(self, name))

    def items(self) -> Iterator[tuple[str, Fact]]:
        """Yield each fact with its value."""
        for each in fields(self):
            yield each.name, getattr(self, each.name)


@cache
def declarations(table: type[FactTable]) -> Mapping[str, Declaration]:
    """Return the declarations of a table's facts."""
    return {each.name: each.metadata.get(_KEY, Declaration()) for each in fields(table)}


@cache
def defaults(table: type[FactTable]) -> Mapping[str, Fact]:
    """Return the defaults of a table's facts; they have the types of all values."""
    return {each.name: cast("Fact", each.default) for each in fields(table)}


_KINDS: dict[type[Any], str] = {
    str: "a word",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
}


def checked(table: type[FactTable], name: str, value: Any) -> Fact:
    """Return `value` as the type of a fact of `table`; raise ValueError for other types."""
    expected = type(defaults(table)[name])
    if expected is float and type(value) is int:
        return float(value)
    if type(value) is not expected:
        raise ValueError(f"{name} must be {_KINDS[expected]}, not {printable(repr(value))}")
    return value


def parsed(table: type[FactTable], name: str, text: str) -> Fact:
    """Return `text` as a value of a fact, or unchanged, so that `checked` rejects it."""
    expected = type(defaults(table)[name])
    try:
        if expected is bool:
            return {"true": True, "false": False}.get(text, text)
        return expected(text)
    except ValueError:
        return text
