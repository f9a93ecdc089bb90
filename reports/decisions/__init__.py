"""The compiler's choices for one model: which command computes which nodes, in which layout."""

from __future__ import annotations

from .collector import Collector
from .values import Decisions, ReportedNode, ReportedRegion, ReportedTensor

__all__ = ["Collector", "Decisions", "ReportedNode", "ReportedRegion", "ReportedTensor"]
