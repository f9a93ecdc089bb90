"""The report of a compiled model: one page about its commands, choices, memory, time and code."""

from __future__ import annotations

from .page import page
from .reported_model import ReportedModel

__all__ = ["ReportedModel", "page"]
