"""Writing of tuning databases: new records, appending, merging, pruning."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import NamedTuple, Self

from ..decisions.database import TuningDatabase, is_valid, latest
from ..decisions.record import FORMAT, Conditions, Kind, Record, facts_that_count, read_record
from ..decisions.revision import compiler_revision
from ..dialects import tir
from ..errors import CloptError
from ..files.locks import lock_beside
from ..files.reading import NO_LINKS, check_regular
from ..files.writing import write_atomically
from ..machine.target import Target
from ..passes.tir.ranked_plans import is_current
from .trial import Measurement, Result, Task

_BEGIN = f'{{"format":{FORMAT}'.encode()
"""The start of each line that `append` writes."""


def make_record(
    key: tuple[Kind, str, str],
    target: Target,
    measured: Measurement,
    nodes: str,
    *,
    is_default: bool,
    launches: int = 1,
    when: datetime | None = None,
) -> Record:
    """Return the record of a choice at a site; the measurement ended `when`, or now."""
    kind, site, choice = key
    time = datetime.now(UTC) if when is None else when.astimezone(UTC)
    return Record(
        kind=kind,
        site=site,
        choice=choice,
        target=target.name,
        facts=facts_that_count(target),
        device=measured.device,
        driver=measured.driver,
        microseconds=None if measured.fault else measured.microseconds,
        noise=0.0 if measured.fault else measured.noise or 0.0,
        runs=measured.runs,
        seconds=round(measured.seconds, 3),
        fault="" if measured.fault is None else measured.fault.value,
        reason=measured.reason,
        nodes=nodes,
        launches=launches,
        default=is_default,
        when=f"{time:%Y-%m-%dT%H:%M:%SZ}",
        revision=compiler_revision(),
        text=measured.text,
    )


def record_of(
    task: Task, result: Result, *, is_default: bool = False, when: datetime | None = None
) -> Record:
    """Return the record of a trial that ended `when`, or now; `is_default` marks clopt's choice."""
    key = "plan", result.kernel, str(tir.PlanAttr(result.plan))
    return make_record(
        key,
        task.target,
        result,
        task.nodes,
        is_default=is_default,
        launches=task.launches,
        when=when,
    )


def check_path(path: Path) -> None:
    """Raise CloptError if no database can be written to a path; call it before long work."""
    with _writing(path):
        pass


def append(path: Path, records: Iterable[Record]) -> None:
    """Append records to a database, which is created if missing: all of them or none.

    Concurrent processes wait for each other. A line torn by an interrupted process is removed.
    Raises CloptError for a record that `read` would refuse, and if the file cannot be written.
    """
    lines = "".join(f"{_checked(record)}\n" for record in records).encode()
    with _writing(path), lock_beside(path):
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | NO_LINKS
        file = os.open(path, flags, 0o666)
        try:
            _end_last_line(file, path)
            _append(file, lines)
        finally:
            os.close(file)


def replace(path: Path, records: Iterable[Record]) -> None:
    """Replace the content of a database, completely or not at all."""
    lines = "".join(f"{_checked(record)}\n" for record in records)
    with _writing(path), lock_beside(path):
        write_atomically(path, lines.encode(), mode=0o666)


def read(paths: Iterable[Path]) -> TuningDatabase:
    """Return the records of all files; raise CloptError for a mistake in one."""
    return TuningDatabase.joined([TuningDatabase.read(path) for path in paths])


def merge(*several: Iterable[Record]) -> list[Record]:
    """Return all records in order, without duplicates, each at its first place.

    Records of later arguments are newer. A record that several databases share keeps its first
    place, so that later results of each database stay newer than it.
    """
    distinct: dict[str, Record] = {}
    for record in chain.from_iterable(several):
        distinct.setdefault(record.line, record)
    return list(distinct.values())


class Pruned(NamedTuple):
    """The records that can still affect a choice, in order, and the number of others by reason."""

    records: Sequence[Record]
    dropped: Mapping[str, int]


