"""The figures of a profile."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import median

from .work import ProfileWork

KERNEL, COPY = "kernel", "copy"
ARITHMETIC, MEMORY = "arithmetic", "memory"


@dataclass(frozen=True)
class TimeSpan:
    """When a command ran."""

    start: int
    """By the device's clock, in nanoseconds."""
    nanoseconds: int

    @property
    def end(self) -> int:
        """By the device's clock, in nanoseconds."""
        return self.start + self.nanoseconds


@dataclass(frozen=True)
class Roof:
    """The peak rates of the device, from the facts of the target."""

    mads_per_nanosecond: float
    """Float multiply-adds on all compute units."""
    bytes_per_nanosecond: float
    """Between global memory and the device. Caches may deliver more."""

    def nanoseconds(self, work: ProfileWork) -> float | None:
        """Return the minimum time for `work`, or None if unknown."""
        bounds = self._bounds(work)
        return max(bounds.values()) if bounds else None

    def bound(self, work: ProfileWork) -> str | None:
        """Return what limits `work`: `arithmetic` or `memory`. Return None if unknown."""
        bounds = self._bounds(work)
        return max(bounds, key=lambda name: bounds[name]) if bounds else None

    def _bounds(self, work: ProfileWork) -> dict[str, float]:
        """Return the least time by each limit; nothing if the work is unknown."""
        if work.multiply_adds is None:
            return {}
        return {
            ARITHMETIC: work.multiply_adds / self.mads_per_nanosecond,
            MEMORY: work.bytes / self.bytes_per_nanosecond,
        }


@dataclass(frozen=True)
class ProfileRow:
    """One command of an inference."""

    name: str
    """The kernel, `copy`, or a command of a graph, `toy.product @toy_0[3]`."""
    kind: str
    """`kernel`, `copy`, or the name of the accelerator that computes it."""
    node: str
    """The ONNX node whose result it computes; the kernel's name if the program has no node names.
    """
    fused: str
    """The nodes that a kernel computes where it was first created; launches of equal kernels share
    this text."""
    work: ProfileWork
    least: float | None
    """The minimum time in nanoseconds, by the device's roofline; None if unknown."""
    spans: tuple[TimeSpan, ...]
    """One span for each run."""

    @property
    def nanoseconds(self) -> float:
        """The median of all runs."""
        return median(span.nanoseconds for span in self.spans)


@dataclass(frozen=True)
class ProfileGroup:
    """Commands of the same kernel, or of the same node."""

    name: str
    others: tuple[str, ...]
    """The nodes of a kernel, the kernels of a node."""
    commands: int
    nanoseconds: float
    """The sum of the commands' medians."""
    work: ProfileWork
    least: float | None

    @property
    def roofline(self) -> float | None:
        """The minimum time as a share of the measured time; None if either is unknown."""
        return (
            self.least / self.nanoseconds if self.least is not None and self.nanoseconds else None
        )


@dataclass(frozen=True)
class Profile:
    """Times of the commands of several inferences on a device, compared with the roofline."""

    rows: tuple[ProfileRow, ...]
    """In the order of the queue."""
    roof: Roof
    runs: int

    @property
    def total(self) -> ProfileGroup:
        """All commands together."""
        return _group("total", "", self.rows)

    @property
    def nanoseconds(self) -> float:
        """From the start of the first command to the end of the last: the median of all runs."""
        runs = zip(*(row.spans for row in self.rows), strict=True)
        return median([max(s.end for s in run) - min(s.start for s in run) for run in runs] or [0])

    @property
    def by_kernel(self) -> list[ProfileGroup]:
        """The kernels, kinds of copies and commands of graphs, the slowest first."""
        return _groups(self.rows, lambda row: row.name, lambda row: row.fused or row.node)

    @property
    def by_node(self) -> list[ProfileGroup]:
        """The ONNX nodes, slowest first; fused nodes count with the last one."""
        return _groups(self.rows, lambda row: row.node, lambda row: row.name)


def _groups(
    rows: Iterable[ProfileRow],
    name: Callable[[ProfileRow], str],
    other: Callable[[ProfileRow], str],
) -> list[ProfileGroup]:
    members: defaultdict[str, list[ProfileRow]] = defaultdict(list)
    for row in rows:
        members[name(row)].append(row)
    groups = [_group(key, map(other, same), same) for key, same in members.items()]
    return sorted(groups, key=lambda group: -group.nanoseconds)


def _group(name: str, others: Iterable[str], rows: Iterable[ProfileRow]) -> ProfileGroup:
    rows = list(rows)
    counts = [row.work.multiply_adds for row in rows]
    least = [row.least for row in rows]
    known = [count for count in counts if count is not None]
    known_least = [time for time in least if time is not None]
    is_known = len(known) == len(rows)
    return ProfileGroup(
        name=name,
        others=tuple(dict.fromkeys(others)),
        commands=len(rows),
        nanoseconds=sum(row.nanoseconds for row in rows),
        work=ProfileWork(sum(known) if is_known else None, sum(row.work.bytes for row in rows)),
        least=sum(known_least) if is_known else None,
    )
