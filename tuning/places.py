"""The paths where `compile` looks for tuning databases, and where the tuner stores them."""

from __future__ import annotations

import os
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ..errors import CloptError, warn
from ..files.caches import cache_place, is_private
from ..messages.printable import printable

if TYPE_CHECKING:
    from ..decisions.database import Tuning

OFF = "off"
"""The name that stands for no database."""

CHOICE = "CLOPT_TUNING"
"""The environment variable; with `off`, clopt reads only databases that are named."""

SUFFIX = ".tuning.jsonl"
"""The suffix of the database beside a model."""

_IN_CACHE = "tuning.jsonl"


class OpenCLDevice(Protocol):
    """The attributes of a device of `list_devices` that this module reads."""

    @property
    def name(self) -> str: ...
    @property
    def platform(self) -> str: ...
    @property
    def driver(self) -> str: ...


def device_name(device: OpenCLDevice) -> str:
    """Return the name of a device in records, including the platform, which affects speed."""
    return f"{device.name} ({device.platform})"


def database_beside(model: str | Path) -> Path:
    """Return the path of a model's tuning database, beside its file."""
    return Path(model).with_suffix(SUFFIX)


def database_in_cache() -> Path | None:
    """Return the path of the user's database for all models, in the cache; None without a home."""
    return cache_place(_IN_CACHE)


def databases_for(model: object, named: str | PathLike[str] | None) -> list[Path]:
    """Return the paths of a model's databases: the named one, or the default places."""
    if named is not None:
        return [] if named == OFF else [Path(named)]
    choice = os.environ.get(CHOICE, "auto")
    if choice not in ("auto", OFF):
        raise CloptError(f'{CHOICE} must be auto or {OFF}, not "{printable(choice)}".')
    if choice == OFF:
        return []
    beside = [database_beside(model)] if isinstance(model, str | Path) else []
    return [*beside, *_private_in_cache()]


def tuning_for(
    model: object, named: str | PathLike[str] | None, device: OpenCLDevice | None
) -> Tuning:
    """Return the databases for a model on a device: `databases_for`, and clopt's own."""
    from ..decisions.database import SHIPPED, Tuning

    place: dict[str, Any] = {}
    if device is not None:
        place = {"device": device_name(device), "driver": device.driver}
    files = tuple(map(str, databases_for(model, named)))
    if named is not None:
        return Tuning(tuning=files, **place) if files else Tuning()
    if os.environ.get(CHOICE) == OFF:
        return Tuning()
    return Tuning(places=(*files, SHIPPED), **place)


def _private_in_cache() -> list[Path]:
    """Return the database in the user's cache, unless other users may have written it."""
    cached = database_in_cache()
    if cached is None or not cached.exists():
        return []
    if is_private(cached.resolve()):
        return [cached]
    warn(
        f"{cached} is ignored, because other users can write to it or its folder; to use "
        f"it, run chmod go-w {cached} {cached.parent}."
    )
    return []
