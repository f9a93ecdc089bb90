"""`clopt-tune`: make a model faster on a device by trying other schedules of its kernels.

A plan determines a schedule. Times are stored in a database beside the model, from which clopt
reads the best plans.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path

from ...errors import CloptError
from ...formats import FORMATS, foreign_formats
from ...messages.sentences import did_you_mean
from ..console import Options, add_options, common_options, make_parser, user_errors
from .time_limit import process_start

SEARCH = "search"
"""The subcommand used if the first argument is the path of a model."""

COMMANDS: Mapping[str, str] = {
    SEARCH: "try plans of a model's kernels (the default for the path of a model)",
    "report": "draw a search: a page with each trial and the gain",
    "show": "list the records of each kernel in a database",
    "merge": "merge databases",
    "diff": "compare the best plans of two databases and their times",
    "prune": "remove records that are no longer needed from a database",
    "export": "write the best plans of a database as a file for --choices",
    "worker": "try the plans that a search on another machine sends",
    "runner": "write the C program that runs trials on boards without Python",
}
"""The subcommands and their purposes. Each is a module of this folder with `main(args)`."""

EXAMPLES = """\
clopt-tune model.onnx --device pocl --time 10m
clopt-tune worker --scheduler tcp://host:8786 --device Adreno
clopt-tune report model.tuning.jsonl -o report.html
clopt-tune show model.tuning.jsonl
clopt-tune merge phone.jsonl server.jsonl -o all.jsonl
"""

OPTIONS: Options = [
    (("model",), {"metavar": "MODEL", "help": "clopt-tune search --help shows its options"}),
]

_SUBCOMMANDS = "\n".join(f"  {name:8}{purpose}" for name, purpose in COMMANDS.items())
_USAGE = "%(prog)s MODEL [options]\n       %(prog)s SUBCOMMAND [options]"


def main(args: Sequence[str] | None = None) -> None:
    """Run `clopt-tune` with `args`, or with the arguments of the process."""
    since = process_start() if args is None else None
    words = list(sys.argv[1:] if args is None else args)
    with user_errors("clopt-tune"):
        if words and words[0] not in COMMANDS and _names_model(words):
            words.insert(0, SEARCH)
        if words and words[0] == SEARCH:
            _check_file(words[1:])
            from .search import main as search

            return search(words[1:], since)
        if words and words[0] in COMMANDS:
            command: Callable[[Sequence[str]], None]
            command = import_module(f".{words[0]}", __package__).main
            return command(words[1:])
        if words and words[0].startswith("--print-completion"):
            _parser_of_all().parse_args(words)
        parser = make_parser("clopt-tune", __doc__, EXAMPLES, OPTIONS)
        parser.usage = _USAGE
        parser.description = (
            f"{parser.description}\n\nsubcommands, each with --help:\n{_SUBCOMMANDS}"
        )
        if not words or words[0].startswith("-"):
            words = [parser.parse_args(words).model]
        hint = did_you_mean(words[0], COMMANDS, f"there are: {', '.join(COMMANDS)}.")
        known = " or ".join(f".{suffix}" for suffix in _suffixes())
        raise CloptError(f'"{words[0]}" is neither a subcommand nor an {known} file; {hint}')


def _parser_of_all() -> ArgumentParser:
    """Return a parser of all subcommands with their options, for completion."""
    parser = make_parser("clopt-tune", __doc__, EXAMPLES)
    commands = parser.add_subparsers()
    for name, purpose in COMMANDS.items():
        options: Options = import_module(f".{name}", __package__).OPTIONS
        add_options(commands.add_parser(name, help=purpose), options, common_options("clopt-tune"))
    return parser


def _names_model(words: Sequence[str]) -> bool:
    """Return whether the arguments name a model, perhaps after options."""
    is_model = [Path(word).suffix.removeprefix(".") in _suffixes() for word in words]
    return any(is_model) and (is_model[0] or words[0].startswith("-"))


def _check_file(words: Sequence[str]) -> None:
    """Raise CloptError if a model in the first place is absent, before slow imports."""
    if words and not words[0].startswith("-") and not Path(words[0]).exists():
        raise CloptError(f"Cannot read {words[0]}: No such file or directory.")


def _suffixes() -> list[str]:
    return [*FORMATS, *foreign_formats()]


if __name__ == "__main__":
    main()
