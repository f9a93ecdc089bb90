"""Targets by name: a TOML file of facts for each OpenCL device or family of devices.

Nothing here queries a device, so a name means the same facts on every machine.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, TypeAlias

from ..errors import CloptError
from .accelerator import raw_facts
from .target import PARTS, Target, part_facts

BASE = "base"
"""The key of a file that names the target whose facts it inherits."""

SUFFIX = ".toml"

ReadTable: TypeAlias = Callable[[str, Mapping[str, Any]], Mapping[str, Any]]
"""Maps the name and the table of an accelerator to its facts by name."""

_MOST_DOTS = 100
"""The limit of a line. tomllib's memory grows with the square of the dots: 20,000 take 1.6 GB."""


def _targets() -> Traversable:
    return files(__name__.rpartition(".")[0]).joinpath("targets")


@cache
def target_names() -> tuple[str, ...]:
    """Return the sorted names of the targets in this package."""
    names = (file.name for file in _targets().iterdir())
    return tuple(sorted(name.removesuffix(SUFFIX) for name in names if name.endswith(SUFFIX)))


@cache
def named_target(name: str) -> Target:
    """Return the target of a module that states only a name.

    Unknown names mean the generic CPU. The facts of accelerators stay unchecked, because these may
    not be installed.
    """
    if name not in target_names():
        return Target(name)
    facts = named_facts(name, raw_facts)
    known = part_facts()
    own = Target.from_facts(name, {key: v for key, v in facts.items() if key in known})
    others = sorted((key, v) for key, v in facts.items() if key not in known)
    return replace(own, accelerators=tuple(others))


def named_facts(name: str, read_table: ReadTable) -> dict[str, Any]:
    """Return the facts in the file of one of these targets, by name."""
    text = _targets().joinpath(f"{name}{SUFFIX}").read_text(encoding="utf-8")
    return flat_facts(tomllib.loads(text), read_table)


def read_text(text: str, place: str) -> dict[str, Any]:
    """Return the tables of a file; raise CloptError with `place` if the text is not TOML."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.count(".") > _MOST_DOTS:
            raise CloptError(f"{place}:{number}: a line must have at most {_MOST_DOTS} dots.")
    try:
        return tomllib.loads(text)
    except ValueError as error:
        raise CloptError(f"{place}: this is not a TOML file: {error}.") from error
    except RecursionError as error:
        raise CloptError(f"{place}: its values are nested too deeply for a target.") from error


def flat_facts(tables: Mapping[str, Any], read_table: ReadTable) -> dict[str, Any]:
    """Return the facts of a file by name, including those of its base.

    `read_table` reads the tables of accelerators. Raises CloptError or ValueError for mistakes.
    """
    tables = dict(tables)
    base = tables.pop(BASE, None)
    facts: dict[str, Any] = {}
    for name, table in tables.items():
        facts |= table if name in PARTS else read_table(name, table)
    if base is None:
        return facts
    if base not in target_names():
        raise CloptError(f"{BASE} must be one of {', '.join(target_names())}, not {base!r}.")
    return named_facts(base, read_table) | facts
