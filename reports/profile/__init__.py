"""The time of each command of a program on its device, compared with the roofline."""

from __future__ import annotations

from .count import Timed, profile_of
from .trace import trace_text
from .values import COPY, KERNEL, Profile, ProfileGroup, ProfileRow, Roof, TimeSpan
from .work import ProfileWork

__all__ = [
    "COPY",
    "KERNEL",
    "Profile",
    "ProfileGroup",
    "ProfileRow",
    "ProfileWork",
    "Roof",
    "TimeSpan",
    "Timed",
    "profile_of",
    "trace_text",
]
