"""The search space of a rule for a kernel: its parameters and their domains of legal values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import permutations
from random import Random
from typing import Generic, Protocol, TypeAlias, TypeVar, cast

from ....dialects import cl

Value: TypeAlias = int | str | tuple[int, ...]
"""A number, a word, or several numbers (variables of the kernel, or sizes along x, y and z)."""

Structure = TypeVar("Structure")
_Model = TypeVar("_Model")


class ValueKind(Enum):
    """The type of a parameter's values."""

    NUMBER = "number"
    WORD = "word"
    NUMBERS = "numbers"

    def holds(self, value: Value) -> bool:
        """Return whether a value has this type."""
        return (
            type(value)
            is {ValueKind.NUMBER: int, ValueKind.WORD: str, ValueKind.NUMBERS: tuple}[self]
        )


@dataclass(frozen=True)
class Parameter:
    """A decision that a rule declares, independent of the kernel and the target."""

    name: str
    kind: ValueKind
    meaning: str
    when: str = ""
    """The kernels and devices that have it; empty if all do."""
    absent: Value | None = None
    """The value that stands for its absence, which plans leave out."""
    repeated: bool = False
    """Whether a kernel has one for each of its pieces: `width`, `width_1`, `width_2`."""

    def declares(self, name: str) -> bool:
        """Return whether `name` is this parameter, or one of its repetitions."""
        if name == self.name:
            return True
        return self.repeated and re.fullmatch(rf"{self.name}_[1-9][0-9]*", name) is not None

    @property
    def shown_name(self) -> str:
        """The name, with dots if a kernel has one for each piece."""
        return f"{self.name}, {self.name}_1, ..." if self.repeated else self.name

    def at(self, piece: int) -> str:
        """Return the parameter's name for a piece of the kernel."""
        return self.name if piece == 0 else f"{self.name}_{piece}"


def number(
    name: str, meaning: str, *, when: str = "", absent: int | None = None, repeated: bool = False
) -> Parameter:
    """Declare a parameter that is a number."""
    return Parameter(name, ValueKind.NUMBER, meaning, when, absent, repeated)


def numbers(
    name: str,
    meaning: str,
    *,
    when: str = "",
    absent: tuple[int, ...] | None = None,
    repeated: bool = False,
) -> Parameter:
    """Declare a parameter that is several numbers."""
    return Parameter(name, ValueKind.NUMBERS, meaning, when, absent, repeated)


def word(name: str, meaning: str) -> Parameter:
    """Declare a parameter that is a word."""
    return Parameter(name, ValueKind.WORD, meaning)


@dataclass(frozen=True)
class Params:
    """A value for each parameter of a space, by name: a point of the space."""

    values: Mapping[str, Value]

    def number(self, name: str) -> int:
        """Return the value of a parameter that is a number."""
        value = self.values[name]
        assert isinstance(value, int)
        return value

    def numbers(self, name: str) -> tuple[int, ...]:
        """Return the value of a parameter that is several numbers."""
        value = self.values[name]
        assert isinstance(value, tuple)
        return value

    def word(self, name: str) -> str:
        """Return the value of a parameter that is a word."""
        value = self.values[name]
        assert isinstance(value, str)
        return value


class Domain(Protocol):
    """The values that a parameter can take; as text it continues the sentence "it is"."""

    def __contains__(self, value: object) -> bool: ...
    def __iter__(self) -> Iterator[Value]: ...
    def __str__(self) -> str: ...
    def sample(self, rng: Random) -> Value | None:
        """Return a value drawn uniformly, without listing the domain; None if it is empty."""


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

    def sample(self, rng: Random) -> int | None:
        """Return one of the numbers."""
        return rng.randint(self.low, self.high) if self.low <= self.high else None


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

    def sample(self, rng: Random) -> Value | None:
        """Return one of the values."""
        return rng.choice(self.values) if self.values else None


@dataclass(frozen=True)
class Permutation:
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

    def sample(self, rng: Random) -> tuple[int, ...]:
        """Return one of the orders."""
        return tuple(rng.sample(range(self.count), self.count))


