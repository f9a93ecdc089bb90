"""Targets for users: by name or from a file, with the facts of installed accelerators.

Dialects see the facts of accelerators as names and values; this module knows their tables.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, cast

from .accelerators import accelerators
from .errors import CloptError
from .files.reading import read_file
from .machine.accelerator import AcceleratorFacts, key_of
from .machine.compiler import CPU_DOTS, GPU_DOTS
from .machine.facts import Fact, defaults, parsed
from .machine.files import BASE, SUFFIX, flat_facts, named_facts, read_text, target_names
from .machine.soc_names import TARGET_OF_SOC
from .machine.target import PARTS, Target, no_fact, part_facts
from .messages.printable import printable
from .messages.sentences import as_sentence, did_you_mean

__all__ = ["Target", "TargetChoice", "change_facts", "load_target", "target_names"]

_MOST_BYTES = 1 << 18
"""The size limit of a file."""


@cache
def accelerator_tables() -> tuple[type[AcceleratorFacts], ...]:
    """Return the tables of facts of all accelerators."""
    return tuple(row.load("facts") for row in accelerators().values())


@cache
def fact_types() -> Mapping[str, type[Any]]:
    """Return the facts of a target and their types: of its parts, then of accelerators."""
    tables = (*PARTS.values(), *accelerator_tables())
    return {name: type(value) for table in tables for name, value in defaults(table).items()}


def fact_of(name: str, text: str) -> Fact:
    """Return `text` as a value of a fact, or unchanged, so that the target rejects it."""
    tables = (*PARTS.values(), *accelerator_tables())
    return next((parsed(table, name, text) for table in tables if name in defaults(table)), text)


def place_of(name: str) -> tuple[str, str]:
    """Return the table of a fact in a target's file, and its key there."""
    if name in part_facts():
        return part_facts()[name], name
    row, table = next(
        (row, table)
        for row, table in zip(accelerators(), accelerator_tables(), strict=True)
        if name in defaults(table)
    )
    return row, key_of(table, name)


def with_facts(target: Target, facts: Mapping[str, Any]) -> Target:
    """Return `target` with some facts replaced, those of accelerators included.

    Raises ValueError as `Target.with_facts` does.
    """
    return target.with_facts(facts, accelerator_tables())


def offloads_quantized(target: Target) -> bool:
    """Return whether an accelerator may take quantised layers."""
    return any(table.READS_QUANTIZED for table in _tables_in_use(target))


def needs_shifts(target: Target) -> bool:
    """Return whether an accelerator that may take layers has scales of powers of two."""
    return any(table.NEEDS_SHIFTS for table in _tables_in_use(target))


def _tables_in_use(target: Target) -> list[type[AcceleratorFacts]]:
    """Return the tables of the accelerators whose mode is not `off`."""
    modes = dict(target.accelerators)
    return [t for t in accelerator_tables() if modes.get(next(iter(defaults(t))), "off") != "off"]


def multiplies_bytes(target: Target) -> bool:
    """Return whether our kernels multiply the integers of quantised values.

    They do not if an accelerator may take such products, which it finds by their conversions.
    """
    if offloads_quantized(target):
        return False
    dots = target.compiler.dot_product
    if target.device.device_type == "gpu":
        # The instruction multiplies words, which are texels of bytes.
        return dots in GPU_DOTS and target.uses_textures
    return dots in CPU_DOTS and target.machine.vector_width == 16


def load_target(name: str) -> Target:
    """Return the facts of the device or family `name`, without querying any device.

    The name of an SoC, in upper or lower case, means the target of its GPU. A name that ends in
    `.toml` is the path of a file like those of `machine/targets`; its stem names the target. Raises
    CloptError if there is none or it has a mistake.
    """
    if name.endswith(SUFFIX):
        return _load_file(Path(name))
    known = TARGET_OF_SOC.get(name.lower(), name)
    if known not in target_names():
        raise CloptError(
            f'There is no target "{printable(name)}"; '
            + did_you_mean(
                name.lower(),
                [*target_names(), *TARGET_OF_SOC],
                f"use one of {', '.join(target_names())}, the name of an SoC such as "
                f"snapdragon-8-gen-2 or sm8550, or the path of a {SUFFIX} file.",
            )
        )
    return with_facts(Target(known), named_facts(known, partial(_read_table, Path())))


