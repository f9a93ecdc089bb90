"""Whether pairs of kernels are joined, by tuning databases.

The decision compares the times of the best plans of all three kernels on one device. If a network
was measured both ways, that measurement decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256

from ...decisions.choice_file import read_plan
from ...decisions.database import (
    DeviceDriver,
    RecordSource,
    TuningDatabase,
    device_label,
    latest,
    sources,
)
from ...decisions.record import APART, JOINED, Kind, Record
from ...dialects import cl, tir
from .kernel_key import kernel_key
from .ranked_plans import is_current
from .rules.cpu.strips_model import StripsModel
from .rules.naive_kernel import NaiveKernel
from .rules.plans import space_of
from .schedule.errors import ScheduleError


@dataclass(frozen=True, eq=False)
class Pair:
    """Two kernels launched one after the other, and the kernel that would replace both."""

    first: tir.FuncOp
    second: tir.FuncOp
    joined: tir.FuncOp
    model: StripsModel

    @cached_property
    def ratio(self) -> float:
        """The cost of the joined kernel by the model, relative to both kernels."""
        return self.model.cost(self.model.best) / self.model.apart()

    @property
    def pays(self) -> bool:
        """Whether the model joins the pair."""
        return self.ratio < 1

    @cached_property
    def key(self) -> str:
        """A digest of the pair that keys its records."""
        return sha256(f"fusion {self._keys[0]}".encode()).hexdigest()[:16]

    @property
    def kernels(self) -> tuple[tir.FuncOp, tir.FuncOp, tir.FuncOp]:
        """The joined kernel, then the first and the second."""
        return self.joined, self.first, self.second

    @cached_property
    def _keys(self) -> tuple[str, ...]:
        return tuple(map(kernel_key, self.kernels))

    def records(self, database: TuningDatabase) -> list[Record]:
        """Return the current records of the pair and of its kernels."""
        sites: dict[Kind, Sequence[str]] = {"fusion": [self.key], "plan": self._keys}
        found = database.of(sites, self.model.target.name)
        return [record for record in found if is_current(record)]

    def is_joined(self, source: RecordSource) -> bool | None:
        """Return whether a device's records join the pair, or None if a time is missing."""
        fusions = (record for record in source.records if record.kind == "fusion")
        both = {record.choice: record for record in latest(fusions)}
        if JOINED in both and APART in both:
            usual, other = (JOINED, APART) if self.pays else (APART, JOINED)
            return self.pays != (both[other].most < both[usual].least)
        return self.is_faster(source)

    def is_faster(self, source: RecordSource) -> bool | None:
        """Return whether the joined kernel is faster; within noise, the model decides.

        None if a kernel has no time.
        """
        best = [
            self._best(kernel, key, source.records)
            for kernel, key in zip(self.kernels, self._keys, strict=True)
        ]
        joined, *parts = best
        times = [record for record in parts if record is not None]
        if joined is None or len(times) < 2:
            return None
        launch = self.model.target.machine.launch_microseconds
        if self.pays:
            return not launch + sum(record.most for record in times) < joined.least
        return joined.most < launch + sum(record.least for record in times)

    def _best(self, kernel: tir.FuncOp, key: str, records: Iterable[Record]) -> Record | None:
        """Return the record of the fastest plan that the kernel's rule still allows."""
        known = latest(record for record in records if record.site == key)
        timed = [record for record in known if record.microseconds is not None]
        for record in sorted(timed, key=lambda record: (record.microseconds, record.choice)):
            plan = read_plan(record.choice, record.place)
            try:
                space_of(NaiveKernel(kernel), plan, self.model.target)
            except ScheduleError:
                continue
            return record
        return None


@dataclass
class TunedJoins:
    """Joins pairs by tuning databases, and collects remarks."""

    named: Sequence[str]
    """Databases that the user named."""
    places: Sequence[str]
    """Databases that need not exist."""
    device: DeviceDriver
    target: cl.Target
    measured: set[Pair] = field(default_factory=set[Pair])
    """The pairs that times decide."""
    _from_others: Counter[str] = field(default_factory=Counter[str])
    """How many pairs follow times of other devices against the model, by device."""

    @cached_property
    def _database(self) -> TuningDatabase:
        return TuningDatabase.found(self.named, self.places, self.target)

    def is_joined(self, pair: Pair) -> bool:
        """Return whether to join a pair, by the nearest device with times, else by the model."""
        if not any(self._database.has(kind, self.target.name) for kind in ("plan", "fusion")):
            return pair.pays  # computing the keys is expensive
        known = self._without_refused(pair.records(self._database))
        for source in sources(known, self.target, self.device):
            found = pair.is_joined(source)
            if found is not None:
                self.measured.add(pair)
                if found != pair.pays:
                    self._note(source)
                return found
        return pair.pays

    def is_in_question(self, pair: Pair) -> bool:
        """Return whether this device's times contradict the model for a pair.

        Also true if they did before a measurement of the whole network decided.
        """
        known = self._without_refused(pair.records(self._database))
        return any(
            (not pair.pays) in (pair.is_faster(source), pair.is_joined(source))
            for source in sources(known, self.target, self.device)
            if source.device == self.device and source.has_facts
        )

    def _without_refused(self, records: Sequence[Record]) -> list[Record]:
        """Return the records without those of plans that failed on this device."""
        newest = latest(filter(self.device.measured, records))
        refused = {record.key for record in newest if record.fault}
        return [record for record in records if record.key not in refused]

    def _note(self, source: RecordSource) -> None:
        if source.device != self.device or not source.has_facts:
            self._from_others[device_label(source.device, source.has_facts)] += 1

    def remarks(self) -> list[str]:
        """Return remarks about pairs that follow other devices."""
        said: list[str] = []
        for where, count in sorted(self._from_others.items()):
            pairs = "1 pair of kernels is" if count == 1 else f"{count} pairs of kernels are"
            said.append(
                f"{pairs} joined or kept apart by times measured {where}; run clopt-tune to "
                "measure on this device."
            )
        return said
