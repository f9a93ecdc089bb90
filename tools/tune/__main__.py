"""`clopt-tune`: find the best plans of kernels for a device, and keep them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module

from ...errors import CloptError
from ..console import Options, make_parser, user_errors

SEARCH = "search"
"""The subcommand that the path of a model stands for."""

COMMANDS: Mapping[str, str] = {
    SEARCH: "find the fastest plans of a model; a model's path alone does it, too",
    "worker": "try the plans that a search sends",
    "runner": "write what tries plans on boards without Python",
    "report": "draw a search: a page with each trial and what it gained",
    "show": "what a database knows of each kernel",
    "merge": "put databases together",
    "diff": "where two databases differ in the best plan or its time",
    "prune": "leave out what decides nothing any more",
    "export": "write the best plans as a file for --plans",
}
"""The subcommands and what they do. Each is a module of this folder with `main(args)`."""

EXAMPLES = """\
clopt-tune model.onnx --device pocl --time 10m
clopt-tune worker --scheduler tcp://host:8786 --device Adreno
clopt-tune report model.tuning.jsonl -o report.html
clopt-tune show model.tuning.jsonl
clopt-tune merge phone.jsonl server.jsonl -o all.jsonl
"""

OPTIONS: Options = [
    (
        ("subcommand",),
        {"help": "; ".join(f"{name}: {purpose}" for name, purpose in COMMANDS.items())},
    ),
]


def main(args: Sequence[str] | None = None) -> None:
    """Run `clopt-tune` with `args`, or with the arguments of the process."""
    words = list(sys.argv[1:] if args is None else args)
    with user_errors("clopt-tune"):
        if any(word.endswith(".onnx") for word in words) and words[0] not in COMMANDS:
            words.insert(0, SEARCH)
        if words and words[0] in COMMANDS:
            command: Callable[[Sequence[str]], None]
            command = import_module(f".{words[0]}", __package__).main
            return command(words[1:])
        options = make_parser("clopt-tune", __doc__, EXAMPLES, OPTIONS).parse_args(words)
        raise CloptError(
            f'"{options.subcommand}" is no subcommand; there are: {", ".join(COMMANDS)}.'
        )


if __name__ == "__main__":
    main()
