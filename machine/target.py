"""The device that a module is compiled for, as a value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any

from ..messages.printable import printable
from ..messages.sentences import did_you_mean
from .accelerator import AcceleratorFacts
from .compiler import CompilerFacts
from .device import DeviceFacts
from .facts import Fact, FactTable, checked, defaults
from .machine import MachineFacts
from .policy import PolicyFacts

TEXEL = 4
"""Elements of a texel: images are RGBA."""

# Images up to a quarter slower than buffers pay off: their units compute addresses and borders.
_AFFORDABLE_IMAGE_COST = 1.25

PARTS: Mapping[str, type[FactTable]] = {
    "device": DeviceFacts,
    "machine": MachineFacts,
    "compiler": CompilerFacts,
    "policy": PolicyFacts,
}
"""The tables of a target's file. The name of a fact is unique over all of them."""


@dataclass(frozen=True)
class Target:
    """The facts about an OpenCL device that passes read; the defaults suit any CPU.

    No pass probes hardware: the same module and the same target give the same bytes.
    """

    name: str = "generic"
    device: DeviceFacts = field(default_factory=DeviceFacts)
    machine: MachineFacts = field(default_factory=MachineFacts)
    compiler: CompilerFacts = field(default_factory=CompilerFacts)
    policy: PolicyFacts = field(default_factory=PolicyFacts)
    accelerators: tuple[tuple[str, Fact], ...] = ()
    """Facts of accelerators that differ from their defaults, by name. `AcceleratorFacts.of(target)`
    reads them."""

    @cached_property
    def facts(self) -> Mapping[str, Fact]:
        """All facts by name: those of the four parts, then those of accelerators."""
        own = {name: value for part in PARTS for name, value in getattr(self, part).items()}
        return {**own, **dict(self.accelerators)}

    @property
    def uses_textures(self) -> bool:
        """Whether values between kernels lie in images where they fit."""
        texture = self.policy.texture
        affordable = self.machine.image_cost <= _AFFORDABLE_IMAGE_COST
        return self.device.images and (texture == "prefer" or (texture == "auto" and affordable))

    @property
    def lanes(self) -> int:
        """Elements in a block of a packed axis: a texel or a CPU vector; 0 if values stay plain."""
        if self.uses_textures:
            return TEXEL
        width = self.machine.vector_width
        is_packing = self.device.device_type == "cpu" and self.policy.blocks != "off" and width > 1
        return width if is_packing else 0

    @classmethod
    def from_facts(
        cls,
        name: str,
        facts: Mapping[str, Any],
        tables: Iterable[type[AcceleratorFacts]] = (),
    ) -> Target:
        """Return a target with `facts`, and defaults for the rest.

        Raises ValueError as `with_facts` does.
        """
        return cls(name).with_facts(facts, tables)

    def with_facts(
        self, facts: Mapping[str, Any], tables: Iterable[type[AcceleratorFacts]] = ()
    ) -> Target:
        """Return this target with some facts replaced, of its parts or of accelerators' `tables`.

        Raises ValueError if a name is not a fact or a value is out of range.
        """
        known = part_facts()
        parts: dict[str, dict[str, Any]] = {part: {} for part in PARTS}
        others: dict[str, Any] = {}
        for name, value in facts.items():
            if name in known:
                parts[known[name]][name] = checked(PARTS[known[name]], name, value)
            else:
                others[name] = value
        changed: dict[str, Any] = {
            part: replace(getattr(self, part), **values) for part, values in parts.items() if values
        }
        return replace(self, **changed, accelerators=self._merged(others, [*tables]))

    def _merged(
        self, facts: Mapping[str, Any], tables: list[type[AcceleratorFacts]]
    ) -> tuple[tuple[str, Fact], ...]:
        """Return the accelerators' facts with some replaced; raise ValueError for unknown names."""
        merged: dict[str, Any] = {**dict(self.accelerators), **facts}
        table_of = {name: table for table in tables for name in defaults(table)}
        # Without tables, facts from the text of a module stay unchecked.
        for name in merged if tables else facts:
            if name not in table_of:
                raise ValueError(no_fact(name, [*part_facts(), *table_of]))
        for name, table in table_of.items():
            # Sorted and without defaults, so that equal facts make equal targets.
            if name in merged:
                merged[name] = checked(table, name, merged[name])
                if merged[name] == defaults(table)[name]:
                    del merged[name]
        result = tuple(sorted(merged.items()))
        for table in tables:
            table.of(replace(self, accelerators=result))
        return result


def no_fact(name: str, known: Iterable[str]) -> str:
    """Return the message for a name that is not a `known` fact."""
    remedy = did_you_mean(name, known, "docs/targets.md lists the facts", most=3)
    return f'"{printable(name)}" is not a fact of a target; {remedy}'


@cache
def part_facts() -> Mapping[str, str]:
    """Map each fact of the four parts, in order, to the name of its part."""
    return {name: part for part, table in PARTS.items() for name in defaults(table)}
