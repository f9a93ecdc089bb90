"""`clopt-tune merge`: merge databases; each record occurs once, and later databases come last."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...tuning import records
from ..console import Options, make_parser, print_remarks
from ..json_output import VERSION, json_option, print_json
from ..tables import terminal

EXAMPLES = """\
clopt-tune merge phone.jsonl server.jsonl -o all.jsonl
"""

OPTIONS: Options = [
    (
        ("databases",),
        {
            "nargs": "+",
            "type": Path,
            "help": "tuning databases; of two records of the same plan, the later one counts",
        },
    ),
    (
        ("-o", "--output"),
        {
            "required": True,
            "type": Path,
            "metavar": "FILE",
            "help": "the database to write; may be one of them",
        },
    ),
    json_option("how many records there are"),
]


def main(args: Sequence[str]) -> None:
    """Run the command."""
    options = make_parser("clopt-tune merge", __doc__, EXAMPLES, OPTIONS).parse_args(args)
    found = records.read(options.databases)
    print_remarks(found.remarks)
    merged = records.merge(found.records)
    records.replace(options.output, merged)
    twice = len(found.records) - len(merged)
    if options.json:
        facts = {"output": str(options.output), "records": len(merged), "duplicates": twice}
        return print_json({"version": VERSION, **facts})
    terminal().print(f"{options.output}: {len(merged)} records, {twice} duplicate(s)")
