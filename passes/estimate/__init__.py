"""Estimates the time of a scheduled kernel from its loops and the facts of its target.

`work_of` describes what a launch does, and `estimate` turns that into microseconds by one formula
for all kernels and devices. No rule has a part in it, so a new rule gets its estimates for nothing.
`benchmarks/estimates.py` compares them with the times that `clopt-tune` measured.
"""

from .describe import work_of
from .estimate import Estimate, estimate
from .work import LaunchWork

__all__ = ["Estimate", "LaunchWork", "estimate", "work_of"]
