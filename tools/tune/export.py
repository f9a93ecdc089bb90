"""`clopt-tune export`: write the best choices of a database as a file for `--choices`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from ...tuning import records
from ...tuning.summaries import export
from ..console import Options, about, make_parser, print_remarks, write_user_file

EXAMPLES = """\
clopt-tune export model.tuning.jsonl -o model.choices
clopt-tune export all.jsonl --device H200 -o model.choices
"""

OPTIONS: Options = [
    (("database",), {"type": Path, "help": "a tuning database"}),
    (("--device",), {"default": "", "metavar": "NAME", "help": "part of the device's name"}),
    (("--driver",), {"default": "", "metavar": "VERSION", "help": "part of the driver's version"}),
    (("-o", "--output"), {"metavar": "FILE", "help": "the file to write (default: stdout)"}),
]


def main(args: Sequence[str]) -> None:
    """Run the command."""
    options = make_parser("clopt-tune export", __doc__, EXAMPLES, OPTIONS).parse_args(args)
    found = records.read([options.database])
    print_remarks(found.remarks)
    with about(str(options.database)):
        text = export(found.records, options.device, options.driver)
    if options.output is None:
        sys.stdout.write(text)
    else:
        write_user_file(options.output, text)
