"""The errors of a quantised network as a table for the terminal."""

from __future__ import annotations

from rich.table import Table

from ..messages.printable import printable
from ..reports.quantization import QuantizationReport
from .tables import table


def quantization_table(report: QuantizationReport) -> Table:
    """Return a table with a row for each int8 value, in network order, then for each result."""
    rows = table("value", "scale", "saturated", "SQNR dB", "error", title="int8 beside float")
    for value in report.values:
        rows.add_row(
            printable(value.name),
            "" if value.scale is None else f"{value.scale:g}",
            "" if value.scale is None else f"{value.saturation:.4%}",
            f"{value.sqnr:.1f}",
            f"{value.relative_error:.2%}",
        )
    return rows
