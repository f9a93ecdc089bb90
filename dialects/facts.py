"""The facts of a target about an accelerator, and checks of ranges that all facts share."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

if TYPE_CHECKING:
    from .cl.target import Target

MODES = ("off", "auto", "prefer")
"""Who computes what: never the accelerator, as costs say, or the accelerator wherever it can."""


@dataclass(frozen=True)
class AcceleratorFacts:
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
        self.check(vars(self))

    def check(self, facts: Mapping[str, Any]) -> None:
        """Refuse values by a ValueError; a class that adds to this calls it."""
        require_choice(facts, fields(self)[0].name, MODES)

    @classmethod
    def from_table(cls, table: Mapping[str, Any], folder: Path) -> dict[str, Any]:
        """The facts in a table of a target's file, whose folder is `folder`.

        A key is a fact without the accelerator's name, or `mode`. ValueError for another.
        """
        first, *others = (field.name for field in fields(cls))
        names = {"mode": first} | {name.removeprefix(f"{first}_"): name for name in others}
        for key in table:
            if key not in names:
                raise ValueError(f'[{first}] has no key "{key}"; it has {", ".join(names)}')
        return {names[key]: value for key, value in table.items()}

    @classmethod
    def of(cls, target: Target) -> Self:
        """These facts of a target."""
        return cls(**{field.name: target.fact(field.name) for field in fields(cls)})


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