def _load_file(path: Path) -> Target:
    try:
        text = read_file(path, _MOST_BYTES).decode("utf-8")
    except OSError as error:
        raise CloptError(f"{path}: cannot read this target: {error.strerror}.") from error
    except ValueError as error:  # not UTF-8
        raise CloptError(f"{path}: this is not a TOML file: {error}.") from error
    tables = read_text(text, str(path))
    try:
        _check_tables(tables)
        facts = flat_facts(tables, partial(_read_table, path.parent))
        return with_facts(Target(printable(path.stem)), facts)
    except (CloptError, ValueError) as error:
        raise CloptError(f"{path}: {as_sentence(str(error))}") from error


def _check_tables(tables: Mapping[str, Any]) -> None:
    """Raise CloptError if a fact is in the wrong table."""
    for name, value in tables.items():
        if name in PARTS and isinstance(value, dict):
            strays = [
                key for key in cast("dict[str, Any]", value) if key not in defaults(PARTS[name])
            ]
        else:
            strays = [] if name == BASE or isinstance(value, dict) else [name]
        for stray in strays:
            if stray not in fact_types():
                raise CloptError(no_fact(stray, fact_types()))
            table, key = place_of(stray)
            raise CloptError(f"{stray} belongs below the line [{table}], as {key}.")


def _read_table(folder: Path, name: str, table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts in the table of an accelerator."""
    rows = accelerators()
    if name not in rows:
        raise CloptError(
            f'A target has no table "{printable(name)}"; its tables are {", ".join(PARTS)} and '
            f"those of accelerators, {', '.join(rows)}."
        )
    return rows[name].load("facts").from_table(table, folder)


_PATH = re.compile(rf".*?{re.escape(SUFFIX)}(?=[\s,]|$)", re.S)


@dataclass(frozen=True)
class TargetChoice:
    """A user's choice of a target: a name, a file or neither, and facts to replace."""

    name: str | None
    facts: Mapping[str, Fact]

    @classmethod
    def parse(cls, text: str) -> TargetChoice:
        """Read `NAME`, `NAME FACT=VALUE ...` or `FACT=VALUE ...`; spaces or commas separate.

        A name that ends in `.toml` is the path of a file. Raises CloptError for a second name.
        """
        words = _words(text.strip(" ,\t\n"))
        names = [word for word in words if "=" not in word or word.endswith(SUFFIX)]
        if names != words[: len(names)] or len(names) > 1:
            raise CloptError(
                f'"{printable(text)}" is not a target: write one name, facts such as '
                "texture=prefer, or a name and then facts."
            )
        pairs = (word.partition("=") for word in words[len(names) :])
        facts = {key: fact_of(key, value) for key, _, value in pairs}
        return cls(names[0] if names else None, facts)

    def load(self) -> Target | None:
        """Return the named target with these facts, or None without a name."""
        return None if self.name is None else self.change(load_target(self.name))

    def change(self, target: Target) -> Target:
        """Return `target` with these facts; raise CloptError for unknown facts or wrong values."""
        return change_facts(target, self.facts)


def change_facts(target: Target, facts: Mapping[str, Fact]) -> Target:
    """Return `target` with some facts replaced.

    Raises CloptError for unknown facts, wrong values, and `texture=prefer` without images.
    """
    try:
        changed = with_facts(target, facts)
    except ValueError as error:
        raise CloptError(as_sentence(str(error))) from error
    if facts.get("texture") == "prefer" and not changed.device.images:
        raise CloptError(
            f"texture=prefer needs a device with images, and {target.name} has none; name another "
            "target, for example adreno-740."
        )
    return changed


def _words(text: str) -> list[str]:
    """Return the words of a choice, without separators; only a path may contain separators."""
    path = _PATH.match(text)
    if path is None:
        return re.split(r"[\s,]+", text)
    return [path[0], *re.findall(r"[^\s,]+", text[path.end() :])]
