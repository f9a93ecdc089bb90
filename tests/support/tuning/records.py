"""Records of plans, layouts and forms that nobody measured."""

from __future__ import annotations

from typing import Any

from clopt.dialects import tir
from clopt.passes.tir.tuning_database import DeviceDriver
from clopt.passes.tir.tuning_record import Record, facts_that_count
from clopt.targets import load_target

POCL = load_target("pocl")
HERE = DeviceDriver("A processor (tests)", "1.0")


def record(
    plan: tir.Plan | str,
    microseconds: float | None = None,
    /,
    device: DeviceDriver = HERE,
    **fields: Any,
) -> Record:
    """A record on the target `pocl`; without a time one of a crash."""
    known: dict[str, Any] = {
        "kernel": "0123456789abcdef",
        "target": POCL.name,
        "facts": facts_that_count(POCL),
        "plan": plan if isinstance(plan, str) else str(tir.PlanAttr(plan)),
        "device": device.name,
        "driver": device.driver,
        "microseconds": microseconds,
        "noise": 0.01 if microseconds else 0.0,
        "fault": "" if microseconds else "crashed",
        "when": "2026-01-31T12:00:00Z",
    }
    return Record(**(known | fields))


def of_layouts(
    kernel: str, layouts: str, microseconds: float | None = None, /, **fields: Any
) -> Record:
    """A record of layouts; without a time one of a crash."""
    return record("", microseconds, **({"kernel": kernel, "layouts": layouts} | fields))


def of_form(kernel: str, form: str, microseconds: float | None = None, /, **fields: Any) -> Record:
    """A record of a form; without a time one of a crash."""
    return record("", microseconds, **({"kernel": kernel, "form": form} | fields))


def of_fusion(pair: str, fusion: str, microseconds: float, /, **fields: Any) -> Record:
    """A record of a pair of kernels in its network."""
    return record("", microseconds, **({"kernel": pair, "fusion": fusion} | fields))


def numbered(number: int, rule: str = "rows", version: int = 2) -> str:
    """The text of some plan."""
    return f'#tir.plan<"{rule}", {version}, {{width = {number}}}>'
