"""Tuning databases: read them, and find the records of a site that suit a device.

Times are compared only within one device and driver. Those of the device at hand come first; other
devices are a starting point where it has none.

The order of the lines, not the time of day, tells which record is newer: clocks of machines differ
and can be set back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from pathlib import Path

from ..errors import CloptError
from ..files.reading import read_file
from ..machine.target import Target
from ..messages.printable import printable
from .record import Conditions, Kind, Record, RecordKey, read_record
from .revision import compiler_revision
from .tuned import shipped_text

SHIPPED = "shipped"
"""The name of the database that ships with clopt for a target."""


@dataclass(frozen=True)
class DeviceDriver:
    """The device and driver that run the kernels; empty if unknown."""

    name: str = ""
    driver: str = ""

    def measured(self, record: Record) -> bool:
        """Return whether the record is of this device and driver."""
        return (record.device, record.driver) == (self.name, self.driver)


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
    def found(cls, named: Sequence[str], places: Sequence[str], target: Target) -> TuningDatabase:
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

    def of(self, sites: Mapping[Kind, Iterable[str]], target: str) -> Sequence[Record]:
        """Return the records of sites, by kind, for targets of that name, in order."""
        numbers = (
            self._by_site.get((kind, site, target), ())
            for kind, each in sites.items()
            for site in {*each}
        )
        return [self.records[number] for number in sorted(chain.from_iterable(numbers))]

    @cached_property
    def _by_site(self) -> Mapping[tuple[Kind, str, str], list[int]]:
        """The positions of the records of each (kind, site, target)."""
        found: dict[tuple[Kind, str, str], list[int]] = {}
        for number, record in enumerate(self.records):
            found.setdefault((record.kind, record.site, record.target), []).append(number)
        return found

    def has(self, kind: Kind, target: str) -> bool:
        """Return whether there are records of a kind for targets of that name."""
        return (kind, target) in self._kinds

    @cached_property
    def _kinds(self) -> frozenset[tuple[Kind, str]]:
        return frozenset((kind, target) for kind, _, target in self._by_site)

    def tried(
        self, kind: Kind, site: str, target: Target, device: DeviceDriver
    ) -> Sequence[Record]:
        """Return this device's newest record of each choice at a site, by any compiler."""
        found = self.of({kind: [site]}, target.name)
        return latest(r for r in found if r.holds_for(target) and device.measured(r))


@dataclass(frozen=True)
class Tuning:
    """The tuning databases and the device that they apply to: options of passes that choose."""

    tuning: tuple[str, ...] = ()
    """Paths of tuning databases."""
    places: tuple[str, ...] = ()
    """Paths of further databases, or `shipped`: the database that clopt includes for the target."""
    device: str = ""
    """The name and platform of the device that runs the kernels, as written in records."""
    driver: str = ""
    """The version of the device's driver."""

    def database(self, target: Target) -> TuningDatabase:
        """Return all databases as one. Raise CloptError for a mistake in one of `tuning`."""
        return TuningDatabase.found(self.tuning, self.places, target)

    @property
    def place(self) -> DeviceDriver:
        """The device with its driver, as in records."""
        return DeviceDriver(self.device, self.driver)


def is_valid(record: Record) -> bool:
    """Return whether a choice needs no further trial on the record's device.

    A time is valid for one compiler revision; a fault for all.
    """
    return bool(record.fault) or record.revision == compiler_revision()


def latest(records: Iterable[Record]) -> Sequence[Record]:
    """Return the newest record of each choice at each site, in order.

    The last record is the newest. A repeated record, for example from a copy of a database, keeps
    its first position: it must not override results that the database got later.
    """
    found: dict[RecordKey, Record] = {}
    for record in dict.fromkeys(records):
        found.pop(record.key, None)
        found[record.key] = record
    return list(found.values())


@dataclass(frozen=True)
class RecordSource:
    """Records of one device and driver with the same facts and compiler; never empty."""

    device: DeviceDriver
    has_facts: bool
    """Whether the facts that key a measurement equal the target's."""
    records: Sequence[Record]


def sources(records: Iterable[Record], target: Target, device: DeviceDriver) -> list[RecordSource]:
    """Group records by device, driver, facts and compiler, nearest group first.

    Of equally near groups, the one with the newest record comes first.
    """
    sorts: dict[tuple[Conditions, str], list[Record]] = {}
    for record in dict.fromkeys(records):
        key = record.conditions, record.revision
        sorts[key] = sorts.pop(key, [])
        sorts[key].append(record)
    found = [
        RecordSource(DeviceDriver(of.device, of.driver), each[0].holds_for(target), each)
        for (of, _), each in sorts.items()
    ]
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
