"""A memory report as a table for the terminal."""

from __future__ import annotations

from rich.table import Table

from ...reports.memory import MemoryReport
from ...reports.memory.summary import size_text, summary
from ..tables import table


def memory_table(report: MemoryReport) -> Table:
    """Return the summary of a report."""
    rows = table("memory", "", "")
    rows.columns[1].justify = "right"
    for line in summary(report):
        rows.add_row("  " * line.level + line.what, size_text(line.bytes), line.comment)
    return rows
