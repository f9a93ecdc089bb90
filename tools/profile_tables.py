"""A profile as tables for the terminal, or as data for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from rich.console import Console
from rich.table import Table

from ..messages.printable import printable
from ..reports.profile import Profile, ProfileGroup, Roof
from .tables import table

TOP = 25
"""Rows of a table; the last stands for all others."""

_WIDEST = 60
_FIGURES = ("", "ms", "share", "Mmad", "MB", "Gmad/s", "GB/s", "roofline", "bound")


def print_profile(console: Console, profile: Profile) -> None:
    """Print the time by kernel and by ONNX node, and the total beside the target's roofline."""
    total = profile.total
    for heading, other, groups in (
        ("kernel", "nodes", profile.by_kernel),
        ("node", "kernels", profile.by_node),
    ):
        rows = _table(heading, other)
        for group in groups[:TOP]:
            names = ", ".join(map(printable, group.others))
            rows.add_row(printable(group.name), *_figures(group, total, profile.roof), names)
        if rest := groups[TOP:]:
            rows.add_row(f"{len(rest)} more", *_rest(rest, total), "")
        rows.add_section()
        rows.add_row("in all", *_figures(total, total, profile.roof), "")
        console.print(rows)
    roof = profile.roof
    console.print(
        f"{profile.runs} runs, medians; {1e-6 * profile.nanoseconds:.3f} ms from the first command "
        f"to the end of the last. The roofline is at {roof.mads_per_nanosecond:g} Gmad/s and "
        f"{roof.bytes_per_nanosecond:g} GB/s, facts of the target.",
        highlight=False,
    )


def profile_facts(profile: Profile) -> dict[str, object]:
    """Return the values of the tables, with all rows and without rounding."""
    return {
        "runs": profile.runs,
        "nanoseconds": profile.nanoseconds,
        "roofline": asdict(profile.roof),
        "kernels": [_facts(group, "nodes", profile.roof) for group in profile.by_kernel],
        "nodes": [_facts(group, "kernels", profile.roof) for group in profile.by_node],
    }


def _facts(group: ProfileGroup, others: str, roof: Roof) -> dict[str, object]:
    return {
        "name": group.name,
        others: group.others,
        "commands": group.commands,
        "nanoseconds": group.nanoseconds,
        "multiply_adds": group.work.multiply_adds,
        "bytes": group.work.bytes,
        "roofline_share": group.roofline,
        "bound": roof.bound(group.work),
    }


def _table(heading: str, other: str) -> Table:
    rows = table(heading, *_FIGURES, other)
    for column in rows.columns[1:-1]:
        column.justify = "right"
        column.no_wrap = True
    rows.columns[-1].max_width = _WIDEST
    rows.columns[-1].no_wrap = True
    rows.columns[-1].overflow = "ellipsis"
    return rows


def _rest(groups: Sequence[ProfileGroup], total: ProfileGroup) -> list[str]:
    nanoseconds = sum(group.nanoseconds for group in groups)
    count = sum(group.commands for group in groups)
    return [f"x{count}", *_times(nanoseconds, total), *[""] * 6]


def _figures(group: ProfileGroup, total: ProfileGroup, roof: Roof) -> list[str]:
    work, roofline, time = group.work, group.roofline, group.nanoseconds
    mads = work.multiply_adds
    return [
        f"x{group.commands}" if group.commands > 1 else "",
        *_times(time, total),
        "-" if mads is None else f"{1e-6 * mads:.3f}",
        f"{1e-6 * work.bytes:.3f}",
        "-" if mads is None or not time else f"{mads / time:.1f}",
        f"{work.bytes / time:.1f}" if time else "-",
        "-" if roofline is None else f"{roofline:.0%}",
        roof.bound(work) or "-",
    ]


def _times(nanoseconds: float, total: ProfileGroup) -> list[str]:
    share = nanoseconds / total.nanoseconds if total.nanoseconds else 0.0
    return [f"{1e-6 * nanoseconds:.3f}", f"{share:.1%}"]
