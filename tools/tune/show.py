"""`clopt-tune show`: list what databases know of each kernel on each device."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.table import Table

from ...messages.printable import printable
from ...tuning import records
from ...tuning.records import Summary
from ..console import Options, make_parser, print_remarks, table, terminal
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
            "help": "list all plans of this kernel; the beginning of its key will do",
        },
    ),
]


def main(args: Sequence[str]) -> None:
    """Run the command."""
    options = make_parser("clopt-tune show", __doc__, EXAMPLES, OPTIONS).parse_args(args)
    found = records.read(options.databases)
    print_remarks(found.remarks)
    known = records.summaries(found.records)
    if options.kernel is None:
        terminal().print(_kernels(known))
    else:
        terminal().print(_plans([k for k in known if k.any.kernel.startswith(options.kernel)]))


def _kernels(known: Sequence[Summary]) -> Table:
    rows = table(
        *("kernel", "nodes", "target", "device", "driver"),
        *(
            "plans",
            "faults",
            "default, us",
            "best, us",
            "gain",
            "rule or choice of the best",
        ),
    )
    for each in known:
        one, best, default = each.any, each.best, each.default
        gain = ""
        if best and default and best.microseconds and default.microseconds:
            gain = f"{default.microseconds / best.microseconds:.2f}"
        rows.add_row(
            *map(printable, (one.kernel, one.nodes, one.target, one.device, one.driver)),
            *map(str, (len(each.records), each.faults)),
            *(microseconds(default), microseconds(best), gain),
            "" if best is None else best.rule[0] if best.plan else best.tried,
        )
    return rows


def _plans(known: Sequence[Summary]) -> Table:
    rows = table("device", "driver", "us", "noise", "runs", "when", "plan, and why it has no time")
    for each in known:
        ranked = sorted(each.records, key=lambda record: (record.least, record.tried))
        for record in ranked:
            default = ", the default" if record.default else ""
            rows.add_row(
                *map(printable, (record.device, record.driver)),
                microseconds(record),
                f"{record.noise:.1%}" if record.microseconds else "",
                *(str(record.runs), printable(record.when)),
                printable(f"{record.tried}{default} {record.reason}".strip()),
            )
    return rows
