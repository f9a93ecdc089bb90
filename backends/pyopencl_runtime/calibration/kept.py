"""Target files of the devices of this machine, in the user's cache."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path

from ....dialects.cl.target import Fact, Target, fact_types
from ....files.caches import user_cache
from ....messages.printable import printable
from ....version import VERSION
from .. import system
from ..build import device_facts
from ..devices import Device
from .figures import Figure

_FORMAT = "2"
"""Version of the measuring kernels; if it changes, devices are measured again."""


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
    figures = {fact: figures[fact] for fact in fact_types() if fact in figures}
    differing = [fact for fact in fact_types() if target.fact(fact) != base.fact(fact)]
    reported = {fact: target.fact(fact) for fact in differing if fact not in figures}
    lines = [
        f"# {printable(f'{device.name} ({device.platform}, {device.driver})')}",
        f"# Measured on {day.isoformat()}; clopt-run --calibrate measures again. This file may be",
        "# edited, copied to other machines and given as a target: --target FILE.",
        f'base = "{base.name}"',
        *_aligned({f: _toml(figure.value) for f, figure in figures.items()}, figures),
        "# Reported by the device; current answers replace these lines when the device is used:",
        *_aligned({fact: _toml(value) for fact, value in reported.items()}, {}),
    ]
    return "\n".join(lines) + "\n"


def _aligned(values: Mapping[str, str], figures: Mapping[str, Figure]) -> list[str]:
    lines = [f"{fact} = {value}" for fact, value in values.items()]
    width = max(map(len, lines), default=0)
    comments = [f" # {figures[fact].comment}" if fact in figures else "" for fact in values]
    return [
        f"{line:<{width}}{comment}".rstrip() for line, comment in zip(lines, comments, strict=True)
    ]


def _toml(value: Fact) -> str:
    return json.dumps(value)
