"""The error for mistakes that the user can fix, and the warning for what slows clopt down."""

from __future__ import annotations

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
