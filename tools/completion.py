"""`--print-completion`: a script with which a shell completes the options of a tool."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from ..errors import CloptError

SHELLS = ("bash", "zsh")

_FILES = ("FILE", "PATH", "DIR")
"""The metavars of options that take a path."""


class PrintCompletion(argparse.Action):
    """Prints the completion script that shtab makes from the parser, and exits."""

    def __call__(
        self, parser: argparse.ArgumentParser, _: object, values: Any, __: object = None
    ) -> None:
        """Print the script for the shell `values`."""
        try:
            shtab = import_module("shtab")
        except ImportError as error:
            raise CloptError(
                "--print-completion needs shtab; install it with pip install 'clopt[completion]'."
            ) from error
        for action in _actions(parser):
            if _takes_path(action):
                vars(action)["complete"] = shtab.FILE
        script: str = shtab.complete(parser, values)
        # Complete file names if nothing else fits, for example the model after clopt-tune.
        print(script.replace("complete -o bashdefault", "complete -o bashdefault -o default"))
        parser.exit()


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yield the arguments of a parser and of its subcommands."""
    # argparse has no public list of them.
    actions: list[argparse.Action] = vars(parser)["_actions"]
    for action in actions:
        yield action
        if action.nargs == argparse.PARSER:
            commands: dict[str, argparse.ArgumentParser] = vars(action)["choices"]
            for command in commands.values():
                yield from _actions(command)


def _takes_path(action: argparse.Action) -> bool:
    is_path = action.metavar in _FILES if action.option_strings else True
    return is_path and action.choices is None
