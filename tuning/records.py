"""Tuning databases as a tuner and its tools treat them: appending, merging, pruning, comparing."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ..dialects import cl, tir
from ..errors import CloptError
from ..files.locks import lock_beside
from ..files.reading import NO_LINKS, check_regular
from ..files.writing import write_atomically
from ..passes.tir.plan_file import Entry, plan_context, plan_text, read_plan
from ..passes.tir.revision import compiler_revision
from ..passes.tir.tuned_joins import Pair
from ..passes.tir.tuning_database import TuningDatabase, is_current, latest
from ..passes.tir.tuning_record import (
    FORMAT,
    JOINED,
    SPELLING,
    Record,
    facts_that_count,
    read_record,
)
from .choices import Kind, Measured
from .instrument import Device
from .times import Times
from .trial import Result, Task

_BEGIN = f'{{"format": {FORMAT}'.encode()
"""The beginning of each line that `append` writes."""


WHOLE_NETWORK = "the whole network"
"""The nodes of a record that is of no single kernel."""


def record_of(
    task: Task, result: Result, *, is_default: bool = False, when: datetime | None = None
) -> Record:
    """The record of a trial that ended `when`, or now; `is_default` for clopt's own choice."""
    time = datetime.now(UTC) if when is None else when.astimezone(UTC)
    return Record(
        kernel=result.kernel,
        target=task.target.name,
        facts=facts_that_count(task.target),
        plan=str(tir.PlanAttr(result.plan)),
        device=result.device,
        driver=result.driver,
        microseconds=None if result.fault else result.microseconds,
        noise=0.0 if result.fault else result.noise or 0.0,
        runs=result.runs,
        seconds=round(result.seconds, 3),
        fault="" if result.fault is None else result.fault.value,
        reason=result.reason,
        nodes=task.nodes,
        launches=task.launches,
        default=is_default,
        when=_moment(time),
        revision=compiler_revision(),
    )


def record_of_choice(measured: Measured, target: cl.Target) -> Record:
    """The record of a kernel in layouts or in a form, now."""
    fault, any_, choice = measured.fault, measured.results[0], measured.choice
    kernel, tried = choice.key
    return Record(
        kernel=kernel,
        target=target.name,
        facts=facts_that_count(target),
        layouts=tried if choice.kind == "layouts" else "",
        form=tried if choice.kind == "form" else "",
        device=any_.device,
        driver=any_.driver,
        microseconds=None if fault else measured.microseconds(target),
        noise=0.0 if fault else measured.noise,
        runs=min(result.runs for result in measured.results),
        seconds=round(sum(result.seconds for result in measured.results), 3),
        fault="" if fault is None or fault.fault is None else fault.fault.value,
        reason="" if fault is None else fault.reason,
        nodes=choice.nodes,
        default=choice.is_default,
        when=_moment(datetime.now(UTC)),
        revision=compiler_revision(),
    )


def record_of_network(
    kind: Kind,
    key: tuple[str, str],
    times: Times,
    target: cl.Target,
    device: Device,
    *,
    is_default: bool,
) -> Record:
    """The record of a whole network in layouts or in forms, by their keys, now."""
    network, tried = key
    return Record(
        kernel=network,
        target=target.name,
        facts=facts_that_count(target),
        layouts=tried if kind == "layouts" else "",
        form=tried if kind == "form" else "",
        device=device.name,
        driver=device.driver,
        microseconds=times.median,
        noise=times.noise,
        runs=times.runs,
        nodes=WHOLE_NETWORK,
        default=is_default,
        when=_moment(datetime.now(UTC)),
        revision=compiler_revision(),
    )


