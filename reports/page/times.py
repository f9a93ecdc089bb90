"""Times as text."""

from __future__ import annotations


def milliseconds(nanoseconds: float) -> str:
    """Return a time in ms, or in µs if it is short."""
    if nanoseconds >= 1e6:
        return f"{1e-6 * nanoseconds:.4g} ms"
    return f"{1e-3 * nanoseconds:.4g} µs"
