"""The table of facts that an accelerator adds to a target."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from .facts import Fact, FactTable, checked, defaults

if TYPE_CHECKING:
    from .target import Target

MODES = ("off", "auto", "prefer")
"""Who computes what: never the accelerator, as costs say, or the accelerator wherever it can."""


@dataclass(frozen=True)
class AcceleratorFacts(FactTable):
    """The facts of a target about one accelerator: a field for each, with its default.

    The first is called like the accelerator; it is the mode, one of `MODES`, by default `off`. The
    names of the others begin with it. A string under each field says what it means.
    """

    READS_QUANTIZED: ClassVar[bool] = False
    """Whether it takes products between `nn.dequantize` and `nn.quantize`, which then wait for it
    in this form."""
    NEEDS_SHIFTS: ClassVar[bool] = False
    """Whether its scales are powers of two; `nn-quantize` then makes no others in a network."""

    def __post_init__(self) -> None:
        """Refuse values outside of their ranges by a ValueError."""
        super().__post_init__()
        self.check(vars(self))

    def check(self, facts: Mapping[str, Any]) -> None:
        """Refuse values by a ValueError; a class that adds to this calls it."""
        require_choice(facts, fields(self)[0].name, MODES)

    @property
    def mode(self) -> str:
        """The first fact, one of `MODES`."""
        return getattr(self, fields(self)[0].name)

    @classmethod
    def from_table(cls, table: Mapping[str, Any], folder: Path) -> dict[str, Any]:
        """Return the facts in a table of a target's file, whose folder is `folder`.

        A key is a fact without the accelerator's name, or `mode`. ValueError for another.
        """
        names = {key_of(cls, name): name for name in defaults(cls)}
        for key in table:
            if key not in names:
                first = fields(cls)[0].name
                raise ValueError(f'[{first}] has no key "{key}"; it has {", ".join(names)}')
        return {names[key]: value for key, value in table.items()}

    @classmethod
    def of(cls, target: Target) -> Self:
        """Return these facts of a target; ValueError for values that are out of range."""
        facts = {name: value for name, value in target.accelerators if name in defaults(cls)}
        return cls(**{name: checked(cls, name, value) for name, value in facts.items()})


def key_of(table: type[AcceleratorFacts], name: str) -> str:
    """Return the key of a fact in the table of a file."""
    first = fields(table)[0].name
    return "mode" if name == first else name.removeprefix(f"{first}_")


def raw_facts(accelerator: str, table: Mapping[str, Any]) -> dict[str, Fact]:
    """Return the facts in the table of an accelerator that may not be installed, unchecked."""
    return {f"{accelerator}_{key}".removesuffix("_mode"): value for key, value in table.items()}


def require_choice(facts: Mapping[str, Any], name: str, choices: Sequence[str]) -> None:
    """Refuse a fact that is none of `choices`."""
    if facts[name] not in choices:
        names = " or ".join(f'"{choice}"' for choice in choices)
        raise ValueError(f'{name} is {names}, not "{facts[name]}"')


def require_positive(facts: Mapping[str, Any], *names: str) -> None:
    """Refuse numbers that are not above zero, or not finite."""
    for name in names:
        if not 0 < facts[name] < math.inf:
            raise ValueError(f"{name} is a positive number, not {facts[name]}")


def require_from_zero(facts: Mapping[str, Any], *names: str) -> None:
    """Refuse numbers below zero, or not finite."""
    for name in names:
        if not 0 <= facts[name] < math.inf:
            raise ValueError(f"{name} is a number from 0, not {facts[name]}")