def record_of_fusion(pair: Pair, fusion: str, times: Times, device: Device) -> Record:
    """The record of a pair of kernels in its network, joined or apart, now."""
    target = pair.problem.target
    return Record(
        kernel=pair.key,
        target=target.name,
        facts=facts_that_count(target),
        fusion=fusion,
        device=device.name,
        driver=device.driver,
        microseconds=times.median,
        noise=times.noise,
        runs=times.runs,
        nodes="" if pair.joined.comment is None else pair.joined.comment.data,
        default=pair.pays == (fusion == JOINED),
        when=_moment(datetime.now(UTC)),
        revision=compiler_revision(),
    )


def append(path: Path, records: Iterable[Record]) -> None:
    """Append records to a database, which is made if there is none; all of them or none.

    Processes that append at once wait for each other. What a process left that was interrupted
    while it wrote goes. Raises CloptError for a record that no reader would take, and where the
    file cannot be written.
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
    """Make records the content of a database, completely or not at all."""
    lines = "".join(f"{_checked(record)}\n" for record in records)
    with _writing(path), lock_beside(path):
        write_atomically(path, lines.encode(), mode=0o666)


def read(paths: Iterable[Path]) -> TuningDatabase:
    """The records of all files; CloptError for a mistake in one."""
    return TuningDatabase.joined([TuningDatabase.read(path) for path in paths])


def merge(*several: Iterable[Record]) -> list[Record]:
    """All records, each once, in an order that does not depend on the order of the arguments."""
    distinct = {record.line: record for records in several for record in records}
    return sorted(distinct.values(), key=_order)


def prune(records: Iterable[Record], best: int | None = None) -> list[Record]:
    """The records that can still decide something.

    Those go of which there is a newer one of the same plan, device, driver and facts, and those of
    rules that have changed. With `best`, for each kernel on a device only the default and so many
    of the fastest plans stay, and no faults. Layouts all stay: costs of slow ones are needed, too.
    So do fusions and forms.
    """
    kept: list[Record] = []
    for group in by_device(merge(records)):
        newest = [record for record in latest(group).values() if is_current(record)]
        if best is not None and newest and newest[0].plan:
            timed = [record for record in newest if record.microseconds is not None]
            ranks = sorted(timed, key=lambda record: (record.microseconds, record.plan))
            newest = [r for rank, r in enumerate(ranks) if rank < best or r.default]
        kept += newest
    return sorted(kept, key=_order)


def by_device(records: Iterable[Record]) -> list[list[Record]]:
    """Group records by kernel, device, driver, facts and compiler."""
    groups: dict[object, list[Record]] = {}
    for record in records:
        groups.setdefault((*_subject(record), record.revision), []).append(record)
    return list(groups.values())


@dataclass(frozen=True)
class Summary:
    """What is known of a kernel on a device by one driver."""

    records: Sequence[Record]
    """The newest of each plan; not empty."""

    @property
    def any(self) -> Record:
        """A record, for what all have in common."""
        return self.records[0]

    @property
    def faults(self) -> int:
        """Plans that have no time."""
        return sum(record.microseconds is None for record in self.records)

    @property
    def default(self) -> Record | None:
        """The newest record of a plan that clopt chose by itself."""
        found = [record for record in self.records if record.default]
        return max(found, key=lambda record: (record.when, record.line), default=None)

    @property
    def best(self) -> Record | None:
        """The fastest plan; the default, unless another is faster by more than the noise."""
        timed = [record for record in self.records if record.microseconds is not None]
        default = self.default
        if default is not None:
            timed = [record for record in timed if record.most < default.least]
        best = min(timed, key=lambda record: (record.microseconds, record.tried), default=default)
        return None if best is None or best.microseconds is None else best


def summaries(records: Iterable[Record]) -> list[Summary]:
    """Return the summaries of a database in the order of `merge`.

    Plans of changed rules do not count. If several compilers timed a kernel, the last one counts.
    """
    current = [record for record in merge(records) if is_current(record)]
    found: dict[object, Summary] = {}
    for group in by_device(current):
        summary = Summary(list(latest(group).values()))
        subject = _subject(summary.any)
        if subject not in found or _last(found[subject]) <= _last(summary):
            found[subject] = summary
    return list(found.values())


@dataclass(frozen=True)
class Difference:
    """The best plans of two databases for a kernel on a device; one may have none."""

    before: Record | None
    after: Record | None

    @property
    def any(self) -> Record:
        """One of both, for what they have in common."""
        found = self.before or self.after
        assert found
        return found

    @property
    def is_one(self) -> bool:
        """Whether they are the same plan and, by the noise of both, as fast."""
        before, after = self.before, self.after
        if before is None or after is None:
            return False
        overlap = before.least <= after.most and after.least <= before.most
        return before.tried == after.tried and overlap


def differences(before: Iterable[Record], after: Iterable[Record]) -> list[Difference]:
    """Where two databases have other best plans or times for a kernel on a device.

    Of several drivers of a device the newest counts in each.
    """
    old, new = _best_by_kernel(before), _best_by_kernel(after)
    found = (Difference(old.get(key), new.get(key)) for key in sorted({*old, *new}))
    return [difference for difference in found if not difference.is_one]


def export(records: Iterable[Record], device: str = "", driver: str = "") -> str:
    """A file of plans with the best plan of each kernel.

    `device` and `driver` are parts of the names of those that count. Raises CloptError where these
    are several devices, and where there is no plan.
    """
    chosen = [
        summary
        for summary in summaries(records)
        if summary.any.plan
        and device.lower() in summary.any.device.lower()
        and driver in summary.any.driver
    ]
    names = sorted({f"{each.any.device}, driver {each.any.driver}" for each in chosen})
    if len(names) > 1:
        raise CloptError(
            f"the database has records of {'; '.join(names)}. A file of plans is for one of them: "
            "name it with --device, and its driver with --driver."
        )
    entries = [_entry(best) for summary in chosen if (best := summary.best) is not None]
    if not entries:
        raise CloptError("the database has no time of a plan on such a device.")
    return plan_text(entries)


def _subject(record: Record) -> tuple[object, ...]:
    """Return what a record is about: a kernel on a device, by a driver, with some facts."""
    return record.kernel, record.target, record.facts, record.device, record.driver


def _moment(time: datetime) -> str:
    return f"{time:%Y-%m-%dT%H:%M:%SZ}"


def _entry(record: Record) -> Entry:
    plan = read_plan(plan_context(), record.plan, record.place)
    # A person reads the file, so it omits the habits of the driver's compiler.
    facts = {name: value for name, value in record.facts if name not in SPELLING}
    return Entry(record.kernel, record.target, facts, plan, record.microseconds, record.nodes)


def _best_by_kernel(records: Iterable[Record]) -> dict[tuple[str, ...], Record]:
    newest: dict[tuple[str, ...], Summary] = {}
    for summary in summaries(records):
        one = summary.any
        key = (one.target, one.kernel, one.device, str(one.facts))
        other = newest.get(key)
        if other is None or _last(other) <= _last(summary):
            newest[key] = summary
    return {key: best for key, each in newest.items() if (best := each.best) is not None}


def _last(summary: Summary) -> str:
    return max(record.when for record in summary.records)


def _order(record: Record) -> tuple[str, ...]:
    facts = str(record.facts)
    own = (record.target, record.kernel, record.device, record.driver, facts)
    return (*own, record.when, record.line)


def _checked(record: Record) -> str:
    """The line of a record, if it is one that `read` takes."""
    line = record.line
    read_record(line, f"kernel {record.kernel}")
    return line


def _end_last_line(file: int, path: Path) -> None:
    """Remove what stands behind the last end of a line, or end it where it is a record.

    Raises CloptError, and changes nothing, for text that is not the beginning of a record.
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
    """Append data with one write, as far as the system lets it; nothing where it fails."""
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
                f"{path} is a link, and clopt writes tuning databases only to files; name the "
                "file that it points to."
            )
        if path.exists():
            check_regular(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise CloptError(f"{path}: cannot write this tuning database: {error.strerror}.") from error
