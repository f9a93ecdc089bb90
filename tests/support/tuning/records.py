"""Records of plans, layouts and forms that nobody measured."""

from __future__ import annotations

from typing import Any

from clopt.decisions.database import DeviceDriver
from clopt.decisions.record import Record, facts_that_count
from clopt.dialects import tir
from clopt.targets import load_target

POCL = load_target("pocl")
HERE = DeviceDriver("A processor (tests)", "1.0")


def record(
    choice: tir.Plan | str,
    microseconds: float | None = None,
    /,
    device: DeviceDriver = HERE,
    **fields: Any,
) -> Record:
    """A record on the target `pocl`, of a plan by default; without a time one of a crash."""
    known: dict[str, Any] = {
        "kind": "plan",
        "site": "0123456789abcdef",
        "choice": choice if isinstance(choice, str) else str(tir.PlanAttr(choice)),
        "target": POCL.name,
        "facts": facts_that_count(POCL),
        "device": device.name,
        "driver": device.driver,
        "microseconds": microseconds,
        "noise": 0.01 if microseconds else 0.0,
        "fault": "" if microseconds else "crashed",
        "when": "2026-01-31T12:00:00Z",
    }
    return Record(**(known | fields))


def of_layout(
    site: str, layout: str, microseconds: float | None = None, /, **fields: Any
) -> Record:
    """A record of a layout; without a time one of a crash."""
    return record(layout, microseconds, **({"kind": "layout", "site": site} | fields))


def of_form(site: str, form: str, microseconds: float | None = None, /, **fields: Any) -> Record:
    """A record of a form; without a time one of a crash."""
    return record(form, microseconds, **({"kind": "form", "site": site} | fields))


def of_fusion(pair: str, fusion: str, microseconds: float, /, **fields: Any) -> Record:
    """A record of a network with a pair of kernels joined or apart."""
    return record(fusion, microseconds, **({"kind": "fusion", "site": pair} | fields))


def numbered(number: int, rule: str = "rows", version: int = 2) -> str:
    """The text of some plan."""
    return f'#tir.plan<"{rule}", {version}, {{width = {number}}}>'