AnyDomain: TypeAlias = Domain | Callable[[Params], Domain]
"""A domain, or a function that gives it for the values of the parameters before."""

Domains: TypeAlias = Mapping[str, AnyDomain]
"""The domains of a kernel's parameters by name, in the order of their decisions."""


@dataclass(frozen=True)
class Decision:
    """A parameter that a kernel has on a target, with its domain there."""

    name: str
    parameter: Parameter
    domain: AnyDomain

    def domain_at(self, params: Params) -> Domain:
        """Return the domain where the parameters before this one have these values."""
        return self.domain(params) if callable(self.domain) else self.domain


@dataclass(frozen=True, eq=False)
class Space(Generic[Structure]):
    """The legal points of a rule for a kernel on a target."""

    decisions: Sequence[Decision]
    structure: Structure
    """The structure that the rule found in the kernel."""
    target: cl.Target
    _models: dict[object, object] = field(default_factory=dict[object, object])

    def model(self, make: Callable[[Structure, cl.Target], _Model]) -> _Model:
        """Return `make(structure, target)`, made once so that it can cache results."""
        if make not in self._models:
            self._models[make] = make(self.structure, self.target)
        return cast("_Model", self._models[make])

    def completed(self, params: Params) -> Params:
        """Return the point of a plan, which leaves out parameters that are absent."""
        absent = {
            each.name: each.parameter.absent
            for each in self.decisions
            if each.parameter.absent is not None
        }
        return Params({**absent, **params.values})

    def fault(self, params: Params) -> str | None:
        """Return why `params` is not a point of the space, as a clause, or None."""
        params = self.completed(params)
        names = [decision.name for decision in self.decisions]
        if set(names) != set(params.values):
            return f"its parameters are {_listed(names)}, not {_listed(params.values)}"
        for decision in self.decisions:
            value, domain = params.values[decision.name], decision.domain_at(params)
            if value not in domain:
                return f"its {decision.name} is {domain}, not {text_of(value)}"
        return None

    def nearest(self, wanted: Params) -> Params:
        """Return a point with the wanted values, or if there is none, with values close to them.

        A parameter that `wanted` does not have can take any value. The space is not empty.
        """
        return next(self._points({}, 0, wanted.values))

    @property
    def is_empty(self) -> bool:
        """Whether there is no point."""
        return next(self.points(), None) is None

    def points(self) -> Iterator[Params]:
        """Yield all points, the last parameter changing fastest."""
        yield from self._points({}, 0, {})

    def _points(
        self, chosen: dict[str, Value], position: int, wanted: Mapping[str, Value]
    ) -> Iterator[Params]:
        """Yield the points with these values of the first parameters, those near `wanted` first."""
        if position == len(self.decisions):
            yield Params(dict(chosen))
            return
        decision = self.decisions[position]
        values: Iterable[Value] = decision.domain_at(Params(chosen))
        if decision.name in wanted:
            values = sorted(values, key=lambda value: _distance(value, wanted[decision.name]))
        for value in values:
            yield from self._points(chosen | {decision.name: value}, position + 1, wanted)


@dataclass(frozen=True)
class NotApplicable:
    """Why a rule cannot schedule a kernel: a clause about the kernel, without its subject."""

    reason: str


def has_point(domains: Domains) -> bool:
    """Return whether some values lie in all domains."""

    def extend(chosen: dict[str, Value], rest: Sequence[tuple[str, AnyDomain]]) -> bool:
        if not rest:
            return True
        (name, domain), *others = rest
        found = domain(Params(chosen)) if callable(domain) else domain
        return any(extend({**chosen, name: value}, others) for value in found)

    return extend({}, list(domains.items()))


def _distance(a: Value, b: Value) -> int:
    """Return how far two values are apart; for words and tuples only whether they differ."""
    return abs(a - b) if isinstance(a, int) and isinstance(b, int) else int(a != b)


def text_of(value: Value) -> str:
    """Return a value as a plan shows it."""
    return str(list(value)) if isinstance(value, tuple) else str(value)


def _listed(names: Mapping[str, Value] | Sequence[str]) -> str:
    return ", ".join(names) or "none"
