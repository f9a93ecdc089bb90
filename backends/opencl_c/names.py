"""Names of variables: their hint, made a C identifier that is unused in scope."""

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
    """Return whether OpenCL C accepts `name` as the name of a variable or kernel."""
    return (
        name.isidentifier()
        and name.isascii()
        # C reserves names that begin with two underscores, such as `__kernel`, for implementations.
        and not name.startswith("__")
        and name not in RESERVED
        and name not in NAMES
        and not _TYPE.fullmatch(name)
    )


class NameScopes:
    """The names that are visible in the open blocks."""

    def __init__(self) -> None:
        self._scopes: list[set[str]] = [set()]
        self._first: list[dict[str, int]] = [{}]
        """Per base name, the lowest number that may be unused in this block and the blocks around
        it."""

    def open(self) -> None:
        """Enter a block."""
        self._scopes.append(set())
        self._first.append({})

    def close(self) -> None:
        """Leave a block and release its names."""
        self._scopes.pop()
        self._first.pop()

    def new(self, hint: str, *, numbered: bool = False) -> str:
        """Return a name that shadows nothing: the hint, with a number if it is taken."""
        base = re.sub("^__+", "_", _NOT_A_WORD.sub("_", hint)) or "t"
        # A number makes `float` usable (`float0`), but not `convert_x`: every such name is
        # reserved.
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
