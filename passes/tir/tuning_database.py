"""Tuning databases: read them, and find the best known plan for a kernel on a device.

Databases also hold records of layouts and of forms, which `passes/nn/layout/tuned_layouts.py` and
`passes/nn/tuned_forms.py` read.

Times are compared only within one device and driver. Those of the device at hand come first; other
devices are a starting point where it has none.

The order of the lines, not the time of day, tells which record is newer: clocks of machines differ
and can be set back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import chain
from pathlib import Path

from ...dialects import cl
from ...errors import CloptError
from ...files.reading import read_file
from ...messages.printable import printable
from .revision import compiler_revision
from .rules import rules
from .tuned import shipped_text
from .tuning_record import Record, is_of, read_record, without_parts

SHIPPED = "shipped"
"""The name of the database that ships with clopt for a target."""


@dataclass(frozen=True)
class DeviceDriver:
    """The device and driver that run the kernels; empty if unknown."""

    name: str = ""
    driver: str = ""


@dataclass(frozen=True)
class TuningDatabase:
    """The records of one or more files."""

    records: tuple[Record, ...] = ()
    remarks: tuple[str, ...] = ()
    """Remarks about skipped lines."""

    @classmethod
    def read(cls, path: Path) -> TuningDatabase:
        """Read a file. Raise CloptError with the line of the first mistake.

        A truncated last line, left by an interrupted writer, is skipped with a remark.
        """
        try:
            status = path.stat()
            return _read(path, (status.st_ino, status.st_mtime_ns, status.st_size))
        except OSError as error:
            raise CloptError(
                f"{path}: cannot read this tuning database: {error.strerror}."
            ) from error

    @classmethod
    def shipped(cls, target: str) -> TuningDatabase:
        """Return the database that ships with clopt for a target, which may be empty."""
        return _shipped(target)

    @classmethod
    def of_text(cls, text: str, name: str) -> TuningDatabase:
        """Parse the records of `text`; messages call it `name`."""
        *lines, last = text.split("\n")
        records = [
            read_record(line, f"{name}:{number}")
            for number, line in enumerate(lines, 1)
            if line and not line.isspace()
        ]
        if not last:
            return cls(tuple(records))
        number = len(lines) + 1
        try:
            return cls((*records, read_record(last, f"{name}:{number}")))
        except CloptError:
            return cls(tuple(records), (_torn(name, number),))

    @classmethod
    def joined(cls, databases: Iterable[TuningDatabase]) -> TuningDatabase:
        """Return the records of all databases as one, in which later databases are newer."""
        several = tuple(databases)
        if len(several) == 1:
            return several[0]
        return cls(
            tuple(record for each in several for record in each.records),
            tuple(remark for each in several for remark in each.remarks),
        )

    @classmethod
    def found(
        cls, named: Sequence[str], places: Sequence[str], target: cl.Target
    ) -> TuningDatabase:
        """Return the named databases and those in `places` as one.

        Named databases are newer than those in `places`, of which the first is the newest.
        Databases in `places` may be missing, and a mistake in one is a remark; a mistake in a named
        one raises CloptError. `shipped` is the database that ships with clopt.
        """
        databases: list[TuningDatabase] = []
        for name in reversed(places):
            try:
                if name == SHIPPED:
                    databases.append(cls.shipped(target.name))
                elif Path(name).exists():
                    databases.append(cls.read(Path(name)))
            except CloptError as error:
                said = f"{str(error).removesuffix('.')}; this tuning database is ignored."
                databases.append(cls(remarks=(said,)))
        return cls.joined([*databases, *(cls.read(Path(name)) for name in named)])

    def of_kernels(self, kernels: Iterable[str], target: str) -> Sequence[Record]:
        """Return the records of kernels, by key, for targets of that name, in order."""
        numbers = (self._by_kernel.get((kernel, target), ()) for kernel in {*kernels})
        return [self.records[number] for number in sorted(chain.from_iterable(numbers))]

    @cached_property
    def _by_kernel(self) -> Mapping[tuple[str, str], list[int]]:
        """The positions of the records of each (kernel, target)."""
        found: dict[tuple[str, str], list[int]] = {}
        for number, record in enumerate(self.records):
            found.setdefault((record.kernel, record.target), []).append(number)
        return found

    @cached_property
    def targets(self) -> frozenset[str]:
        """The target names of all records."""
        return frozenset(record.target for record in self.records)

    @cached_property
    def targets_of_layouts(self) -> frozenset[str]:
        """The target names of records of layouts."""
        return frozenset(record.target for record in self.records if record.layouts)

    @cached_property
    def targets_of_forms(self) -> frozenset[str]:
        """The target names of records of forms."""
        return frozenset(record.target for record in self.records if record.form)

    def known(self, kernel: str, target: cl.Target, device: DeviceDriver) -> Mapping[str, Record]:
        """Return this device's newest record of each plan, a time or a fault, by the plan's text.

        These plans need no further trial. A time is valid for one compiler revision; a fault for
        all.
        """
        found = self.of_kernels([kernel], target.name)
        newest = latest(r for r in found if is_of(r, target) and _device(r) == device)
        return {
            plan: record
            for plan, record in newest.items()
            if record.fault or record.revision == compiler_revision()
        }

    def choice(
        self, kernel: str, target: cl.Target, device: DeviceDriver, default: str
    ) -> RankedPlans | None:
        """Return the plans that beat a kernel's default by more than the noise of both.

        None if no device has compared the default with other plans.
        """
        groups = _groups(self.of_kernels([kernel], target.name), target, device)
        refused = {
            record.plan
            for group in groups
            if group.device == device
            for record in group.latest.values()
            if record.fault
        }
        for group in groups:
            faster = group.faster_than(default, refused)
            if faster is not None:
                return RankedPlans(group, faster)
        return None


@dataclass(frozen=True)
class RecordGroup:
    """The newest record of each plan of one kernel, from one device and driver."""

    device: DeviceDriver
    has_facts: bool
    """Whether the facts that key a measurement equal the target's."""
    latest: dict[str, Record]

    def faster_than(self, default: str, refused: set[str]) -> list[Record] | None:
        """Return the plans that beat the default, fastest first, without refused ones.

        If this default has no record, compare with the plan that was the default when it was
        measured. Return None if there is neither, or nothing to compare.
        """
        of_the_time = (record for record in reversed(self.latest.values()) if record.default)
        known = (self.latest.get(text) for text in (default, without_parts(default)))
        reference = next((each for each in known if each), None) or next(of_the_time, None)
        if reference is None:
            return None
        timed = [
            record
            for record in self.latest.values()
            if record.microseconds is not None
            and record is not reference
            and record.plan not in refused
        ]
        if not timed:
            return None
        faster = [record for record in timed if record.most < reference.least]
        return sorted(faster, key=lambda record: (record.microseconds, record.plan))


