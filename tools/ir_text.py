"""The text of a module for people to read, without the values of large constants."""

from __future__ import annotations

import re
from math import prod

from xdsl.dialects.builtin import ModuleOp

from ..dialects.cl.target_attr import abbreviated_target
from ..messages.source import ELIDED

# A constant with several values, in hexadecimal or as a list, and the shape in its type.
_CONSTANT = re.compile(r'dense<(?:\[[^>]*\]|"0x[0-9A-F]*")>( : \w+<((?:\d+x)*))')


def elide(text: str, larger_than: int) -> str:
    """Return IR text without the values of constants of more than `larger_than` elements."""
    # Works on the text, because operations may print their constants in any way.

    def shorten(constant: re.Match[str]) -> str:
        sizes = [int(size) for size in constant[2].split("x") if size]
        elided = prod(sizes) > larger_than
        return f"dense_resource<{ELIDED}>{constant[1]}" if elided else constant[0]

    return _CONSTANT.sub(shorten, text)


def module_text(module: ModuleOp, elide_larger_than: int | None) -> str:
    """Return the module as text, without constants of more than `elide_larger_than` elements."""
    with abbreviated_target(module):
        text = str(module)
    return (text if elide_larger_than is None else elide(text, elide_larger_than)) + "\n"
