"""Device facts as data: one TOML file for each OpenCL device or family of devices."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any

from ...dialects.cl.target import Target
from ...errors import CloptError

_BASE = "base"
"""The key of a file that names the target whose facts it has where it says nothing else."""


def target_names() -> list[str]:
    """The names `load_target` knows, sorted."""
    suffix = ".toml"
    names = (file.name for file in files(__name__).iterdir())
    return sorted(name.removesuffix(suffix) for name in names if name.endswith(suffix))


def load_target(name: str) -> Target:
    """The facts of the device or family `name`, without looking at any device."""
    if name not in target_names():
        raise CloptError(f'There is no target "{name}"; use one of {", ".join(target_names())}.')
    return Target.from_facts(name, _read_facts(name))


def _read_facts(name: str) -> dict[str, Any]:
    text = files(__name__).joinpath(f"{name}.toml").read_text(encoding="utf-8")
    facts = tomllib.loads(text)
    base = facts.pop(_BASE, None)
    return facts if base is None else _read_facts(base) | facts
