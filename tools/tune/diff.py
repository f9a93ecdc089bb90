"""`clopt-tune diff`: list where two databases differ in the best plan of a kernel or its time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...messages.printable import printable
from ...tuning import records
from ...tuning.summaries import Difference, differences
from ..console import Options, make_parser, print_remarks
from ..tables import cut_text, table, terminal
from .cells import microseconds

EXAMPLES = """\
clopt-tune diff before.jsonl after.jsonl
"""

OPTIONS: Options = [
    (("before",), {"type": Path, "help": "a tuning database"}),
    (("after",), {"type": Path, "help": "the one to compare with it"}),
]


def main(args: Sequence[str]) -> None:
    """Run the command."""
    options = make_parser("clopt-tune diff", __doc__, EXAMPLES, OPTIONS).parse_args(args)
    before, after = (records.read([path]) for path in (options.before, options.after))
    print_remarks([*before.remarks, *after.remarks])
    found = differences(before.records, after.records)
    if not found:
        terminal().print("no difference beyond the noise")
        return
    columns = ("kernel", "nodes", "target", "device", "before, us", "after, us", "ratio", "plan")
    rows = table(*columns, cut=("nodes", "target", "device"))
    for difference in found:
        one = difference.any
        rows.add_row(
            printable(one.kernel),
            *map(cut_text, (one.nodes, one.target, one.device)),
            microseconds(difference.before),
            microseconds(difference.after),
            *_change(difference),
        )
    terminal().print(rows)


def _change(difference: Difference) -> tuple[str, str]:
    """Return the ratio of the times, and how the plan has changed."""
    before, after = difference.before, difference.after
    if before is None or after is None:
        return "", "new" if before is None else "gone"
    assert before.microseconds
    assert after.microseconds
    plan = "same" if before.tried == after.tried else "another"
    return f"{after.microseconds / before.microseconds:.2f}", plan
