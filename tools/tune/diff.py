"""`clopt-tune diff`: list where two databases differ in the best plan of a kernel or its time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...messages.printable import printable
from ...tuning import records
from ...tuning.summaries import Difference, differences
from ..console import Options, make_parser, print_remarks
from ..json_output import VERSION, json_option, print_json
from ..tables import cut_text, table, terminal
from .cells import microseconds

EXAMPLES = """\
clopt-tune diff before.jsonl after.jsonl
"""

OPTIONS: Options = [
    (("before",), {"type": Path, "help": "a tuning database"}),
    (("after",), {"type": Path, "help": "the one to compare with it"}),
    json_option("the differences"),
]


def main(args: Sequence[str]) -> None:
    """Run the command."""
    options = make_parser("clopt-tune diff", __doc__, EXAMPLES, OPTIONS).parse_args(args)
    before, after = (records.read([path]) for path in (options.before, options.after))
    print_remarks([*before.remarks, *after.remarks])
    found = differences(before.records, after.records)
    if options.json:
        facts = [_facts(each) for each in found]
        return print_json({"version": VERSION, "differences": facts})
    if not found:
        terminal().print("no difference beyond the noise")
        return
    columns = ("kernel", "nodes", "target", "device", "before, us", "after, us", "ratio", "plan")
    rows = table(*columns, cut=("nodes", "target", "device"))
    for difference in found:
        one = difference.any
        rows.add_row(
            printable(one.site),
            *map(cut_text, (one.nodes, one.target, one.device)),
            microseconds(difference.before),
            microseconds(difference.after),
            *_change(difference),
        )
    terminal().print(rows)


_OF_KERNEL = ("target", "device", "driver", "kind", "site", "nodes")
_OF_PLAN = ("choice", "microseconds", "noise")


def _facts(difference: Difference) -> dict[str, object]:
    """Return a row for JSON, without rounding; None for a side without a plan."""
    sides = {"before": difference.before, "after": difference.after}
    return {
        **{name: getattr(difference.any, name) for name in _OF_KERNEL},
        **{
            side: record and {name: getattr(record, name) for name in _OF_PLAN}
            for side, record in sides.items()
        },
    }


def _change(difference: Difference) -> tuple[str, str]:
    """Return the ratio of the times, and how the plan has changed."""
    before, after = difference.before, difference.after
    if before is None or after is None:
        return "", "new" if before is None else "gone"
    assert before.microseconds
    assert after.microseconds
    plan = "same" if before.choice == after.choice else "another"
    return f"{after.microseconds / before.microseconds:.2f}", plan
