"""A search's journal of results, stored in a tuning database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..decisions.choice_file import read_plan
from ..decisions.database import DeviceDriver, TuningDatabase
from ..decisions.record import Kind, Record
from ..dialects import cl
from ..passes.pipelines import Tuning
from ..passes.tir.ranked_plans import is_current
from . import records
from .choices import Measured
from .instrument import InstrumentDevice
from .trial import Fault, Result, Task


@dataclass(frozen=True)
class DatabaseJournal:
    """Appends results to a database as they arrive, and finds earlier ones there."""

    path: Path
    device: InstrumentDevice

    @property
    def tuning(self) -> Tuning:
        """The tuning options of a pipeline that uses this database for this device."""
        names = (str(self.path),) if self.path.exists() else ()
        return Tuning(names, (), self.device.name, self.device.driver)

    @property
    def place(self) -> DeviceDriver:
        """The device as databases name it."""
        return DeviceDriver(self.device.name, self.device.driver)

    def known(self, task: Task) -> Sequence[Result]:
        """Return the results of the kernel's plans on this device with this driver."""
        known = self._known("plan", task.kernel, task.target)
        return [_result(record) for record in known if is_current(record)]

    def note(self, task: Task, result: Result, is_default: bool) -> None:
        """Append a result. Raises CloptError if the file cannot be written."""
        records.append(self.path, [records.record_of(task, result, is_default=is_default)])

    def known_choices(self, kind: Kind, site: str, target: cl.Target) -> set[str]:
        """Return the choices that this device and driver have tried at a site."""
        return {record.choice for record in self._known(kind, site, target)}

    def note_choice(self, measured: Measured, target: cl.Target) -> None:
        """Append a measurement. Raises CloptError if the file cannot be written."""
        records.append(self.path, [records.record_of_choice(measured, target)])

    def _known(self, kind: Kind, site: str, target: cl.Target) -> Sequence[Record]:
        if not self.path.exists():
            return []
        return TuningDatabase.read(self.path).known(kind, site, target, self.place)


def _result(record: Record) -> Result:
    return Result(
        record.device,
        record.driver,
        record.seconds,
        record.microseconds,
        None if record.microseconds is None else record.noise,
        record.runs,
        Fault(record.fault) if record.fault else None,
        record.reason,
        kernel=record.site,
        plan=read_plan(record.choice, record.place),
    )
