"""`--json`: the result of a tool as JSON on stdout; all other output goes to stderr."""

from __future__ import annotations

import json
import math
from typing import Any, cast

from .console import Option


def json_option(what: str) -> Option:
    """Return the argparse row for a tool that prints `what` as JSON."""
    return ("--json",), {"action": "store_true", "help": f"print {what} as JSON, for programs"}


def without_infinities(value: Any) -> Any:
    """Return objects and lists with None for infinities and NaN, which JSON lacks."""
    match value:
        case dict():
            pairs = cast("dict[str, Any]", value).items()
            return {key: without_infinities(each) for key, each in pairs}
        case list():
            return [without_infinities(each) for each in cast("list[Any]", value)]
        case float() if not math.isfinite(value):
            return None
        case _:
            return value


VERSION = 1
"""The `version` of the documents that have one. Readers ignore fields that they do not know."""


def print_json(value: object) -> None:
    """Print a result as JSON that every parser accepts: text is escaped, and NaN is a bug."""
    print(json.dumps(value, indent=2, allow_nan=False))