@dataclass(frozen=True)
class RankedPlans:
    """The plans that a group ranks above a kernel's default."""

    group: RecordGroup
    faster: Sequence[Record]
    """Plans that are faster than the default, fastest first; empty if the default stays."""


def latest(records: Iterable[Record]) -> dict[str, Record]:
    """Return the newest record of each plan, layout, fusion or form, in order.

    The last record is the newest. A repeated record, for example from a copy of a database, keeps
    its first position: it must not override results that the database got later.
    """
    found: dict[str, Record] = {}
    for record in dict.fromkeys(records):
        found.pop(record.tried, None)
        found[record.tried] = record
    return found


def is_current(record: Record) -> bool:
    """Return whether the record's rule exists in this version.

    Records without a plan are always current.
    """
    return not record.plan or record.rules <= _versions()


@dataclass(frozen=True)
class RecordSource:
    """Records of one device and driver with the same facts and compiler; never empty."""

    device: DeviceDriver
    has_facts: bool
    """Whether the facts that key a measurement equal the target's."""
    records: Sequence[Record]


def sources(
    records: Iterable[Record], target: cl.Target, device: DeviceDriver
) -> list[RecordSource]:
    """Group records by device, driver, facts and compiler, nearest group first.

    Of equally near groups, the one with the newest record comes first.
    """
    sorts: dict[tuple[DeviceDriver, object, str], list[Record]] = {}
    for record in dict.fromkeys(records):
        key = _device(record), record.facts, record.revision
        sorts[key] = sorts.pop(key, [])
        sorts[key].append(record)
    found = [RecordSource(of, is_of(each[0], target), each) for (of, *_), each in sorts.items()]
    found.reverse()
    found.sort(
        key=lambda source: (
            source.device.name != device.name,
            not source.has_facts,
            source.device.driver != device.driver,
            source.records[0].revision != compiler_revision(),
        )
    )
    return found


def device_label(device: DeviceDriver, has_facts: bool) -> str:
    """Describe where records were measured."""
    facts = "" if has_facts else " for other facts of the target"
    words = f"on {printable(device.name)}, driver {printable(device.driver)},{facts}"
    return words.removesuffix(",")


def _groups(
    records: Iterable[Record], target: cl.Target, device: DeviceDriver
) -> list[RecordGroup]:
    """Return the records of current plans by device, driver and facts, nearest group first."""
    found = sources(filter(is_current, records), target, device)
    return [RecordGroup(each.device, each.has_facts, latest(each.records)) for each in found]


@cache
def _versions() -> frozenset[tuple[str, int]]:
    """Return the current version of each rule."""
    return frozenset((rule.name, rule.version) for rule in rules())


def _device(record: Record) -> DeviceDriver:
    return DeviceDriver(record.device, record.driver)


def _torn(name: str | Path, number: int) -> str:
    return f"{name}:{number}: skipped the truncated last line; its writer was interrupted."


@lru_cache(maxsize=8)
def _read(path: Path, status: tuple[int, int, int]) -> TuningDatabase:
    data = read_file(path)
    try:
        return TuningDatabase.of_text(data.decode(), str(path))
    except UnicodeDecodeError as error:
        whole = data.rfind(b"\n") + 1
        if error.start < whole:
            line = data.count(b"\n", 0, error.start) + 1
            raise CloptError(f"{path}:{line}: not UTF-8.") from error
        found = TuningDatabase.of_text(data[:whole].decode(), str(path))
        return TuningDatabase(found.records, (_torn(path, data.count(b"\n") + 1),))


@lru_cache(maxsize=8)
def _shipped(target: str) -> TuningDatabase:
    return TuningDatabase.of_text(shipped_text(target) or "", f"{SHIPPED} {target}.jsonl")
