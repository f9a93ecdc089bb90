"""The time that each command of a program takes on its device, and how good that is."""

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
