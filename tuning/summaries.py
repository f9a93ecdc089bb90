"""Summaries of tuning databases: the best choices of sites, and differences of databases."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..decisions.choice_file import choices_text
from ..decisions.database import latest
from ..decisions.record import Record
from ..decisions.recorded import choice_in
from ..dialects import cl
from ..errors import CloptError
from ..passes.tir.ranked_plans import is_current
from .records import Subject, by_compiler, merge


@dataclass(frozen=True)
class Summary:
    """The records of a kernel on one device with one driver."""

    records: Sequence[Record]
    """The newest record of each plan, in order; not empty."""

    @property
    def any(self) -> Record:
        """A record, for the fields that all share."""
        return self.records[0]

    @property
    def faults(self) -> int:
        """The number of plans without a time."""
        return sum(record.microseconds is None for record in self.records)

    @property
    def default(self) -> Record | None:
        """The newest record of a plan that was clopt's default."""
        return next((record for record in reversed(self.records) if record.default), None)

    @property
    def best(self) -> Record | None:
        """The fastest plan; the default, unless another is faster by more than the noise."""
        timed = [record for record in self.records if record.microseconds is not None]
        default = self.default
        if default is not None:
            timed = [record for record in timed if record.most < default.least]
        best = min(timed, key=lambda record: (record.microseconds, record.choice), default=default)
        return None if best is None or best.microseconds is None else best


def summaries(records: Iterable[Record]) -> list[Summary]:
    """Return the summaries of a database by conditions, kind and site.

    Plans of changed rules are ignored. If several compilers timed a kernel, the last one counts.
    """
    found = _summaries(records)
    return [found[subject] for subject in sorted(found)]


@dataclass(frozen=True)
class Difference:
    """The best plans of two databases for a kernel on a device; one may be missing."""

    before: Record | None
    after: Record | None

    @property
    def any(self) -> Record:
        """One of the two, for the fields that they share."""
        found = self.before or self.after
        assert found
        return found

    @property
    def is_one(self) -> bool:
        """Whether both are the same plan and, within the noise, equally fast."""
        before, after = self.before, self.after
        if before is None or after is None:
            return False
        overlap = before.least <= after.most and after.least <= before.most
        return before.choice == after.choice and overlap


def differences(before: Iterable[Record], after: Iterable[Record]) -> list[Difference]:
    """Return the kernels on devices for which two databases differ in the best plan or its time.

    If a device has several drivers, the one with the last record counts in each database.
    """
    old, new = _best_by_site(before), _best_by_site(after)
    found = (Difference(old.get(key), new.get(key)) for key in sorted({*old, *new}))
    return [difference for difference in found if not difference.is_one]


def export(records: Iterable[Record], device: str = "", driver: str = "") -> str:
    """Return a file with the best choice of each site.

    `device` and `driver` are parts of the names to match. Raises CloptError if several devices
    match, or if none has a time.
    """
    chosen = [
        summary
        for summary in summaries(records)
        if device.lower() in summary.any.device.lower() and driver in summary.any.driver
    ]
    names = sorted({f"{each.any.device}, driver {each.any.driver}" for each in chosen})
    if len(names) > 1:
        raise CloptError(
            f"the database has records of {'; '.join(names)}. A file of choices must be for one of "
            "them: select it with --device and --driver."
        )
    choices = [_choice(best) for summary in chosen if (best := summary.best) is not None]
    if not choices:
        raise CloptError("the database has no times for such a device.")
    return choices_text(choices)


def _summaries(records: Iterable[Record]) -> dict[Subject, Summary]:
    """Return the summaries by their subjects, in the order of last records."""
    found: dict[Subject, Summary] = {}
    for group in by_compiler(filter(is_current, merge(records))):
        found.pop(Subject.of(group[0]), None)
        found[Subject.of(group[0])] = Summary(latest(group))
    return found


def _choice(record: Record) -> cl.ChoiceAttr:
    comment = f"{record.nodes}; {record.microseconds:g} us"
    return choice_in(record, comment.removeprefix("; "))


def _best_by_site(records: Iterable[Record]) -> dict[Subject, Record]:
    """Return the best records of the last driver of each device."""
    newest = {
        subject._replace(conditions=subject.conditions._replace(driver="")): summary
        for subject, summary in _summaries(records).items()
    }
    return {key: best for key, each in newest.items() if (best := each.best) is not None}
