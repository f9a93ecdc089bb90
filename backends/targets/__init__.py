"""Device facts as data: one TOML file for each OpenCL device or family of devices."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from ...dialects.cl.target import FACT_TYPES, Fact, Target
from ...errors import CloptError
from ...messages.printable import printable

_BASE = "base"
"""The key of a file that names the target whose facts it has where it says nothing else."""

_BOOLEANS = {"true": True, "false": False}


@dataclass(frozen=True)
class TargetChoice:
    """What a user writes to choose a target: its name, or none, and facts that are to differ."""

    name: str | None
    facts: Mapping[str, Fact]

    @classmethod
    def parse(cls, text: str) -> TargetChoice:
        """Read `NAME`, `NAME FACT=VALUE ...` or `FACT=VALUE ...`; spaces or commas separate.

        Raises CloptError for a second name.
        """
        words = re.split(r"[\s,]+", text.strip(" ,\t\n"))
        names = [word for word in words if "=" not in word]
        if names != words[: len(names)] or len(names) > 1:
            raise CloptError(
                f'"{printable(text)}" is no target: write one name, facts such as texture=prefer, '
                "or a name and then facts."
            )
        pairs = (word.partition("=") for word in words[len(names) :])
        facts = {key: _value(key, value) for key, _, value in pairs}
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
        raise CloptError(f"{error}.") from error
    if facts.get("texture") == "prefer" and not changed.images:
        raise CloptError(
            f"texture=prefer needs a device with images, and {target.name} has none; name another "
            "target, for example adreno-740."
        )
    return changed


def target_names() -> list[str]:
    """The names `load_target` knows, sorted."""
    suffix = ".toml"
    names = (file.name for file in files(__name__).iterdir())
    return sorted(name.removesuffix(suffix) for name in names if name.endswith(suffix))


def load_target(name: str) -> Target:
    """The facts of the device or family `name`, without looking at any device."""
    if name not in target_names():
        raise CloptError(
            f'There is no target "{printable(name)}"; use one of {", ".join(target_names())}.'
        )
    return Target.from_facts(name, _read_facts(name))


def _read_facts(name: str) -> dict[str, Any]:
    text = files(__name__).joinpath(f"{name}.toml").read_text(encoding="utf-8")
    facts = tomllib.loads(text)
    base = facts.pop(_BASE, None)
    return facts if base is None else _read_facts(base) | facts


def _value(key: str, text: str) -> Fact:
    """`text` as a value of the fact `key`, or as it is, for the target to refuse."""
    try:
        match FACT_TYPES.get(key):
            case kind if kind is bool:
                return _BOOLEANS.get(text, text)
            case kind if kind is int or kind is float:
                return kind(text)
            case _:
                return text
    except ValueError:
        return text
