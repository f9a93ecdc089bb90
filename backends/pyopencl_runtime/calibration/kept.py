"""Target files of the devices of this machine, in the user's cache."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path

from ....files.caches import user_cache
from ....machine.facts import Fact
from ....machine.target import Target
from ....messages.printable import printable
from ....targets import fact_types, place_of
from ....version import VERSION
from .. import system
from ..build import device_facts
from ..devices import Device
from .figures import Figure

_FORMAT = "5"
"""Version of the measurement; if it changes, devices are measured again."""


def kept_file(device: Device, family: str) -> Path | None:
    """Return the file for the facts of a device, or None without a home directory.

    The name depends on the driver, the processor and its number of cores, and on the version of
    clopt, because another version may have other facts.
    """
    folder = user_cache("devices")
    if folder is None:
        return None
    ours = (_FORMAT, VERSION, *fact_types())
    about = (*ours, *device_facts(device), str(device.compute_units), system.processor())
    digest = hashlib.sha256("\0".join(about).encode()).hexdigest()[:8]
    words = re.sub(r"[^a-z0-9]+", "-", device.name.lower()).strip("-")[:40]
    return folder / f"{family}-{words}-{digest}.toml"


def text_of(
    device: Device, base: Target, target: Target, figures: Mapping[str, Figure], day: date
) -> str:
    """Return the file of `target`: its measured `figures` and the facts that it reports.

    The file contains everything in which the target differs from `base`, so that it can be read
    without the device.
    """
    differing = {fact: v for fact, v in target.facts.items() if base.facts.get(fact) != v}
    reported = {fact: value for fact, value in differing.items() if fact not in figures}
    lines = [
        f"# {printable(f'{device.name} ({device.platform}, {device.driver})')}",
        f"# Measured on {day.isoformat()}; clopt-run --calibrate measures again. This file may be",
        "# edited, copied to other machines and given as a target: --target FILE.",
        "# Lines without a comment were reported by the device; current answers replace them when",
        "# the device is used.",
        f'base = "{base.name}"',
    ]
    values = {fact: figure.value for fact, figure in figures.items()} | reported
    tables: dict[str, dict[str, Fact]] = {}
    for fact in fact_types():
        if fact in values:
            table, _ = place_of(fact)
            tables.setdefault(table, {})[fact] = values[fact]
    for table, facts in tables.items():
        lines += ["", f"[{table}]", *_aligned(facts, figures)]
    return "\n".join(lines) + "\n"


def _aligned(facts: Mapping[str, Fact], figures: Mapping[str, Figure]) -> list[str]:
    """Return a line for each fact, with its comment."""
    lines = [f"{place_of(fact)[1]} = {json.dumps(value)}" for fact, value in facts.items()]
    width = max(map(len, lines), default=0)
    comments = [f" # {figures[fact].comment}" if fact in figures else "" for fact in facts]
    return [
        f"{line:<{width}}{comment}".rstrip() for line, comment in zip(lines, comments, strict=True)
    ]
