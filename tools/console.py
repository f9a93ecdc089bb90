"""Shared parts of the command lines: errors, options, files."""

from __future__ import annotations

import logging
import os
import re
import sys
import warnings
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from textwrap import indent
from types import TracebackType
from typing import Any, TypeAlias

from ..errors import CloptError, CloptWarning
from ..files.writing import write_atomically
from ..garbage import collected_rarely, leave_to_the_system
from ..messages.open_dimensions import for_options
from ..version import VERSION
from .completion import SHELLS, PrintCompletion
from .logs import SetLevel, is_quiet, logs_on_stderr
from .mistakes import suggest_options

EXIT_USER_ERROR = 1

Option: TypeAlias = tuple[tuple[str, ...], dict[str, Any]]
"""A row for argparse: the flags and settings of one option."""

Options: TypeAlias = list[Option]

MODEL_OPTIONS: Options = [
    (
        ("--dim",),
        {
            "action": "append",
            "default": [],
            "metavar": "NAME=VALUE",
            "help": "bind a symbolic dimension of an ONNX model, or state its range, as in "
            "batch=1..64, perhaps with the usual size, 1..64..20; or state the length of a "
            "sequence, or 0 or 1 for an optional; repeat or separate with commas for several",
        },
    ),
    (
        ("--target",),
        {
            "dest": "device_target",
            "metavar": "TARGET",
            "help": "compile for this target, a name or the path of a .toml file, optionally with "
            "facts to replace: adreno-740 texture=prefer; facts alone modify the target of "
            "the device in use",
        },
    ),
]
"""Options of every tool that compiles a model."""

MEMORY_LIMIT: Option = (
    ("--memory-limit",),
    {
        "metavar": "SIZE",
        "help": "the memory limit for intermediate results, in bytes or as in 64MiB; clopt chooses "
        "the fastest plan within it",
    },
)
"""The option of the tools that plan memory."""
EXPLAIN: Option = (
    ("--explain",),
    {
        "action": "store_true",
        "help": "print what was chosen at each site, why, and the alternatives (stderr)",
    },
)
"""The option of the tools that run passes."""


def make_parser(tool: str, purpose: str | None, examples: str, *options: Options) -> ArgumentParser:
    """Return the parser of a command line, with examples below its `--help`."""
    sentence = (purpose or "").partition(": ")[2].strip()
    parser = ArgumentParser(
        tool,
        description=sentence[:1].upper() + sentence[1:],
        epilog=example_text(examples),
        formatter_class=RawDescriptionHelpFormatter,
    )
    add_options(parser, *options, common_options(tool))
    return suggest_options(parser)


def add_options(parser: ArgumentParser, *options: Options) -> None:
    """Add rows of options to a parser."""
    for flags, settings in chain(*options):
        parser.add_argument(*flags, **settings)


def example_text(examples: str) -> str:
    """Return the text at the end of a `--help`."""
    return f"examples:\n{indent(examples, '  ')}"


def common_options(tool: str) -> Options:
    """Return the rows of options that every tool has."""
    return [
        (
            ("-v", "--verbose"),
            {
                "action": SetLevel,
                "nargs": 0,
                "const": logging.DEBUG,
                "help": "log stages, passes, builds and caches with their times (stderr)",
            },
        ),
        (
            ("-q", "--quiet"),
            {
                "action": SetLevel,
                "nargs": 0,
                "const": logging.ERROR,
                "help": "print only errors: no remarks, no progress (stderr)",
            },
        ),
        (
            ("-V", "--version"),
            {
                "action": "version",
                "version": f"{tool} {VERSION}",
                "help": "print the version and exit",
            },
        ),
        (
            ("--print-completion",),
            {
                "action": PrintCompletion,
                "choices": SHELLS,
                "help": "print a script with which this shell completes options, and exit",
            },
        ),
    ]


_TARGET_OPTION = "--target"
_FACT = re.compile(r"[a-z_0-9]+=")


