"""Tuning records of the parts of a network and of the whole network."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Self

from ...decisions.database import (
    DeviceDriver,
    RecordSource,
    TuningDatabase,
    device_label,
    latest,
    sources,
)
from ...decisions.record import Kind, Record
from ...dialects import cl


@dataclass(frozen=True)
class NetworkRecords:
    """The newest records of one device and driver, with the same facts."""

    source: RecordSource
    newest: Mapping[tuple[str, str], Record]
    """The records by site and choice."""

    @classmethod
    def nearest(
        cls,
        database: TuningDatabase,
        kind: Kind,
        sites: Iterable[str],
        target: cl.Target,
        device: DeviceDriver,
    ) -> Self | None:
        """Return the records of these sites from the device nearest to `device`."""
        found = database.of({kind: sites}, target.name)
        source = next(iter(sources(found, target, device)), None)
        if source is None:
            return None
        newest = latest(source.records)
        return cls(source, {(record.site, record.choice): record for record in newest})

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
