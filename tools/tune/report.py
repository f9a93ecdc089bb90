"""`clopt-tune report`: draw a search from its database, as a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...errors import CloptError
from ...tuning import records
from ...tuning.history import histories
from ...tuning.places import SUFFIX
from ..console import Options, make_parser, print_remarks, write_user_file
from ..json_output import VERSION, json_option, print_json
from ..report_file import check_report_path
from ..tables import terminal
from ..tune_report.page import page

EXAMPLES = """\
clopt-tune report model.tuning.jsonl -o report.html
clopt-tune report phone.jsonl server.jsonl -o report.html
"""

OPTIONS: Options = [
    (("databases",), {"nargs": "+", "type": Path, "help": "tuning databases"}),
    (
        ("-o", "--output"),
        {
            "required": True,
            "type": Path,
            "metavar": "FILE",
            "help": "the page to write, one .html file that needs no network",
        },
    ),
    json_option("how many trials it shows"),
]


def main(args: Sequence[str]) -> None:
    """Run the command."""
    options = make_parser("clopt-tune report", __doc__, EXAMPLES, OPTIONS).parse_args(args)
    check_report_path(options.output)
    found = records.read(options.databases)
    print_remarks(found.remarks)
    searches = histories(found.records)
    if not searches:
        names = ", ".join(map(str, options.databases))
        raise CloptError(f"{names}: no trials found; run clopt-tune model.onnx first.")
    title = ", ".join(path.name.removesuffix(SUFFIX) for path in options.databases)
    write_user_file(options.output, page(searches, title))
    trials = sum(len(each.steps) for each in searches)
    if options.json:
        facts = {"output": str(options.output), "searches": len(searches), "trials": trials}
        return print_json({"version": VERSION, **facts})
    terminal().print(f"{options.output}: {trials} trials")
