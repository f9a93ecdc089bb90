"""The table of facts that an accelerator adds to a target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from .facts import Declaration, Fact, FactTable, checked, defaults

if TYPE_CHECKING:
    from .target import Target

MODES = ("off", "auto", "prefer")
"""When to offload: never, if the cost model favours it, or wherever the accelerator can."""

_MODE = Declaration(choices=MODES)


@dataclass(frozen=True)
class AcceleratorFacts(FactTable):
    """The facts of a target about one accelerator: one field per fact, with its default.

    The first field is named after the accelerator and holds the mode, one of `MODES`, `off` by
    default. The names of the other fields begin with that name. A string below each field
    documents it.
    """

    READS_QUANTIZED: ClassVar[bool] = False
    """Whether it accepts products between `nn.dequantize` and `nn.quantize`; passes then keep this
    form until it has claimed its graphs."""
    NEEDS_SHIFTS: ClassVar[bool] = False
    """Whether its scales are powers of two; `nn-quantize` then uses no other scales."""

    def __post_init__(self) -> None:
        """Raise ValueError if a fact is out of its range."""
        super().__post_init__()
        self.check(vars(self))

    def check(self, facts: Mapping[str, Any]) -> None:
        """Raise ValueError if a fact is out of its range; subclasses extend this."""
        mode = fields(self)[0].name
        _MODE.check(mode, facts[mode])

    @property
    def mode(self) -> str:
        """The first fact, one of `MODES`."""
        return getattr(self, fields(self)[0].name)

    @classmethod
    def from_table(cls, table: Mapping[str, Any], folder: Path) -> dict[str, Any]:
        """Return the facts in a table of a target file; `folder` is the folder of the file.

        Keys are fact names without the accelerator's name, or `mode`. Raises ValueError for other
        keys.
        """
        names = {key_of(cls, name): name for name in defaults(cls)}
        for key in table:
            if key not in names:
                first = fields(cls)[0].name
                raise ValueError(f'[{first}] has no key "{key}"; it has {", ".join(names)}')
        return {names[key]: value for key, value in table.items()}

    @classmethod
    def of(cls, target: Target) -> Self:
        """Return these facts of a target; raise ValueError if a value is out of range."""
        facts = {name: value for name, value in target.accelerators if name in defaults(cls)}
        return cls(**{name: checked(cls, name, value) for name, value in facts.items()})


def key_of(table: type[AcceleratorFacts], name: str) -> str:
    """Return the key of a fact in the table of a file."""
    first = fields(table)[0].name
    return "mode" if name == first else name.removeprefix(f"{first}_")


def raw_facts(accelerator: str, table: Mapping[str, Any]) -> dict[str, Fact]:
    """Return the facts in the table of an accelerator that may not be installed, unchecked."""
    return {f"{accelerator}_{key}".removesuffix("_mode"): value for key, value in table.items()}
