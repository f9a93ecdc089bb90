"""Device facts as data: one TOML file for each family of OpenCL devices."""

from __future__ import annotations

import tomllib
from importlib.resources import files

from ...dialects.cl.target import Target
from ...errors import CloptError


def target_names() -> list[str]:
    """The names `load_target` knows, sorted."""
    suffix = ".toml"
    names = (file.name for file in files(__name__).iterdir())
    return sorted(name.removesuffix(suffix) for name in names if name.endswith(suffix))


def load_target(name: str) -> Target:
    """The facts of the device family `name`, without looking at any device."""
    if name not in target_names():
        raise CloptError(f'There is no target "{name}"; use one of {", ".join(target_names())}.')
    text = files(__name__).joinpath(f"{name}.toml").read_text(encoding="utf-8")
    return Target.from_facts(name, tomllib.loads(text))