def prune(
    records: Iterable[Record], best: int | None = None, *, this_compiler: bool = False
) -> Pruned:
    """Drop records that cannot affect a choice any more.

    These are copies, records with a newer one of the same choice, conditions and compiler, and
    plans of rules that have changed. With `this_compiler`, also times by other revisions of the
    compiler. With `best`, all but the default and that many of the fastest plans per kernel and
    device. All other choices stay.
    """
    every = list(records)
    distinct = merge(every)
    reasons: dict[Record, str] = {}
    for group in by_compiler(distinct):
        newest = latest(group)
        reasons |= dict.fromkeys({*group} - {*newest}, "superseded")
        if this_compiler:
            reasons |= {each: "another compiler" for each in newest if not is_valid(each)}
        reasons |= {each: "rule changed" for each in newest if not is_current(each)}
        if best is not None and group[0].kind == "plan":
            left = [each for each in newest if each not in reasons]
            timed = [each for each in left if each.microseconds is not None]
            timed.sort(key=lambda record: (record.microseconds, record.choice))
            kept = {*timed[:best], *(each for each in timed if each.default)}
            reasons |= {each: "not among the best" for each in left if each not in kept}
    dropped = Counter(reasons.values())
    dropped["repeated"] = len(every) - len(distinct)
    return Pruned([each for each in distinct if each not in reasons], +dropped)


class Subject(NamedTuple):
    """A site on a device; times of its choices by one compiler are comparable."""

    conditions: Conditions
    kind: Kind
    site: str

    @classmethod
    def of(cls, record: Record) -> Self:
        """Return the subject of a record."""
        return cls(record.conditions, record.kind, record.site)


def by_compiler(records: Iterable[Record]) -> list[list[Record]]:
    """Group records by subject and compiler, in the order of last records."""
    groups: dict[tuple[Subject, str], list[Record]] = {}
    for record in records:
        key = Subject.of(record), record.revision
        groups[key] = groups.pop(key, [])
        groups[key].append(record)
    return list(groups.values())


def _checked(record: Record) -> str:
    """Return the line of a record; raise CloptError unless `read` accepts it."""
    line = record.line
    read_record(line, f"{record.kind} {record.site}")
    return line


def _end_last_line(file: int, path: Path) -> None:
    """Remove the text after the last line break, or end that line if it is a record.

    Raises CloptError, without changes, for text that is not the beginning of a record.
    """
    size = os.fstat(file).st_size
    end, tail = size, b""
    while end > 0 and b"\n" not in tail:
        start = max(0, end - 4096)
        os.lseek(file, start, os.SEEK_SET)
        tail, end = os.read(file, end - start) + tail, start
    torn = tail[tail.rfind(b"\n") + 1 :]
    if not torn:
        return
    try:
        read_record(torn.decode(), "the last line")
    except (CloptError, UnicodeDecodeError) as error:
        if torn[: len(_BEGIN)] != _BEGIN[: len(torn)]:
            raise CloptError(
                f"{path}: the last line is not a record, so clopt does not write to this file; "
                "name another tuning database."
            ) from error
        os.ftruncate(file, size - len(torn))
    else:
        _append(file, b"\n")


def _append(file: int, data: bytes) -> None:
    """Append data with one write as far as the system allows, or nothing if it fails."""
    size = os.fstat(file).st_size
    try:
        written = 0
        while written < len(data):
            written += os.write(file, data[written:])
        os.fsync(file)
    except OSError:
        os.ftruncate(file, size)
        raise


@contextmanager
def _writing(path: Path) -> Generator[None]:
    try:
        if path.is_symlink():
            raise CloptError(
                f"{path} is a link, but clopt writes tuning databases only to regular files; name "
                "the file that it points to."
            )
        if path.exists():
            check_regular(path)
        if not path.parent.is_dir():
            raise CloptError(
                f"{path}: cannot write this tuning database, because there is no folder "
                f"{path.parent}; create it."
            )
        yield
    except OSError as error:
        raise CloptError(f"{path}: cannot write this tuning database: {error.strerror}.") from error
