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

# Up to this cost an image is the better memory: its unit computes addresses and borders.
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
    """Facts about an OpenCL device that lowering and scheduling read; the defaults fit any CPU.

    No pass probes hardware: the same module and the same target give the same bytes.
    """

    name: str = "generic"
    device: DeviceFacts = field(default_factory=DeviceFacts)
    machine: MachineFacts = field(default_factory=MachineFacts)
    compiler: CompilerFacts = field(default_factory=CompilerFacts)
    policy: PolicyFacts = field(default_factory=PolicyFacts)
    accelerators: tuple[tuple[str, Fact], ...] = ()
    """Facts of accelerators by name, those that differ from their defaults. Their own table reads
    them: `AcceleratorFacts.of(target)`."""

    @cached_property
    def facts(self) -> Mapping[str, Fact]:
        """All facts by name: those of the four parts, then those of accelerators."""
        own = {name: value for part in PARTS for name, value in getattr(self, part).items()}
        return {**own, **dict(self.accelerators)}

    @property
    def uses_textures(self) -> bool:
        """Whether values between kernels lie in images where they fit.

        Never on a device without images. With `texture="auto"`, where reading an image costs at
        most a quarter more than reading a buffer: what its unit saves, guards at borders above
        all, is worth that much.
        """
        texture = self.policy.texture
        affordable = self.machine.image_cost <= _AFFORDABLE_IMAGE_COST
        return self.device.images and (texture == "prefer" or (texture == "auto" and affordable))

    @property
    def lanes(self) -> int:
        """Elements of a block of a packed axis: a texel's, or those of a CPU's vector.

        0 where values between kernels stay plain.
        """
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
        """Return a target with `facts` and else the defaults; ValueError for what is not a fact."""
        return cls(name).with_facts(facts, tables)

    def with_facts(
        self, facts: Mapping[str, Any], tables: Iterable[type[AcceleratorFacts]] = ()
    ) -> Target:
        """Return this target with other `facts`, of the four parts or of accelerators' `tables`.

        Raises ValueError for a name that is not a fact, and for a value that is out of range.
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
        """Return the accelerators' facts with others; ValueError for one that no table has."""
        merged: dict[str, Any] = {**dict(self.accelerators), **facts}
        table_of = {name: table for table in tables for name in defaults(table)}
        # Without tables the facts of a module's text stay as they are, for others to check.
        for name in merged if tables else facts:
            if name not in table_of:
                raise ValueError(no_fact(name, [*part_facts(), *table_of]))
        for name, table in table_of.items():
            # In one order and without defaults, so that equal facts are equal targets.
            if name in merged:
                merged[name] = checked(table, name, merged[name])
                if merged[name] == defaults(table)[name]:
                    del merged[name]
        result = tuple(sorted(merged.items()))
        for table in tables:
            table.of(replace(self, accelerators=result))
        return result


def no_fact(name: str, known: Iterable[str]) -> str:
    """Return what is wrong with the name of a fact that is none of the `known` ones."""
    remedy = did_you_mean(name, known, "docs/targets.md lists the facts", most=3)
    return f'"{printable(name)}" is no fact of a target; {remedy}'


@cache
def part_facts() -> Mapping[str, str]:
    """Return the facts of the four parts, in order, with the part of each."""
    return {name: part for part, table in PARTS.items() for name in defaults(table)}
