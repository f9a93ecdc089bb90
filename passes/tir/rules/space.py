"""The decisions that a rule leaves open for a kernel: parameters, each with its domain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Generic, Protocol, TypeAlias, TypeVar, cast

Value: TypeAlias = int | str | tuple[int, ...]
"""A number, a word, or a few numbers: of variables of the kernel, or of sizes along x, y, z."""

Facts = TypeVar("Facts")


@dataclass(frozen=True)
class Params:
    """A value for each parameter of a space, by its name: a point of the space."""

    values: Mapping[str, Value]

    def number(self, name: str) -> int:
        value = self.values[name]
        assert isinstance(value, int)
        return value

    def numbers(self, name: str) -> tuple[int, ...]:
        value = self.values[name]
        assert isinstance(value, tuple)
        return value

    def word(self, name: str) -> str:
        value = self.values[name]
        assert isinstance(value, str)
        return value


class Domain(Protocol):
    """The values that a parameter can take; printed as they continue the sentence "it is"."""

    def __contains__(self, value: object) -> bool: ...
    def __iter__(self) -> Iterator[Value]: ...
    def __str__(self) -> str: ...


@dataclass(frozen=True)
class Range:
    """All numbers from `low` to `high`."""

    low: int
    high: int

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int) and self.low <= value <= self.high

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.low, self.high + 1))

    def __str__(self) -> str:
        if self.low >= self.high:
            return str(self.low) if self.low == self.high else "nothing"
        return f"{self.low} to {self.high}"


@dataclass(frozen=True)
class Choice:
    """One of a few values."""

    values: tuple[Value, ...]

    def __contains__(self, value: object) -> bool:
        return value in self.values

    def __iter__(self) -> Iterator[Value]:
        return iter(self.values)

    def __str__(self) -> str:
        *rest, last = map(text_of, self.values) if self.values else ["nothing"]
        return f"{', '.join(rest)} or {last}" if rest else last


@dataclass(frozen=True)
class Order:
    """The numbers below `count`, in any order."""

    count: int

    def __contains__(self, value: object) -> bool:
        if not isinstance(value, tuple):
            return False
        return sorted(cast("tuple[int, ...]", value)) == list(range(self.count))

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        return permutations(range(self.count))

    def __str__(self) -> str:
        return f"an order of {text_of(tuple(range(self.count)))}"


@dataclass(frozen=True)
class Parameter:
    """A decision: its name, what it decides, and its domain.

    A domain may depend on the parameters before this one, of which it is then a function.
    """

    name: str
    meaning: str
    domain: Domain | Callable[[Params], Domain]

    def domain_at(self, params: Params) -> Domain:
        """The domain where the parameters before this one have these values."""
        return self.domain(params) if callable(self.domain) else self.domain


@dataclass(frozen=True)
class Space(Generic[Facts]):
    """The decisions that a rule leaves open for a kernel, and the facts to decide them by."""

    parameters: Sequence[Parameter]
    facts: Facts

    def fault(self, params: Params) -> str | None:
        """Why `params` is no point of the space, as a sentence; None if it is one."""
        names = [parameter.name for parameter in self.parameters]
        if set(names) != set(params.values):
            return f"its parameters are {_listed(names)}, not {_listed(params.values)}"
        for parameter in self.parameters:
            value, domain = params.values[parameter.name], parameter.domain_at(params)
            if value not in domain:
                return f"its {parameter.name} is {domain}, not {text_of(value)}"
        return None

    def nearest(self, wanted: Params) -> Params:
        """A point with the wanted values, or where there is none, with others close to them.

        A parameter that `wanted` does not have can take any value. The space is not empty.
        """
        return next(self._points({}, 0, wanted.values))

    @property
    def is_empty(self) -> bool:
        """Whether there is no point."""
        return next(self.points(), None) is None

    def points(self) -> Iterator[Params]:
        """All points, the last parameter changing fastest."""
        yield from self._points({}, 0, {})

    def _points(
        self, chosen: dict[str, Value], position: int, wanted: Mapping[str, Value]
    ) -> Iterator[Params]:
        """The points with these values of the first parameters, those near `wanted` first."""
        if position == len(self.parameters):
            yield Params(dict(chosen))
            return
        parameter = self.parameters[position]
        values: Iterable[Value] = parameter.domain_at(Params(chosen))
        if parameter.name in wanted:
            values = sorted(values, key=lambda value: _distance(value, wanted[parameter.name]))
        for value in values:
            yield from self._points(chosen | {parameter.name: value}, position + 1, wanted)


@dataclass(frozen=True)
class Misfit:
    """Why a rule cannot schedule a kernel: a sentence about the kernel, without its subject."""

    reason: str


def _distance(a: Value, b: Value) -> int:
    """How far two values are apart; of words and tuples only whether they differ."""
    return abs(a - b) if isinstance(a, int) and isinstance(b, int) else int(a != b)


def text_of(value: Value) -> str:
    """A value as a plan shows it."""
    return str(list(value)) if isinstance(value, tuple) else str(value)


def _listed(names: Mapping[str, Value] | Sequence[str]) -> str:
    return ", ".join(names) or "none"
