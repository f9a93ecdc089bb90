"""The one error that means: the user can fix this."""

from __future__ import annotations


class CloptError(Exception):
    """A mistake of the user's, told in one sentence: what, which rule, and what to do.

    The sentence names the ONNX node or `file:line`. The command lines print it without a
    traceback and exit with status 1; whatever else escapes from clopt is a bug of clopt.
    """
