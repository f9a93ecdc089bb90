"""Device facts as data: one TOML file for each OpenCL device or family of devices."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from ...accelerators import accelerators
from ...dialects.cl.target import Fact, Target, fact_of
from ...errors import CloptError
from ...files.reading import read_file
from ...messages.printable import printable
from ...messages.sentences import as_sentence, did_you_mean

_BASE = "base"
"""The key of a file that names the target whose facts it has where it says nothing else."""

_SUFFIX = ".toml"

_MOST_BYTES = 1 << 18
_MOST_DOTS = 100
"""The limits of a file and of a line. The memory of tomllib grows with the square of the dots in a
key: 20,000 take 1.6 GB."""

_PATH = re.compile(rf".*?{re.escape(_SUFFIX)}(?=[\s,]|$)", re.S)


@dataclass(frozen=True)
class TargetChoice:
    """What a user writes to choose a target: a name or a file, or neither, and facts that are to
    differ.
    """

    name: str | None
    facts: Mapping[str, Fact]

    @classmethod
    def parse(cls, text: str) -> TargetChoice:
        """Read `NAME`, `NAME FACT=VALUE ...` or `FACT=VALUE ...`; spaces or commas separate.

        A name that ends in `.toml` is the path of a file. Raises CloptError for a second name.
        """
        words = _words(text.strip(" ,\t\n"))
        names = [word for word in words if "=" not in word or word.endswith(_SUFFIX)]
        if names != words[: len(names)] or len(names) > 1:
            raise CloptError(
                f'"{printable(text)}" is no target: write one name, facts such as texture=prefer, '
                "or a name and then facts."
            )
        pairs = (word.partition("=") for word in words[len(names) :])
        facts = {key: fact_of(key, value) for key, _, value in pairs}
        return cls(names[0] if names else None, facts)

    def load(self) -> Target | None:
        """The target of that name with these facts; None without a name."""
        return None if self.name is None else self.change(load_target(self.name))

    def change(self, target: Target) -> Target:
        """`target` with these facts; CloptError for what is no fact or no value of one."""
        return change_facts(target, self.facts)


def change_facts(target: Target, facts: Mapping[str, Fact]) -> Target:
    """`target` with other `facts`; CloptError for what is no fact or no value of one.

    Asking for textures where there are no images is a mistake, too.
    """
    try:
        changed = target.with_facts(facts)
    except ValueError as error:
        raise CloptError(as_sentence(str(error))) from error
    if facts.get("texture") == "prefer" and not changed.images:
        raise CloptError(
            f"texture=prefer needs a device with images, and {target.name} has none; name another "
            "target, for example adreno-740."
        )
    return changed


def target_names() -> list[str]:
    """The names `load_target` knows, sorted."""
    names = (file.name for file in files(__name__).iterdir())
    return sorted(name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX))


def load_target(name: str) -> Target:
    """The facts of the device or family `name`, without looking at any device.

    A name that ends in `.toml` is the path of a file like those of this folder, and its stem the
    name of the target. Raises CloptError where there is none, and for a mistake in it.
    """
    if name.endswith(_SUFFIX):
        return _load_file(Path(name))
    if name not in target_names():
        raise CloptError(
            f'There is no target "{printable(name)}"; '
            + did_you_mean(
                name,
                target_names(),
                f"use one of {', '.join(target_names())}, or the path of a {_SUFFIX} file.",
            )
        )
    return Target.from_facts(name, _read_facts(name))


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
    text = files(__name__).joinpath(f"{name}{_SUFFIX}").read_text(encoding="utf-8")
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


def _words(text: str) -> list[str]:
    """The words of a choice, without the spaces and commas between them. A path may have both."""
    path = _PATH.match(text)
    if path is None:
        return re.split(r"[\s,]+", text)
    return [path[0], *re.findall(r"[^\s,]+", text[path.end() :])]
