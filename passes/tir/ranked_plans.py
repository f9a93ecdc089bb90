"""The measured plans of a kernel that beat its default."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache

from ...decisions.database import DeviceDriver, RecordSource, TuningDatabase, latest, sources
from ...decisions.record import Record
from ...machine.target import Target
from .rules import rules


@dataclass(frozen=True)
class RankedPlans:
    """The plans that one source ranks above a kernel's default."""

    source: RecordSource
    faster: Sequence[Record]
    """Plans that are faster than the default, fastest first; empty if the default stays."""


def is_current(record: Record) -> bool:
    """Return whether the rules of a record's plan exist in this version.

    Records without a plan are always current.
    """
    return _versions().issuperset(record.rules)


def ranked_plans(
    database: TuningDatabase, kernel: str, target: Target, device: DeviceDriver, default: str
) -> RankedPlans | None:
    """Return the plans that beat a kernel's default by more than the noise of both.

    None if no device has compared the default with other plans.
    """
    records = filter(is_current, database.of({"plan": [kernel]}, target.name))
    found = [(source, latest(source.records)) for source in sources(records, target, device)]
    refused = {
        record.choice
        for source, newest in found
        if source.device == device
        for record in newest
        if record.fault
    }
    for source, newest in found:
        faster = _faster(newest, default, refused)
        if faster is not None:
            return RankedPlans(source, faster)
    return None


def _faster(
    newest: Sequence[Record], default: str, refused: AbstractSet[str]
) -> list[Record] | None:
    """Return the plans that beat the default, fastest first, without refused ones.

    If this default has no record, compare with the plan that was the default when it was measured.
    Return None if there is neither, or nothing to compare.
    """
    defaults = [record for record in newest if record.choice == default]
    defaults += [record for record in reversed(newest) if record.default]
    if not defaults:
        return None
    reference = defaults[0]
    timed = [
        record
        for record in newest
        if record.microseconds is not None
        and record is not reference
        and record.choice not in refused
    ]
    if not timed:
        return None
    faster = [record for record in timed if record.most < reference.least]
    return sorted(faster, key=lambda record: (record.microseconds, record.choice))


@cache
def _versions() -> frozenset[tuple[str, int]]:
    """Return the current version of each rule."""
    return frozenset((rule.name, rule.version) for rule in rules())
