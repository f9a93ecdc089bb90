"""The first lines of a kernel: its comment, its name and its parameters."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from ...dialects import tir
from ...errors import CloptError
from .names import is_identifier

MAX_ARGUMENTS = 128
"""Most arguments of a kernel: OpenCL guarantees 1024 bytes of arguments, which hold 128 pointers.
"""
LINE_LENGTH = 100


def check_kernel(func: tir.FuncOp, arguments: int) -> str:
    """Return the name of a kernel; raise CloptError if OpenCL allows no such name or arguments."""
    name = func.sym_name.data
    if not is_identifier(name):
        raise CloptError(f'"{name}" cannot be the name of an OpenCL kernel: rename the function')
    if arguments > MAX_ARGUMENTS:
        raise CloptError(
            f"kernel {name} has {arguments} buffers and loop bounds, more than the "
            f"{MAX_ARGUMENTS} that OpenCL guarantees: fuse fewer operations"
        )
    return name


def comment_lines(func: tir.FuncOp) -> list[str]:
    """Return the lines of the comment above a kernel."""
    if func.comment is None:
        return []
    comment = " ".join(func.comment.data.split())
    return wrap(comment, LINE_LENGTH, initial_indent="// ", subsequent_indent="// ")


def parameter_list(start: str, parameters: Sequence[str]) -> list[str]:
    """Return the first lines of a function, up to the brace; `start` ends with its name."""
    line = f"{start}({', '.join(parameters)}) {{"
    if len(line) <= LINE_LENGTH:
        return [line]
    lines = [f"    {parameter}," for parameter in parameters[:-1]]
    return [f"{start}(", *lines, f"    {parameters[-1]}) {{"]
