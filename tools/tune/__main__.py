"""`clopt-tune`: its subcommands, each with options of its own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence

from ...errors import CloptError
from ..console import user_errors
from . import runner, worker

COMMANDS: Mapping[str, Callable[[Sequence[str]], None]] = {
    "worker": worker.main,
    "runner": runner.main,
}


def main(args: Sequence[str] | None = None) -> None:
    """Run `clopt-tune` with `args`, or with the arguments of the process."""
    words = sys.argv[1:] if args is None else args
    name = words[0] if words else ""
    with user_errors("clopt-tune"):
        if name not in COMMANDS:
            raise CloptError(f'"{name}" is no subcommand; there are: {", ".join(COMMANDS)}.')
        COMMANDS[name](words[1:])


if __name__ == "__main__":
    main()
