"""Checks of the arguments that Python callers pass; each mistake becomes one sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..errors import CloptError
from .sentences import did_you_mean


def check_type(name: str, value: object, types: tuple[type, ...], wanted: str) -> None:
    """Refuse an argument that is neither None nor of one of `types`, which `wanted` describes."""
    if value is not None and not isinstance(value, types):
        raise CloptError(f"{name} must be {wanted}, not {type_name(value)}.")


def type_name(value: object) -> str:
    """Return the name of a value's type, as users write it: `numpy.ndarray`, `int`."""
    kind = type(value)
    return (
        kind.__qualname__
        if kind.__module__ == "builtins"
        else f"{kind.__module__}.{kind.__qualname__}"
    )


def check_keywords(
    given: Iterable[str],
    facts: Iterable[str],
    arguments: Iterable[str],
    fields: Mapping[str, str],
) -> None:
    """Refuse a keyword of `clopt.compile` that is neither a fact of a target nor an argument.

    `fields` maps the fields of arguments to the way in which a caller writes them.
    """
    known = set(facts)
    for name in given:
        if name in known:
            continue
        if name in fields:
            raise CloptError(f'clopt.compile has no argument "{name}"; write {fields[name]}.')
        facts_page = "docs/targets.md lists the facts."
        hint = did_you_mean(name, [*known, *arguments], facts_page)
        raise CloptError(
            f'clopt.compile has no argument "{name}" and a target has no such fact; {hint}'
        )
