"""`--json`: the result of a tool as JSON on stdout; all else that it prints goes to stderr."""

from __future__ import annotations

import json

from .console import Option


def json_option(what: str) -> Option:
    """The row of argparse of a tool that prints `what` as JSON."""
    return ("--json",), {"action": "store_true", "help": f"print {what} as JSON, for programs"}


def print_json(value: object) -> None:
    """Print a result as JSON that every reader takes: text is escaped, and NaN is a bug."""
    print(json.dumps(value, indent=2, allow_nan=False))
