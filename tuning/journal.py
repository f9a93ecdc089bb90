"""The tuning database as the journal of a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..passes.tir import tuning_database
from ..passes.tir.plan_file import plan_context, read_plan
from ..passes.tir.tuning_database import TuningDatabase
from ..passes.tir.tuning_record import Record
from . import records
from .instrument import Device
from .trial import Fault, Result, Task


@dataclass(frozen=True)
class DatabaseJournal:
    """Keeps results in a database as they come, and knows those that are there."""

    path: Path
    device: Device

    def known(self, task: Task) -> Sequence[Result]:
        """What this device said of the kernel's plans, by this driver."""
        if not self.path.exists():
            return []
        found = TuningDatabase.read(self.path)
        device = tuning_database.Device(self.device.name, self.device.driver)
        known = found.known(task.kernel, task.target, device).values()
        return [_result(record) for record in known if tuning_database.is_current(record)]

    def note(self, task: Task, result: Result, is_default: bool) -> None:
        """Append a result. Raises CloptError where the file cannot be written."""
        records.append(self.path, [records.record_of(task, result, is_default=is_default)])


def _result(record: Record) -> Result:
    return Result(
        record.kernel,
        read_plan(plan_context(), record.plan, record.place),
        record.device,
        record.driver,
        record.seconds,
        record.microseconds,
        None if record.microseconds is None else record.noise,
        record.runs,
        Fault(record.fault) if record.fault else None,
        record.reason,
    )
