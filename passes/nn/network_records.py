"""Tuning records of the parts of a network and of the whole network."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Self

from ...dialects import cl
from ..tir.tuning_database import (
    DeviceDriver,
    RecordSource,
    TuningDatabase,
    device_label,
    latest,
    sources,
)
from ..tir.tuning_record import Record


@dataclass(frozen=True)
class NetworkRecords:
    """The newest records of one device and driver, with the same facts."""

    source: RecordSource
    newest: Mapping[tuple[str, str], Record]
    """The records by computation and variant: their fields `kernel` and `tried`."""

    @classmethod
    def nearest(
        cls, database: TuningDatabase, keys: Iterable[str], target: cl.Target, device: DeviceDriver
    ) -> Self | None:
        """Return the records of these keys, without plans, from the device nearest to `device`."""
        found = [record for record in database.of_kernels(keys, target.name) if not record.plan]
        source = next(iter(sources(found, target, device)), None)
        if source is None:
            return None
        kernels: dict[str, list[Record]] = {}
        for record in source.records:
            kernels.setdefault(record.kernel, []).append(record)
        newest = {
            (record.kernel, record.tried): record
            for several in kernels.values()
            for record in latest(several).values()
        }
        return cls(source, newest)

    def is_refuted(self, network: str, usual: str, other: str) -> bool:
        """Return whether the whole network gained no more than the noise of both measurements."""
        before, after = (self.newest.get((network, way)) for way in (usual, other))
        if after is None or before is None or before.microseconds is None:
            return after is not None and bool(after.fault)
        return after.most >= before.least

    def remarks(self, choices: str, device: DeviceDriver) -> Sequence[str]:
        """Return a remark about the records' device, unless it is `device`."""
        if self.source.device == device and self.source.has_facts:
            return ()
        place = device_label(self.source.device, self.source.has_facts)
        return (
            f"the {choices} are the fastest measured {place}; run clopt-tune to measure on this "
            "device.",
        )


def digest(words: Iterable[str]) -> str:
    """Return a hash of a sequence of words."""
    return sha256("\n".join(words).encode()).hexdigest()[:16]
