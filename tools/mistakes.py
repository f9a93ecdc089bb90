"""Mistakes on a command line: one sentence that suggests the intended option."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Callable
from functools import partial
from typing import NoReturn

from ..messages.sentences import did_you_mean

EXIT_USAGE = 2
"""The status of argparse, and of most tools, for a command line that cannot be read."""

_UNKNOWN = "unrecognized arguments: "


def suggest_options(parser: ArgumentParser) -> ArgumentParser:
    """Make `parser` report mistakes in one sentence, without its long usage."""
    refuse: Callable[[str], NoReturn] = partial(_refuse, parser)
    parser.error = refuse
    return parser


def _refuse(parser: ArgumentParser, message: str) -> NoReturn:
    manual = f"{parser.prog} --help shows the usage."
    words = message.removeprefix(_UNKNOWN).split() if message.startswith(_UNKNOWN) else []
    unknown = [word.partition("=")[0] for word in words if word.startswith("-")]
    if unknown:
        # argparse has no public list of the flags of a parser.
        flags: dict[str, object] = vars(parser)["_option_string_actions"]
        message = f"there is no option {unknown[0]}; {did_you_mean(unknown[0], flags, manual)}"
    elif words:
        message = f'"{words[0]}" is one argument too many; {manual}'
    else:
        message = f"{message}; {manual}"
    print(f"{parser.prog}: {message}", file=sys.stderr)
    sys.exit(EXIT_USAGE)
