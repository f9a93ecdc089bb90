"""Targets by name: device facts as data, one TOML file for each OpenCL device or family of devices.

No device is looked at, so that a name means the same facts on every machine.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from ...accelerators import accelerators
from ...errors import CloptError
from ...files.reading import read_file
from ...messages.printable import printable
from ...messages.sentences import as_sentence, did_you_mean
from .soc_names import TARGET_OF_SOC
from .target import Target

_BASE = "base"
"""The key of a file that names the target whose facts it has where it says nothing else."""

SUFFIX = ".toml"

_MOST_BYTES = 1 << 18
_MOST_DOTS = 100
"""The limits of a file and of a line. The memory of tomllib grows with the square of the dots in a
key: 20,000 take 1.6 GB."""


def _targets() -> Traversable:
    return files(__name__.rpartition(".")[0]).joinpath("targets")


def target_names() -> list[str]:
    """The names `load_target` knows, sorted."""
    names = (file.name for file in _targets().iterdir())
    return sorted(name.removesuffix(SUFFIX) for name in names if name.endswith(SUFFIX))


def load_target(name: str) -> Target:
    """The facts of the device or family `name`, without looking at any device.

    The name of an SoC, in any case, means the target of its GPU. A name that ends in `.toml` is the
    path of a file like those of `targets`, and its stem the name of the target. Raises CloptError
    where there is none, and for a mistake in it.
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
    return Target.from_facts(known, _read_facts(known))


@cache
def named_target(name: str) -> Target:
    """The target whose facts a module has that gives only a name; the generic CPU's for others."""
    return load_target(name) if name in target_names() else Target(name)


def _load_file(path: Path) -> Target:
    try:
        text = read_file(path, _MOST_BYTES).decode("utf-8")
        for number, line in enumerate(text.split("\n"), 1):
            if line.count(".") > _MOST_DOTS:
                raise CloptError(
                    f"{path}:{number}: a line of a target has {_MOST_DOTS} dots at most."
                )
        facts = tomllib.loads(text)
    except OSError as error:
        raise CloptError(f"{path}: cannot read this target: {error.strerror}.") from error
    except ValueError as error:  # no UTF-8, or no TOML
        raise CloptError(f"{path}: this is no TOML file: {error}.") from error
    except RecursionError as error:
        raise CloptError(f"{path}: its values are nested too deeply for a target.") from error
    try:
        return Target.from_facts(printable(path.stem), _complete(facts, path.parent))
    except (CloptError, ValueError) as error:
        raise CloptError(f"{path}: {as_sentence(str(error))}") from error


def _read_facts(name: str) -> dict[str, Any]:
    text = _targets().joinpath(f"{name}{SUFFIX}").read_text(encoding="utf-8")
    return _complete(tomllib.loads(text), Path())


def _complete(table: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The facts of a file in `folder` with those of the target that it names as its base."""
    base = table.pop(_BASE, None)
    facts = {key: value for key, value in table.items() if not isinstance(value, dict)}
    for name in table.keys() - facts.keys():
        facts |= _table_facts(name, table[name], folder)
    if base is None:
        return facts
    if base not in target_names():
        raise CloptError(f"{_BASE} is one of {', '.join(target_names())}, not {base!r}.")
    return _read_facts(base) | facts


def _table_facts(name: str, table: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The facts in the table of an accelerator."""
    rows = accelerators()
    if name not in rows:
        raise CloptError(
            f'A target has no table "{printable(name)}"; those of accelerators are '
            f"{', '.join(rows)}."
        )
    return rows[name].load("facts").from_table(table, folder)
