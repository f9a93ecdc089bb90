"""`clopt-tune prune`: remove records that are no longer needed from a database."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...errors import CloptError
from ...tuning import records
from ..console import Options, make_parser, print_remarks
from ..json_output import VERSION, json_option, print_json
from ..tables import terminal

EXAMPLES = """\
clopt-tune prune model.tuning.jsonl
clopt-tune prune model.tuning.jsonl --this-compiler
clopt-tune prune all.jsonl --best 3 -o small.jsonl
"""

OPTIONS: Options = [
    (("database",), {"type": Path, "help": "a tuning database"}),
    (
        ("--best",),
        {
            "type": int,
            "metavar": "N",
            "help": "keep only the default and the N fastest plans per kernel and device, for "
            "publishing; a later search would try the others again",
        },
    ),
    (
        ("--this-compiler",),
        {
            "action": "store_true",
            "help": "also drop times by other revisions of the compiler, which a search takes over "
            "for kernels whose text is unchanged",
        },
    ),
    (
        ("-o", "--output"),
        {"type": Path, "metavar": "FILE", "help": "the database to write (default: the same)"},
    ),
    json_option("how many records are left, and how many were dropped for which reason"),
]


def main(args: Sequence[str]) -> None:
    """Run the command."""
    options = make_parser("clopt-tune prune", __doc__, EXAMPLES, OPTIONS).parse_args(args)
    if options.best is not None and options.best < 1:
        raise CloptError(f"--best {options.best}: must be 1 or more.")
    output: Path = options.output or options.database
    found = records.read([options.database])
    print_remarks(found.remarks)
    kept, dropped = records.prune(found.records, options.best, this_compiler=options.this_compiler)
    records.replace(output, kept)
    if options.json:
        facts = {"output": str(output), "records": len(kept), "before": len(found.records)}
        return print_json({"version": VERSION, **facts, "dropped": dropped})
    reasons = "".join(f", {count} {reason}" for reason, count in sorted(dropped.items()))
    terminal().print(f"{output}: {len(kept)} of {len(found.records)} records{reasons}")
