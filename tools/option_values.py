"""Values of options: dimensions, sizes in bytes, times."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from ..errors import CloptError
from ..size_range import Sizes

_BYTES = {"": 1, "b": 1} | {
    f"{letter}{infix}b": base**power
    for infix, base in (("", 1000), ("i", 1024))
    for power, letter in enumerate("kmgt", 1)
}
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}
_NUMBER = re.compile(r"(\d+(?:\.\d+)?) ?([A-Za-z]*)")
_DIM = re.compile(r"([^=]+)=(\d+)(?:\.\.(\d+)(?:\.\.(\d+))?)?", re.ASCII)


def parse_dims(items: Sequence[str]) -> Mapping[str, int]:
    """Read `--dim name=value`, which may be repeated or hold several, separated by commas."""
    dims: dict[str, int] = {}
    for name, sizes in parse_open_dims(items).items():
        if isinstance(sizes, tuple):
            raise CloptError(f"--dim {name}={sizes[0]}..{sizes[1]}: write one size, not a range.")
        dims[name] = sizes
    return dims


def parse_open_dims(items: Sequence[str]) -> Mapping[str, Sizes]:
    """Read `--dim` as `parse_dims` does; a size may also be a range, as in `batch=1..64`.

    A third number is the usual size, `batch=1..64..20`.
    """
    dims: dict[str, Sizes] = {}
    for item in (part for item in items for part in _bindings(item)):
        match = _DIM.fullmatch(item)
        if match is None:
            raise CloptError(
                f"--dim {item}: write name=value with a whole number, or a range as in name=1..64."
            )
        name, least, most, usual = match.groups()
        dims[name] = int(least)
        if most is not None:
            ends = int(least), int(most)
            dims[name] = ends if usual is None else (*ends, int(usual))
    return dims


def _bindings(item: str) -> Sequence[str]:
    """Split `batch=1,h=32`; names may contain commas, too."""
    parts = item.split(",")
    return parts if all("=" in part for part in parts) else [item]


def parse_accelerators(items: Sequence[str]) -> Mapping[str, str]:
    """Read `--accelerator name=library`, which may be repeated."""
    pairs = [item.partition("=") for item in items]
    for item, (name, _, library) in zip(items, pairs, strict=True):
        if not (name and library):
            raise CloptError(f"--accelerator {item}: write name=library.")
    return {name: library for name, _, library in pairs}


def parse_in_place(items: Sequence[str]) -> Mapping[str, str]:
    """Read `--in-place output=input`, which may be repeated."""
    pairs = [item.rpartition("=") for item in items]
    for item, (output, _, source) in zip(items, pairs, strict=True):
        if not (output and source):
            raise CloptError(f"--in-place {item}: write output=input.")
    return {output: source for output, _, source in pairs}


def parse_bytes(option: str, text: str | None) -> int | None:
    """Read a size such as 1000000, 512kB, 64MiB or 1GB."""
    size = None if text is None else _number_with_unit(text, _BYTES)
    if text is not None and (size is None or size < 0):
        raise CloptError(f"{option} {text}: write a number of bytes, or as in 64MiB or 1GB.")
    return None if size is None else math.floor(size)


def parse_seconds(option: str, text: str | None) -> float | None:
    """Read a time such as 90, 90s, 10m or 2h."""
    seconds = None if text is None else _number_with_unit(text, _SECONDS)
    if text is not None and not seconds:
        raise CloptError(
            f"{option} {text}: write a number of seconds above 0, or as in 90s, 10m or 2h."
        )
    return seconds


def _number_with_unit(text: str, units: Mapping[str, int]) -> float | None:
    match = _NUMBER.fullmatch(text.strip())
    if match is None or match[2].lower() not in units:
        return None
    return float(match[1]) * units[match[2].lower()]
