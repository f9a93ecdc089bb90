"""`clopt-tune show`: list the records of each kernel on each device in databases."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from rich.table import Table

from ...messages.printable import printable
from ...tuning import records
from ...tuning.summaries import Summary, summaries
from ..console import Options, make_parser, print_remarks
from ..json_output import json_option, print_json
from ..tables import cut_text, table, terminal
from .cells import microseconds

EXAMPLES = """\
clopt-tune show model.tuning.jsonl
clopt-tune show model.tuning.jsonl --kernel a5872e
"""

OPTIONS: Options = [
    (("databases",), {"nargs": "+", "type": Path, "help": "tuning databases"}),
    (
        ("--kernel",),
        {
            "metavar": "KEY",
            "help": "list all plans of this kernel, given the beginning of its key",
        },
    ),
    json_option("all kernels with all plans"),
]


def main(args: Sequence[str]) -> None:
    """Run the command."""
    options = make_parser("clopt-tune show", __doc__, EXAMPLES, OPTIONS).parse_args(args)
    found = records.read(options.databases)
    print_remarks(found.remarks)
    known = summaries(found.records)
    if options.kernel is not None:
        known = [each for each in known if each.any.site.startswith(options.kernel)]
    if options.json:
        return print_json([_facts(each) for each in sorted(known, key=_device)])
    console = terminal()
    for device, of_device in groupby(sorted(known, key=_device), _device):
        rows = _kernels if options.kernel is None else _plans
        # On a separate line, because device names in each row would fill most of a terminal.
        target, name, driver = map(printable, device)
        console.print(f"target {target}, {name}, driver {driver}", highlight=False, soft_wrap=True)
        console.print(rows([*of_device]))


def _device(summary: Summary) -> tuple[str, str, str]:
    record = summary.any
    return record.target, record.device, record.driver


_OF_KERNEL = ("target", "device", "driver", "kind", "site", "nodes")
_OF_PLAN = ("choice", "default", "microseconds", "noise", "runs", "when", "fault", "reason")


def _facts(summary: Summary) -> dict[str, object]:
    """Return a kernel's rows of both tables for JSON, without rounding."""
    best, default = summary.best, summary.default
    return {
        **{name: getattr(summary.any, name) for name in _OF_KERNEL},
        "default_microseconds": default and default.microseconds,
        "best_microseconds": best and best.microseconds,
        "plans": [{name: getattr(each, name) for name in _OF_PLAN} for each in summary.records],
    }


def _kernels(known: Sequence[Summary]) -> Table:
    rows = table(
        *("kernel", "nodes", "plans", "faults", "default, us", "best, us", "gain", "best rule"),
        cut=("nodes", "best rule"),
    )
    for each in known:
        one, best, default = each.any, each.best, each.default
        gain = ""
        if best and default and best.microseconds and default.microseconds:
            gain = f"{default.microseconds / best.microseconds:.2f}"
        rows.add_row(
            printable(one.site),
            cut_text(one.nodes),
            *map(str, (len(each.records), each.faults)),
            *(microseconds(default), microseconds(best), gain),
            cut_text("" if best is None else best.rule or best.choice),
        )
    return rows


def _plans(known: Sequence[Summary]) -> Table:
    rows = table("us", "noise", "runs", "when", "plan, and why it has no time")
    for each in known:
        ranked = sorted(each.records, key=lambda record: (record.least, record.choice))
        for record in ranked:
            default = ", the default" if record.default else ""
            rows.add_row(
                microseconds(record),
                f"{record.noise:.1%}" if record.microseconds else "",
                *(str(record.runs), printable(record.when)),
                printable(f"{record.choice}{default} {record.reason}".strip()),
            )
    return rows
