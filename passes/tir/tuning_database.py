"""Tuning databases: reading them, and the best plan that they know for a kernel on a device.

Records of layouts and of forms are in them, too: `passes/nn/layout/tuned_layouts.py` and
`passes/nn/tuned_forms.py` read those.

The times of one device by one driver are compared with each other only. Those of the device at
hand come first; others are a starting point, used where it has none.

The order of the lines says which record is newer, not the time of day: clocks of machines differ,
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
"""Names the database that clopt brings for a target, in place of a file."""


@dataclass(frozen=True)
class DeviceDriver:
    """Who runs the kernels; empty words where nobody knows."""

    name: str = ""
    driver: str = ""


@dataclass(frozen=True)
class TuningDatabase:
    """The records of some files."""

    records: tuple[Record, ...] = ()
    remarks: tuple[str, ...] = ()
    """Sentences about lines that were skipped."""

    @classmethod
    def read(cls, path: Path) -> TuningDatabase:
        """Read a file; CloptError for one that is none, naming the line of the first mistake.

        A last line that is torn, by a process that ended while it wrote, is skipped with a remark.
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
        """Return the database that clopt brings for a target, which may be empty."""
        return _shipped(target)

    @classmethod
    def of_text(cls, text: str, name: str) -> TuningDatabase:
        """Return the records of a text, which is called `name` in messages."""
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
        """Return the records of all databases as one; those of later ones are newer."""
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
        """Return the databases that are named, and those at places, as one.

        Records of named ones are newer than those at places, of which the first is the newest.
        CloptError for a mistake in one that is named. Those at places may be missing, and a mistake
        in one is a remark. `shipped` is the one that clopt brings.
        """
        databases: list[TuningDatabase] = []
        for name in reversed(places):
            try:
                if name == SHIPPED:
                    databases.append(cls.shipped(target.name))
                elif Path(name).exists():
                    databases.append(cls.read(Path(name)))
            except CloptError as error:
                said = f"{str(error).removesuffix('.')}; this tuning database is left out."
                databases.append(cls(remarks=(said,)))
        return cls.joined([*databases, *(cls.read(Path(name)) for name in named)])

    def of_kernels(self, kernels: Iterable[str], target: str) -> Sequence[Record]:
        """Return all records of kernels, by their keys, on targets of that name, in order."""
        numbers = (self._by_kernel.get((kernel, target), ()) for kernel in {*kernels})
        return [self.records[number] for number in sorted(chain.from_iterable(numbers))]

    @cached_property
    def _by_kernel(self) -> Mapping[tuple[str, str], list[int]]:
        """Numbers of the records of each kernel on each target."""
        found: dict[tuple[str, str], list[int]] = {}
        for number, record in enumerate(self.records):
            found.setdefault((record.kernel, record.target), []).append(number)
        return found

    @cached_property
    def targets(self) -> frozenset[str]:
        """The names of the targets of all records."""
        return frozenset(record.target for record in self.records)

    @cached_property
    def targets_of_layouts(self) -> frozenset[str]:
        """The names of the targets of records of layouts."""
        return frozenset(record.target for record in self.records if record.layouts)

    @cached_property
    def targets_of_forms(self) -> frozenset[str]:
        """The names of the targets of records of forms."""
        return frozenset(record.target for record in self.records if record.form)

    def known(self, kernel: str, target: cl.Target, device: DeviceDriver) -> Mapping[str, Record]:
        """Return this device's newest record of each plan, a time or a fault, by the plan's text.

        No plan in it needs another trial. A time counts only for the compiler that made the text; a
        fault stays one.
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
        """Return the plans that are faster than a kernel's default by more than the noise of both.

        None where no device has compared the default with other plans.
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
    """The newest records, by plan and in order, of one kernel from one device and driver."""

    device: DeviceDriver
    has_facts: bool
    """Whether the facts that count are those of the target."""
    latest: dict[str, Record]

    def faster_than(self, default: str, refused: set[str]) -> list[Record] | None:
        """Return plans that beat the default's record, the fastest first, without refused ones.

        Without a record of this default, it is that of the one of the time. None where there is
        neither, or nothing to compare it with.
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
    """What a group says of a kernel."""

    group: RecordGroup
    faster: Sequence[Record]
    """Plans that are faster than the default, the fastest first; none where the default stays."""


def latest(records: Iterable[Record]) -> dict[str, Record]:
    """Return the newest record of each plan of a kernel, or of its layouts or forms, in order.

    The last record is the newest. One that comes again, as from another copy of a database, keeps
    its first place: it must not count over what a database found later.
    """
    found: dict[str, Record] = {}
    for record in dict.fromkeys(records):
        found.pop(record.tried, None)
        found[record.tried] = record
    return found


def is_current(record: Record) -> bool:
    """Whether the plan is of a rule that there is, in its present version; all else always is."""
    return not record.plan or record.rules <= _versions()


@dataclass(frozen=True)
class RecordSource:
    """Records of one device, by one driver, with the same facts and compiler; not empty."""

    device: DeviceDriver
    has_facts: bool
    """Whether the facts that count are those of the target."""
    records: Sequence[Record]


def sources(
    records: Iterable[Record], target: cl.Target, device: DeviceDriver
) -> list[RecordSource]:
    """Group records by device, driver, facts and compiler, the nearest group first.

    Of equally near groups, the one with the last record comes first.
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


def whose(device: DeviceDriver, has_facts: bool) -> str:
    """Whose records these are, in words."""
    facts = "" if has_facts else " for other facts of the target"
    words = f"on {printable(device.name)}, driver {printable(device.driver)},{facts}"
    return words.removesuffix(",")


def _groups(
    records: Iterable[Record], target: cl.Target, device: DeviceDriver
) -> list[RecordGroup]:
    """Return the records of current plans by device, driver and facts, the nearest group first."""
    found = sources(filter(is_current, records), target, device)
    return [RecordGroup(each.device, each.has_facts, latest(each.records)) for each in found]


@cache
def _versions() -> frozenset[tuple[str, int]]:
    """Return the current version of each rule."""
    return frozenset((rule.name, rule.version) for rule in rules())


def _device(record: Record) -> DeviceDriver:
    return DeviceDriver(record.device, record.driver)


def _torn(name: str | Path, number: int) -> str:
    return f"{name}:{number}: the last line is skipped: it is torn, its writer was interrupted."


@lru_cache(maxsize=8)
def _read(path: Path, status: tuple[int, int, int]) -> TuningDatabase:
    data = read_file(path)
    try:
        return TuningDatabase.of_text(data.decode(), str(path))
    except UnicodeDecodeError as error:
        whole = data.rfind(b"\n") + 1
        if error.start < whole:
            line = data.count(b"\n", 0, error.start) + 1
            raise CloptError(f"{path}:{line}: this is no UTF-8.") from error
        found = TuningDatabase.of_text(data[:whole].decode(), str(path))
        return TuningDatabase(found.records, (_torn(path, data.count(b"\n") + 1),))


@lru_cache(maxsize=8)
def _shipped(target: str) -> TuningDatabase:
    return TuningDatabase.of_text(shipped_text(target) or "", f"{SHIPPED} {target}.jsonl")
