"""A search's journal of results, stored in a tuning database."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from ..decisions.choice_file import read_plan
from ..decisions.database import DeviceDriver, TuningDatabase, is_valid
from ..decisions.record import Kind, Record
from ..decisions.revision import compiler_revision
from ..dialects import cl
from ..passes.pipelines import Tuning
from ..passes.tir.ranked_plans import is_current
from . import records
from .choices import Measured, TunedChoice
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
        tried = self._tried("plan", task.kernel, task.target)
        return [_result(record) for record in tried if is_current(record) and is_valid(record)]

    def earlier(self, task: Task) -> Sequence[Result]:
        """Return times by other compilers, which hold if the text of the plan's kernel does."""
        tried = self._tried("plan", task.kernel, task.target)
        return [_result(r) for r in tried if is_current(r) and r.text and not is_valid(r)]

    def note(self, task: Task, result: Result, is_default: bool) -> None:
        """Append a result. Raises CloptError if the file cannot be written."""
        records.append(self.path, [records.record_of(task, result, is_default=is_default)])

    def known_choices(self, kind: Kind, site: str, target: cl.Target) -> set[str]:
        """Return the choices that this device and driver have tried at a site."""
        return {r.choice for r in self._tried(kind, site, target) if is_valid(r)}

    def renew(self, choice: TunedChoice, target: cl.Target, text: Callable[[], str]) -> bool:
        """Append another compiler's time of a choice for this one, and return whether it holds.

        It holds if `text`, a digest of what is timed, is the same.
        """
        site, chosen = choice.key
        tried = self._tried(choice.kind, site, target)
        earlier = next((r for r in tried if r.choice == chosen and r.text), None)
        if earlier is None or earlier.text != text():
            return False
        again = replace(earlier, default=choice.is_default, revision=compiler_revision())
        records.append(self.path, [again])
        return True

    def note_choice(self, measured: Measured, target: cl.Target) -> None:
        """Append a measurement. Raises CloptError if the file cannot be written."""
        records.append(self.path, [records.record_of_choice(measured, target)])

    def _tried(self, kind: Kind, site: str, target: cl.Target) -> Sequence[Record]:
        if not self.path.exists():
            return []
        return TuningDatabase.read(self.path).tried(kind, site, target, self.place)


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
        record.text,
        kernel=record.site,
        plan=read_plan(record.choice, record.place),
    )
