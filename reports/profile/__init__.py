"""The time that each command of a program takes on its device, and how good that is."""

from __future__ import annotations

from .count import Timed, profile_of
from .trace import trace_text
from .values import COPY, KERNEL, Group, Profile, Roof, Row, Span
from .work import Work

__all__ = [
    "COPY",
    "KERNEL",
    "Group",
    "Profile",
    "Roof",
    "Row",
    "Span",
    "Timed",
    "Work",
    "profile_of",
    "trace_text",
]
