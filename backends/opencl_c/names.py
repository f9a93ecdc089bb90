"""Names for variables: their hint, made a C identifier that nothing in scope has yet."""

from __future__ import annotations

import re

from .builtins import RESERVED
from .functions import NAMES

_NOT_A_WORD = re.compile(r"\W", re.ASCII)
_TYPE = re.compile(
    r"(u?(char|short|int|long)|half|float|double)(2|3|4|8|16)?|(as|convert)_.*|v(load|store)\w*"
    r"|get_(global|local|group|num|work|image)_\w*"
)


def is_identifier(name: str) -> bool:
    """Whether OpenCL C accepts `name` for something of ours."""
    return (
        name.isidentifier()
        and name.isascii()
        # `__kernel` and the like; C leaves all names that begin so to compilers.
        and not name.startswith("__")
        and name not in RESERVED
        and name not in NAMES
        and not _TYPE.fullmatch(name)
    )


class Names:
    """The names of the blocks that are open."""

    def __init__(self) -> None:
        self._scopes: list[set[str]] = [set()]
        self._first: list[dict[str, int]] = [{}]
        """For a base, the first number that names in the block or around it may have left."""

    def open(self) -> None:
        """Enter a block."""
        self._scopes.append(set())
        self._first.append({})

    def close(self) -> None:
        """Leave a block: its names are free again."""
        self._scopes.pop()
        self._first.pop()

    def new(self, hint: str, *, numbered: bool = False) -> str:
        """A name that shadows nothing: the hint, or with a number."""
        base = re.sub("^__+", "_", _NOT_A_WORD.sub("_", hint)) or "t"
        # A number makes `float` a name of ours, but not `convert_x`: all that begin so are taken.
        if base[0].isdigit() or not (is_identifier(base) or is_identifier(f"{base}0")):
            base = "_" + base
        candidate = base
        if numbered or self._is_taken(base):
            joint = "_" if base[-1].isdigit() else ""
            number = next((first[base] for first in reversed(self._first) if base in first), 0)
            while self._is_taken(candidate := f"{base}{joint}{number}"):
                number += 1
            self._first[-1][base] = number + 1
        self._scopes[-1].add(candidate)
        return candidate

    def _is_taken(self, name: str) -> bool:
        return any(name in scope for scope in self._scopes) or not is_identifier(name)
