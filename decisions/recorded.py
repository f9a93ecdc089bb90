"""Choices that made whole networks faster, from tuning databases.

Plans are ranked by their own times (`passes/tir/ranked_plans.py`). Every other choice is recorded
with the time of a network that has it, beside a record of the choice that it replaces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ArrayAttr, ModuleOp

from ..dialects import cl
from ..dialects.remarks import add_remarks
from ..errors import CloptError
from .choice_file import read_choice
from .choices import RECORDED_NAME, choice_of
from .database import DeviceDriver, TuningDatabase, device_label, latest, sources
from .record import Record
from .sites import Site


@dataclass(frozen=True)
class RecordedChoices:
    """The choices that beat the usual ones, and remarks about other records."""

    choices: Sequence[cl.ChoiceAttr]
    remarks: Sequence[str] = ()


def recall(
    module: ModuleOp, database: TuningDatabase, target: cl.Target, device: DeviceDriver
) -> None:
    """Give a module the recorded choices for its target, for the passes that follow."""
    found = recorded_choices(database, target, device)
    add_remarks(module, (*database.remarks, *found.remarks))
    if found.choices:
        module.attributes[RECORDED_NAME] = ArrayAttr(list(found.choices))


def forget(module: ModuleOp) -> None:
    """Remove the recorded choices of a module, which has taken all decisions."""
    module.attributes.pop(RECORDED_NAME, None)


def recorded_choices(
    database: TuningDatabase, target: cl.Target, device: DeviceDriver
) -> RecordedChoices:
    """Return the choices that beat the usual ones, each by the nearest device that compared them.

    A choice counts if its time is shorter by more than the noise of both. One that failed on this
    device does not count. The nodes of a choice tell where it was measured, if not on this device.
    """
    by_site: dict[tuple[str, str], list[Record]] = {}
    for record in database.records:
        if record.kind != "plan" and record.target == target.name:
            by_site.setdefault((record.kind, record.site), []).append(record)
    chosen: list[cl.ChoiceAttr] = []
    remarks: list[str] = []
    for records in by_site.values():
        newest = latest(filter(device.measured, records))
        refused = {record.choice for record in newest if record.fault}
        for source in sources(records, target, device):
            times = [each for each in latest(source.records) if each.choice not in refused]
            usual = [each for each in times if each.default and not each.fault]
            if not usual or len(times) < 2:
                continue
            best = min(times, key=lambda each: (each.microseconds or float("inf"), each.choice))
            is_here = source.device == device and source.has_facts
            where = "" if is_here else f"measured {device_label(source.device, source.has_facts)}"
            if best.most < usual[-1].least:
                try:
                    chosen.append(choice_in(best, where))
                except CloptError as error:
                    remarks.append(f"{best.place}: this record is ignored: {error}")
            break
    return RecordedChoices(chosen, remarks)


def choice_in(record: Record, nodes: str = "") -> cl.ChoiceAttr:
    """Return the attribute of a record's choice. Raise CloptError for words that name none."""
    try:
        site = Site.parse(record.kind, record.site)
    except ValueError as error:
        raise CloptError(f"{error}.") from error
    return choice_of(site, read_choice(record.choice, record.place), nodes)
