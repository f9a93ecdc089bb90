"""Code of other packages in our tools: passes that fail, and global settings of xDSL's driver."""

from __future__ import annotations

import traceback
from collections.abc import Generator
from contextlib import contextmanager

from xdsl.ir import Attribute
from xdsl.passes import ModulePass
from xdsl.utils.diagnostic import Diagnostic

from ..errors import CloptError

_OURS = (__name__.partition(".")[0], "xdsl")


def is_ours(pass_: ModulePass) -> bool:
    """Return whether a pass belongs to clopt, or to xDSL, whose passes our pipelines run."""
    return type(pass_).__module__.partition(".")[0] in _OURS


def blame(pass_: ModulePass, error: Exception) -> CloptError:
    """Print the traceback of a foreign pass from its own code on; return the error for the user."""
    home = type(pass_).__module__
    frames = error.__traceback__
    # Frames of clopt and xDSL above the pass would hide the author's code.
    while frames is not None and frames.tb_frame.f_globals.get("__name__") != home:
        frames = frames.tb_next
    traceback.print_exception(type(error), error, frames or error.__traceback__)
    return CloptError(
        f"the pass {pass_.name} raised {type(error).__name__}; it belongs to {home}, not to clopt."
    )


@contextmanager
def xdsl_switches_restored() -> Generator[None]:
    """Restore the process-wide settings that xDSL's driver changes, e.g. for --disable-verify."""
    verify, colored = Attribute.__post_init__, Diagnostic.colored
    try:
        yield
    finally:
        Attribute.__post_init__, Diagnostic.colored = verify, colored
