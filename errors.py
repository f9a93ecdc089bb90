"""The error for mistakes that the user can fix, and the warning for what slows clopt down."""

from __future__ import annotations

import warnings

from .messages.printable import visible

LINE_BREAK = "\n  "
"""The separator between the mistakes of one report."""


class CloptError(Exception):
    """A mistake of the user's, in one sentence: the mistake, the rule and the remedy.

    The sentence names the ONNX node or `file:line:column`; a note may show the line. The command
    lines print both without a traceback and exit with status 1. Any other exception that escapes
    from clopt is a bug of clopt.

    A report of several mistakes has a line for each, all but the first indented by two spaces.
    Quoted names and texts appear with escapes for line breaks and invisible characters.
    """

    def __init__(self, sentence: str) -> None:
        super().__init__(LINE_BREAK.join(map(visible, sentence.split(LINE_BREAK))))


class UnavailableError(CloptError):
    """The device, or this machine, lacks something that a plan of the model needs.

    A model with a fallback runs that.
    """


class CloptWarning(UserWarning):
    """Something about the machine that costs time, not results. The command lines print it."""


_DECORATORS = ("contextlib", "functools")


def warn(sentence: str) -> None:
    """Warn at the line that called clopt, whichever module of clopt noticed."""
    from inspect import currentframe  # takes milliseconds to import

    package = __name__.rpartition(".")[0]
    frame, level, inside = currentframe(), 0, 0
    while frame is not None:
        level += 1
        name = str(frame.f_globals.get("__name__"))
        # Of our functions some are wrapped by decorators, whose frames lie around theirs.
        if name.startswith(f"{package}.") or (name in _DECORATORS and inside == level - 1):
            inside = level
        frame = frame.f_back
    warnings.warn(sentence, CloptWarning, stacklevel=inside + 1)
