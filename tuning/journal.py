"""A search's journal of results, stored in a tuning database."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from ..decisions.choice_file import read_plan
from ..decisions.database import DeviceDriver, Tuning, TuningDatabase, is_valid
from ..decisions.record import Kind, Record
from ..dialects import cl
from ..passes.tir.ranked_plans import is_current
from . import records
from .instrument import InstrumentDevice
from .proposals import Move
from .times import Times
from .trial import Fault, Measurement, Result, Task


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

    @contextmanager
    def without_plans(self) -> Generator[Path]:
        """Give a temporary database of all records except those of plans."""
        found = TuningDatabase.read(self.path).records if self.path.exists() else ()
        with TemporaryDirectory() as folder:
            path = Path(folder, "choices.jsonl")
            path.touch()
            records.append(path, (record for record in found if record.kind != "plan"))
            yield path

    def knows(self, move: Move, target: cl.Target) -> bool:
        """Return whether this device has tried the new choice of a move."""
        tried = self._tried(move.kind, move.site.text, target)
        return any(each.choice == move.new_text and is_valid(each) for each in tried)

    def note_moves(
        self, moves: Iterable[Move], before: Times, ratio: Times, target: cl.Target
    ) -> None:
        """Append the times of networks without and with some moves.

        The time with a move is the ratio times the known one of the choice that it replaces.
        """
        for move in moves:
            tried = {r.choice: r for r in self._tried(move.kind, move.site.text, target)}
            old, new = tried.get(move.old_text), tried.get(move.new_text)
            time, found = before.median, list[Record]()
            if old is not None and is_valid(old):
                time = old.microseconds or time
            else:
                is_default = old is None or old.default
                measured = self._measurement(time, 0.0, before.runs)
                found.append(_record(move, move.old_text, target, measured, is_default))
            measured = self._measurement(ratio.median * time, ratio.noise, ratio.runs)
            is_default = new is not None and new.default
            found.append(_record(move, move.new_text, target, measured, is_default))
            records.append(self.path, found)

    def note_fault(self, move: Move, reason: str, target: cl.Target) -> None:
        """Append the reason why a network with a move has no time."""
        fault = Measurement(
            self.device.name, self.device.driver, fault=Fault.REFUSED, reason=reason
        )
        records.append(self.path, [_record(move, move.new_text, target, fault, False)])

    def _measurement(self, microseconds: float, noise: float, runs: int) -> Measurement:
        return Measurement(self.device.name, self.device.driver, 0.0, microseconds, noise, runs)

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


def _record(
    move: Move, choice: str, target: cl.Target, measured: Measurement, is_default: bool
) -> Record:
    """Return the record of a choice at the site of a move."""
    key = move.kind, move.site.text, choice
    return records.make_record(key, target, measured, move.nodes, is_default=is_default)
