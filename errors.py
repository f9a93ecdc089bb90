"""The error for mistakes that a user can fix, and the warning about lost speed."""

from __future__ import annotations

import warnings

from .messages.printable import visible

LINE_BREAK = "\n  "
"""The separator between the mistakes in one report."""


class CloptError(Exception):
    """A user's mistake in one sentence: what was expected, what was found, and the remedy.

    The sentence names the ONNX node or `file:line:column`; a note may show the source line. The
    command lines print both without a traceback and exit with status 1. Any other exception that
    leaves clopt is a bug in clopt.

    A report of several mistakes has one line for each; all but the first are indented by two
    spaces. Quoted names and texts have escapes for line breaks and invisible characters.
    """

    def __init__(self, sentence: str) -> None:
        super().__init__(LINE_BREAK.join(map(visible, sentence.split(LINE_BREAK))))


class UnavailableError(CloptError):
    """The device or this machine lacks something that a plan of the model needs.

    A model with a fallback runs the fallback instead.
    """


class CacheSizeError(CloptError):
    """A cache that an output extends in place has no room for the new elements."""


class CloptWarning(UserWarning):
    """A property of the machine or the model that costs time but does not change results.

    The command lines print it.
    """


_DECORATORS = ("contextlib", "functools")


def warn(sentence: str) -> None:
    """Warn at the line that called clopt, not at the line in clopt that detected the problem."""
    from inspect import currentframe  # takes milliseconds to import

    package = __name__.rpartition(".")[0]
    frame, level, inside = currentframe(), 0, 0
    while frame is not None:
        level += 1
        name = str(frame.f_globals.get("__name__"))
        # Decorators wrap some of our functions, so their frames come between ours.
        if name.startswith(f"{package}.") or (name in _DECORATORS and inside == level - 1):
            inside = level
        frame = frame.f_back
    warnings.warn(sentence, CloptWarning, stacklevel=inside + 1)
