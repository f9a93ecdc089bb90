"""Cells of the tables of `clopt-tune`."""

from __future__ import annotations

from ...decisions.record import Record


def microseconds(record: Record | None) -> str:
    """Return the time of a plan, its fault, or nothing."""
    if record is None:
        return ""
    if record.microseconds is None:
        return record.fault
    return f"{record.microseconds:.4g}"
