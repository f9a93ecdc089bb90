"""The figures of a memory report: table rows, the same on the terminal and on the page."""

from __future__ import annotations

from dataclasses import dataclass

from .values import MemoryReport


@dataclass(frozen=True)
class SummaryLine:
    """A size in a report; lines of level 1 are parts of the line of level 0 above them."""

    level: int
    what: str
    bytes: int
    comment: str = ""


def summary(report: MemoryReport) -> list[SummaryLine]:
    """Return the sizes in a report, each with a remark."""
    waste = report.waste
    lines = [
        SummaryLine(
            0,
            "arena" if len(report.arenas) < 2 else f"{len(report.arenas)} arenas",
            report.arena_bytes,
            f"{report.ratio:.3f} x the lower bound",
        ),
        SummaryLine(1, "lower bound", report.lower_bound, _busiest(report)),
        SummaryLine(
            1, "alignment", waste.alignment, "views start at multiples of what the device wants"
        ),
        SummaryLine(1, "fragmentation", waste.fragmentation, "gaps that nothing fitted in"),
    ]
    if waste.pitch:
        lines.append(
            SummaryLine(1, "pitch", waste.pitch, "ends of image rows, within the lower bound")
        )
    if report.separate:
        lines.append(
            SummaryLine(0, "outside of it", report.separate_bytes, f"{report.separate} objects")
        )
    lines += [
        SummaryLine(0, "weights", report.weights),
        *_graph_weights(report),
        SummaryLine(0, "inputs", report.inputs),
        SummaryLine(0, "outputs", report.outputs),
        SummaryLine(
            0, "all the device holds", report.total, "without the driver and the kernels' code"
        ),
    ]
    without = f"if each of the {len(report.rows)} intermediates had memory of its own"
    lines.append(SummaryLine(0, "without reuse", report.without_reuse, without))
    if report.without_views != report.arena_bytes + report.separate_bytes:
        objects = f"arena and {report.objects_without_views} objects where no image can lie in one"
        lines.append(SummaryLine(0, "without image views", report.without_views, objects))
    return lines


def size_text(size: int) -> str:
    """Return a size as text: `4.82 MB`, of 10^6 bytes; small sizes in kB or bytes."""
    for unit, name in ((1_000_000, "MB"), (1_000, "kB")):
        if size >= unit:
            return f"{size / unit:.2f} {name}"
    return f"{size} B"


def _graph_weights(report: MemoryReport) -> list[SummaryLine]:
    if not report.graph_weights:
        return []
    return [SummaryLine(1, "of graphs", report.graph_weights, "an estimate: the device packs them")]


def _busiest(report: MemoryReport) -> str:
    if report.busiest is None:
        return "no command"
    return f"reached at command {report.busiest}, {report.commands[report.busiest]}"