def gather_target(args: Sequence[str] | None) -> list[str]:
    """Return arguments, by default the process's, with `--target NAME FACT=VALUE ...` as two."""
    # argparse would treat the facts as files.
    gathered: list[str] = []
    in_target = False
    for word in sys.argv[1:] if args is None else args:
        if in_target and _FACT.match(word):
            gathered[-1] += f" {word}"
            continue
        in_target = word.startswith(f"{_TARGET_OPTION}=") or gathered[-1:] == [_TARGET_OPTION]
        gathered.append(word)
    return gathered


class user_errors:
    """Turn a user's mistake into one sentence on stderr and exit code 1, and warnings into remarks.

    Any other exception is a bug in clopt, unless the user or a closed pipe ended the tool. It keeps
    its traceback, and a last line asks for a report.
    """

    def __init__(self, tool: str) -> None:
        self.tool = tool
        self._logs = logs_on_stderr(tool)
        self._rarely = collected_rarely()

    def __enter__(self) -> None:
        leave_to_the_system()
        self._rarely.__enter__()
        self._logs.__enter__()
        self._show = warnings.showwarning
        warnings.showwarning = self._show_warning

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        warnings.showwarning = self._show
        self._logs.__exit__(None, None, None)
        self._rarely.__exit__(None, None, None)
        match error:
            case None | SystemExit():
                return
            case CloptError():
                print(f"{self.tool}: {full_text(error)}", file=sys.stderr)
                sys.exit(EXIT_USER_ERROR)
            case KeyboardInterrupt():
                sys.exit(130)
            case BrokenPipeError():
                # Python would report the closed pipe again when it flushes stdout at exit.
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                sys.exit(EXIT_USER_ERROR)
            case _:
                error.add_note(f"{self.tool}: this is a bug in clopt; please report it.")

    def _show_warning(self, message: Warning | str, category: type[Warning], *place: Any) -> None:
        if issubclass(category, CloptWarning):
            print_remarks([str(message)])
        else:
            self._show(message, category, *place)


def full_text(error: CloptError) -> str:
    """Return an error's sentence with its notes, such as the line of a file with a caret."""
    return "\n".join([for_options(error), *getattr(error, "__notes__", [])])


def print_remarks(remarks: Sequence[str]) -> None:
    """Print remarks, where the program differs from the request, on stderr, unless with -q."""
    for remark in () if is_quiet() else remarks:
        print(f"remark: {remark}", file=sys.stderr)


@contextmanager
def about(name: str) -> Generator[None]:
    """Add the file's name to errors of the body that do not have it yet."""
    try:
        yield
    except CloptError as error:
        if Path(name).name in str(error):
            raise
        raise CloptError(f"{name}: {for_options(error)}") from error


STDIN = "-"
"""The argument that stands for standard input in place of a file."""


def is_onnx(content: bytes) -> bool:
    """Return whether the content of stdin is an ONNX model rather than MLIR text."""
    # Every model starts with the tag of `ir_version`, a backspace, which text does not contain.
    return b"\x08" in content


def read_bytes(path: str | None) -> bytes:
    """Return the content of an input file, or of stdin if there is no path."""
    if path is None:
        return sys.stdin.buffer.read()
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise CloptError(f"{path}: cannot read this file: {error.strerror}.") from error


@contextmanager
def writing(path: str | Path) -> Generator[None]:
    """Turn an OSError of the body, which writes `path`, into a CloptError."""
    try:
        yield
    except OSError as error:
        raise CloptError(f"{path}: cannot write here: {error.strerror}.") from error


def write_user_file(path: str | Path, content: str | bytes) -> None:
    """Write a file that the user named, completely or not at all.

    Devices and pipes, such as /dev/null, are written to directly.
    """
    data = content.encode() if isinstance(content, str) else content
    target = Path(path)
    with writing(path):
        if target.exists() and not target.is_file() and not target.is_dir():
            target.write_bytes(data)
        else:
            write_atomically(target, data, mode=0o666)
