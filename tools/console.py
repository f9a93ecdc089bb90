"""What the command lines share: how they fail, how they count progress, how they parse options."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, TypeAlias

from rich import box
from rich.console import Console
from rich.table import Table

from ..errors import CloptError

EXIT_USER_ERROR = 1

Options: TypeAlias = list[tuple[tuple[str, ...], dict[str, Any]]]
"""Rows of argparse: the flags and the settings of one option."""

MODEL_OPTIONS: Options = [
    (
        ("--dim",),
        {
            "action": "append",
            "default": [],
            "metavar": "NAME=VALUE",
            "help": "bind a symbolic dimension of an ONNX model; repeat for more",
        },
    ),
    (
        ("--target",),
        {
            "dest": "device_target",
            "metavar": "TARGET",
            "help": "compile for this device description; facts of it may follow: adreno-740 "
            "texture=prefer; facts alone change the description of the device in use",
        },
    ),
]
"""The options of every tool that compiles a model."""

PRECISION_OPTIONS: Options = [
    (
        ("--precision",),
        {
            "choices": ["f32", "f16-storage", "f16"],
            "default": "f32",
            "help": "inside of an f32 network: store halves and compute in float (f16-storage), or "
            "also multiply and add halves where the device can (f16)",
        },
    ),
]
"""What the pass `nn-mixed-precision` does in `clopt-run` and `clopt-compile`."""

EXPLAIN_OPTIONS: Options = [
    (
        ("--explain",),
        {
            "action": "store_true",
            "help": "print what CLML computes or why not, and the layout of each value, what it "
            "costs and why (stderr)",
        },
    ),
]
"""What the passes of CLML and of layouts print in `clopt-run` and `clopt-compile`."""


_TARGET_OPTION = "--target"
_FACT = re.compile(r"[a-z_0-9]+=")


def gather_target(args: Sequence[str] | None) -> list[str]:
    """The arguments, or those of the process, with `--target NAME FACT=VALUE ...` as two of them.

    argparse would take the facts for files.
    """
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
    """Turn a user's mistake into one sentence on stderr and exit code 1.

    Anything that is not a `CloptError` (or the terminal going away) is a bug of clopt: it keeps
    its traceback, and a last line asks for a report.
    """

    def __init__(self, tool: str) -> None:
        self.tool = tool

    def __enter__(self) -> None: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        match error:
            case None | SystemExit():
                return
            case CloptError():
                print(f"{self.tool}: {error}", file=sys.stderr)
                sys.exit(EXIT_USER_ERROR)
            case KeyboardInterrupt():
                sys.exit(130)
            case BrokenPipeError():
                # Python would complain once more when it flushes stdout at exit.
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                sys.exit(EXIT_USER_ERROR)
            case _:
                error.add_note(f"{self.tool}: this is a bug in clopt; please report it.")


def print_remarks(remarks: Sequence[str]) -> None:
    """What the compiler did otherwise than asked, on stderr."""
    for remark in remarks:
        print(f"remark: {remark}", file=sys.stderr)


def terminal(stderr: bool = False) -> Console:
    """A console for tables; wide enough for all columns where nobody watches a terminal."""
    console = Console(stderr=stderr)
    return console if console.is_terminal else Console(stderr=stderr, width=200)


@contextmanager
def progress(message: str) -> Generator[None]:
    """Show `message` with a spinner while the body runs; nothing when stderr is not a terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(message):
        yield


@contextmanager
def about(path: Path) -> Generator[None]:
    """Complaints in the body say which file they are about, where they do not say it already."""
    try:
        yield
    except CloptError as error:
        if path.name in str(error):
            raise
        raise CloptError(f"{path}: {error}") from error


def table(*columns: str, title: str | None = None) -> Table:
    """An empty table in the style of all our tools."""
    return Table(*columns, title=title, title_justify="left", box=box.SIMPLE)


def read_bytes(path: str | None) -> bytes:
    """The content of an input file, or of stdin when there is no path."""
    if path is None:
        return sys.stdin.buffer.read()
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise CloptError(f"{path}: cannot read this file: {error.strerror}.") from error


@contextmanager
def writing(path: str | Path) -> Generator[None]:
    """A file or folder that the body cannot write is a user's mistake."""
    try:
        yield
    except OSError as error:
        raise CloptError(f"{path}: cannot write here: {error.strerror}.") from error


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Write a file completely or not at all."""
    data = content.encode() if isinstance(content, str) else content
    target = Path(path)
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    with writing(path):
        try:
            partial.write_bytes(data)
            os.replace(partial, target)
        except OSError:
            partial.unlink(missing_ok=True)
            raise


def parse_dims(items: Sequence[str]) -> Mapping[str, int]:
    """`name=value` pairs of `--dim`, checked."""
    dims: dict[str, int] = {}
    for item in items:
        name, equals, value = item.partition("=")
        if not (name and equals and value.isdecimal() and int(value) > 0):
            raise CloptError(f"--dim {item}: write name=value with a positive whole number.")
        dims[name] = int(value)
    return dims
